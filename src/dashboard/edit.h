// SPDX-License-Identifier: Apache-2.0
//
// Changing a node from the dashboard: its data, or that it is there. Behind dashboard_access's
// refuse_change(), and always with the version that the page has seen.
#pragma once

#include "dashboard/access.h"

namespace drover::server {

// PUT {"path": "/a", "data": "base64", "version": 3}
HttpResponse set_node_answer(const ServerInside& inside, const Asker& asker, const HttpRequest& request);
// DELETE ?path=&version=
HttpResponse delete_node_answer(const ServerInside& inside, const Asker& asker, const HttpRequest& request);

}  // namespace drover::server
