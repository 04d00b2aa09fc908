// SPDX-License-Identifier: Apache-2.0
#include "server/admin_auth.h"

#include "server/http_text.h"
#include "wire/records.h"

namespace drover::server {
namespace {

// state::is_allowed() asks for any of the permissions; all of them are asked for one by one.
constexpr std::int32_t kPermissions = 5;

bool has_all_permissions(const state::AclList& acl, const state::Identities& who,
                         const state::Options& options) {
  for (std::int32_t bit = 0; bit < kPermissions; ++bit) {
    if (!state::is_allowed(acl, 1 << bit, who, options)) return false;
  }
  return true;
}

}  // namespace

std::optional<state::Identities> identities_of(const HttpRequest& request, const state::Options& options) {
  state::Identities who{{"ip", request.ip}};
  const std::string_view header = request.header("Authorization");
  if (header.empty()) return who;
  const auto credentials = parse_authorization(header);
  if (!credentials) return std::nullopt;
  const auto proven = state::authenticate(credentials->scheme, credentials->auth, request.ip, options);
  if (!proven || proven->empty()) return std::nullopt;
  who.insert(who.end(), proven->begin(), proven->end());
  return who;
}

HttpAuth may_change(const HttpRequest& request, const ServerInside& inside) {
  if (request.header("Authorization").empty())
    return {.status = 401, .error = "Auth info is missing for the command"};
  TreeLock::Reading reading(inside.lock, inside.slot);
  const state::Machine& machine = inside.machine;
  const auto who = identities_of(request, machine.options);
  if (!who) return {.status = 401, .error = "Not authenticated"};
  const state::AclListPtr& acl = machine.tree.acl(machine.tree.at(machine.tree.root()));
  if (!has_all_permissions(*acl, *who, machine.options)) return {.status = 403, .error = "Not authorized"};
  return {};
}

}  // namespace drover::server
