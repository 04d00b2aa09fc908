// SPDX-License-Identifier: Apache-2.0
//
// Finds locks, elections, queues and the like below a path, for the dashboard, recognises them
// (recipe_shapes.h), and adds the addresses of the holders and waiters.
//
// All recipes except queues consist of ephemeral nodes, and the tree has an index of those. So their
// directories are found without a search. For queues a limited part of the tree below the path is searched.
// The path itself is always included. Everything is limited, and the tree's lock is held for one directory,
// or a few hundred ephemeral nodes, at a time.
#pragma once

#include "dashboard/access.h"

namespace drover::server {

// ?path=
HttpResponse recipes_answer(const ServerInside& inside, const Asker& asker, const HttpRequest& request);

}  // namespace drover::server
