// SPDX-License-Identifier: Apache-2.0
//
// Sessions for the dashboard: all sessions in pages, and one session with its ephemeral nodes and watches.
//
// Every server knows all sessions. Only the server that a client is connected to knows its address and its
// watches. So there is less information about clients of other servers.
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

// True if the asker may list the children of the parent, so that the path reveals nothing new. The caller
// holds the tree's lock for reading.
bool may_see(const ServerInside& inside, const Asker& asker, std::string_view path);

}  // namespace drover::server
