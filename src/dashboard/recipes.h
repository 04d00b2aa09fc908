// SPDX-License-Identifier: Apache-2.0
//
// Locks, elections, queues and the like below a path, for the dashboard: found, recognised (recipe_shapes.h),
// and with the addresses of those who hold and wait.
//
// All but queues are made of ephemeral nodes, and the tree has an index of those, so that their directories
// are found without a search. For queues a bounded part of the tree below the path is looked at. The path
// itself is always looked at. Everything is bounded, and the tree's lock is taken for one directory, or some
// hundred ephemeral nodes, at a time.
#pragma once

#include "dashboard/access.h"

namespace drover::server {

// ?path=
HttpResponse recipes_answer(const ServerInside& inside, const Asker& asker, const HttpRequest& request);

}  // namespace drover::server
