// SPDX-License-Identifier: Apache-2.0
//
// Who may change something over HTTP: whoever proves, by `Authorization: digest user:password`, to have every
// permission on the root, or to be the super user. As ZooKeeper 3.9 does for snapshot and restore.
#pragma once

#include <string_view>

#include "server/http_message.h"
#include "server/server_inside.h"
#include "state/acl.h"

namespace drover::server {

struct HttpAuth {
  int status = 200;             // or 401, 403
  std::string_view error = {};  // Java's sentence; empty: allowed
  bool allowed() const { return error.empty(); }
};

// Takes the tree's lock for a moment.
HttpAuth may_change(const HttpRequest& request, const ServerInside& inside);

// Who the request proves to be: its address, and whoever its Authorization names. None: the header is wrong.
std::optional<state::Identities> identities_of(const HttpRequest& request, const state::Options& options);

}  // namespace drover::server
