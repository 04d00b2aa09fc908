// SPDX-License-Identifier: Apache-2.0
//
// Who may change something over HTTP, by the header `Authorization: SCHEME AUTH`.
//
// Anybody can invent a digest user, so the header alone proves nothing. Commands read and replace what other
// users' ACLs protect: they are for the super user, and for identities that an entry of the root's ACL names.
// The dashboard changes nodes by their own ACLs, as a client would.
#pragma once

#include <string_view>

#include "http/message.h"
#include "runtime/server_inside.h"
#include "state/acl.h"

namespace drover::server {

struct HttpAuth {
  int status = 200;             // or 401, 403
  std::string_view error = {};  // begins with Java's sentence; empty: allowed
  bool allowed() const { return error.empty(); }
};

// May this request run a command that needs proof? The identity in its header must be the super user, or have
// every permission on `/` by entries that name it. Java counts what the world may do too. While anybody may
// change the ACL of `/`, its entries prove nothing, and only the super user counts.
// Takes the tree's lock for a moment, as the next one does.
HttpAuth may_command(const HttpRequest& request, const ServerInside& inside);

// May this request try to change a node, whose own ACL decides then? Its identities must have every
// permission on `/`, those of the world included.
HttpAuth may_edit(const HttpRequest& request, const ServerInside& inside);

// Who the request proves to be: its address, and whoever its Authorization names. None: the header is wrong.
std::optional<state::Identities> identities_of(const HttpRequest& request, const state::Options& options);

}  // namespace drover::server
