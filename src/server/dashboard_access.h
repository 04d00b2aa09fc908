// SPDX-License-Identifier: Apache-2.0
//
// Who asks the dashboard, and what that one may: the rules that stand between a browser and the tree.
//
//   - ACLs hold. A page without credentials is world:anyone at its own ip; with an Authorization header
//     ("digest user:password", as for the commands) it is that user too.
//   - A Host that is a name nobody configured is turned away: a foreign page whose name was made to point at
//   this
//     address (DNS rebinding) would be of our own origin for the browser.
//   - What changes anything needs the switch admin.dashboard.edit, credentials, a header that no foreign form
//   can
//     send, and an Origin that is ours.
#pragma once

#include <expected>

#include "server/http_message.h"
#include "server/server_inside.h"
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

// Whether the browser may have meant us: an address, this machine's name, or a configured one.
bool is_our_host(std::string_view host_header, const AdminSettings& settings);

// `perms` of the node; the tree is being read.
inline bool may(const state::Machine& machine, const state::Node& node, std::int32_t perms,
                const Asker& asker) {
  return node.acl == state::kOpenAcl ||
         state::is_allowed(*machine.tree.acl(node), perms, asker.who, machine.options);
}

}  // namespace drover::server
