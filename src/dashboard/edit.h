// SPDX-License-Identifier: Apache-2.0
//
// Changes a node from the dashboard: sets its data, or deletes it. Always after refuse_change() of
// dashboard/access.h, and always with the version that the page has seen.
#pragma once

#include "dashboard/access.h"

namespace drover::server {

// PUT {"path": "/a", "data": "base64", "version": 3}
HttpResponse set_node_answer(const ServerInside& inside, const Asker& asker, const HttpRequest& request);
// DELETE ?path=&version=
HttpResponse delete_node_answer(const ServerInside& inside, const Asker& asker, const HttpRequest& request);

}  // namespace drover::server
