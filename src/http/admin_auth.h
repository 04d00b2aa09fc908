// SPDX-License-Identifier: Apache-2.0
//
// Authorization over HTTP, by the header `Authorization: SCHEME AUTH`.
//
// Anyone can invent a digest user, so the header alone proves nothing. Commands read and replace data that
// the ACLs of other users protect. So they are allowed only for the super user, and for identities that an
// entry of the root's ACL names. The dashboard changes nodes under the nodes' own ACLs, as a client does.
#pragma once

#include <string_view>

#include "http/message.h"
#include "runtime/server_inside.h"
#include "state/acl.h"

namespace drover::server {

struct HttpAuth {
  int status = 200;             // or 401 or 403
  std::string_view error = {};  // starts with Java's sentence; empty: allowed
  bool allowed() const { return error.empty(); }
};

// May this request run a command that needs authorization? The identity in its header must be the super user,
// or must have every permission on `/` by entries that name it. Java also counts the permissions of the
// world. While anyone may change the ACL of `/`, its entries prove nothing, and only the super user is
// allowed. Takes the tree's lock for a moment, as may_edit() does.
HttpAuth may_command(const HttpRequest& request, const ServerInside& inside);

// May this request try to change a node? The node's own ACL then decides. The request's identities must have
// every permission on `/`; here the permissions of the world count.
HttpAuth may_edit(const HttpRequest& request, const ServerInside& inside);

// The identities of a request: its address, and the identity in its Authorization header. None: the header is
// invalid. The scheme sasl takes USER:PASSWORD of the users who may log in with a password.
std::optional<state::Identities> identities_of(const HttpRequest& request, const ServerInside& inside);

}  // namespace drover::server
