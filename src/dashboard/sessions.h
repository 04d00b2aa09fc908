// SPDX-License-Identifier: Apache-2.0
//
// Sessions for the dashboard: all of them in pages, and one with its ephemeral nodes and watches.
//
// Which sessions there are, the whole ensemble knows. Where a client is connected and what it watches, only
// the server that it is connected to knows, so of other servers' clients there is less to tell.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "dashboard/access.h"

namespace drover::server {

// ?after=&limit=
HttpResponse sessions_answer(const ServerInside& inside, const HttpRequest& request);
// ?id=
HttpResponse session_answer(const ServerInside& inside, const Asker& asker, const HttpRequest& request);

// The clients of this server by session: "10.0.0.7:51234".
std::map<SessionId, std::string> remotes_by_session(const ServerInside& inside);

// Whether its parent's children may be listed, so that knowing the path tells nothing new. The tree is being
// read.
bool may_see(const ServerInside& inside, const Asker& asker, std::string_view path);

}  // namespace drover::server
