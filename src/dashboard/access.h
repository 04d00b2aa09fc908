// SPDX-License-Identifier: Apache-2.0
//
// Who asks the dashboard, and what that one may: the rules that stand between a browser and the tree.
//
//   - ACLs hold. A page without credentials is world:anyone at its own ip; with an Authorization header
//     ("digest user:password", as for the commands) it is that user too.
//   - A Host that is a name nobody configured has been turned away before (http/hosts.h).
//   - What changes anything needs the switch admin.dashboard.edit, credentials, a header that no foreign form
//     can send, and an Origin that is ours.
#pragma once

#include <expected>

#include "http/message.h"
#include "runtime/server_inside.h"
#include "state/acl.h"

namespace drover::server {

struct Asker {
  state::Identities who;
  std::string scheme{};  // of the credentials; empty: none were given
  std::string auth{};
};

// The asker, or the answer that turns it away.
std::expected<Asker, HttpResponse> asker_of(const HttpRequest& request, const ServerInside& inside);
// Nothing, or why whoever asks may not change the tree over HTTP; the ACL of the node is not looked at yet.
std::optional<HttpResponse> refuse_change(const HttpRequest& request, const ServerInside& inside);

// `perms` of the node; the tree is being read.
inline bool may(const state::Machine& machine, const state::Node& node, std::int32_t perms,
                const Asker& asker) {
  return node.acl == state::kOpenAcl ||
         state::is_allowed(*machine.tree.acl(node), perms, asker.who, machine.options);
}

}  // namespace drover::server
