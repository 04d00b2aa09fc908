// SPDX-License-Identifier: Apache-2.0
//
// The user of a dashboard request and its permissions: the rules between a browser and the tree.
//
//   - ACLs apply. A page without credentials is world:anyone at its own ip. With an Authorization header
//     ("digest user:password" or "sasl user:password", as for the commands) it is that user too.
//   - A request whose Host is not a configured name was rejected before (http/hosts.h).
//   - A change needs the switch admin.dashboard.edit, credentials, a header that no foreign form can send,
//     and our own Origin.
#pragma once

#include <expected>

#include "http/message.h"
#include "runtime/server_inside.h"
#include "state/acl.h"

namespace drover::server {

struct Asker {
  state::Identities who;
  std::string scheme{};  // of the credentials; empty: no credentials
  std::string auth{};
};

// The asker, or the response that rejects it.
std::expected<Asker, HttpResponse> asker_of(const HttpRequest& request, const ServerInside& inside);
// A response if the request may not change the tree over HTTP. Does not check the ACL of the node yet.
std::optional<HttpResponse> refuse_change(const HttpRequest& request, const ServerInside& inside);

// Does the asker have `perms` on the node? The caller holds the tree's lock for reading.
inline bool may(const state::Machine& machine, const state::Node& node, std::int32_t perms,
                const Asker& asker) {
  return node.acl == state::kOpenAcl ||
         state::is_allowed(*machine.tree.acl(node), perms, asker.who, machine.options);
}

}  // namespace drover::server
