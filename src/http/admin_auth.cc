// SPDX-License-Identifier: Apache-2.0
#include "http/admin_auth.h"

#include "http/text.h"
#include "wire/records.h"

namespace drover::server {
namespace {

constexpr HttpAuth kMissing{.status = 401, .error = "Auth info is missing for the command"};
constexpr HttpAuth kUnknown{.status = 401, .error = "Not authenticated"};
constexpr HttpAuth kOpenRoot{
    .status = 403,
    .error =
        "Not authorized: every client may change the ACL of /, so only the super user may do this. Set "
        "DigestAuthenticationProvider.superDigest, or close / with setAcl to digest:USER:HASH:cdrwa and "
        "at most world:anyone:cdrw"};
constexpr HttpAuth kNotNamed{
    .status = 403,
    .error =
        "Not authorized: the ACL of / must give this identity cdrwa by name (world:anyone does not "
        "count), or it must be the super user"};
constexpr HttpAuth kNotAllowed{.status = 403, .error = "Not authorized"};

// state::is_allowed() checks for any of the permissions, so all of them are checked one by one.
constexpr std::int32_t kPermissions = 5;

bool has_all_permissions(const state::AclList& acl, const state::Identities& who,
                         const state::Options& options) {
  for (std::int32_t bit = 0; bit < kPermissions; ++bit) {
    if (!state::is_allowed(acl, 1 << bit, who, options)) return false;
  }
  return true;
}

std::optional<state::Identities> proven_by_password(std::string_view auth, const ServerInside& inside) {
  const std::size_t colon = auth.find(':');
  if (!inside.check_password || colon == auth.npos) return std::nullopt;
  const auto id = inside.check_password(auth.substr(0, colon), auth.substr(colon + 1));
  if (!id) return std::nullopt;
  return state::sasl_identities(*id, inside.machine.options);
}

// Only the identities in the header: the address of a browser does not prove the will of its user.
std::optional<state::Identities> proven_by_header(const HttpRequest& request, const ServerInside& inside) {
  const auto credentials = parse_authorization(request.header("Authorization"));
  if (!credentials) return std::nullopt;
  if (credentials->scheme == "sasl") return proven_by_password(credentials->auth, inside);
  const state::Options& options = inside.machine.options;
  auto proven = state::authenticate(credentials->scheme, credentials->auth, request.ip, options);
  if (!proven || proven->empty()) return std::nullopt;
  return proven;
}

const state::AclList& root_acl(const state::Machine& machine) {
  return *machine.tree.acl(machine.tree.at(machine.tree.root()));
}

}  // namespace

std::optional<state::Identities> identities_of(const HttpRequest& request, const ServerInside& inside) {
  state::Identities who{{"ip", request.ip}};
  if (request.header("Authorization").empty()) return who;
  const auto proven = proven_by_header(request, inside);
  if (!proven) return std::nullopt;
  who.insert(who.end(), proven->begin(), proven->end());
  return who;
}

HttpAuth may_command(const HttpRequest& request, const ServerInside& inside) {
  if (request.header("Authorization").empty()) return kMissing;
  const state::Options& options = inside.machine.options;
  const auto who = proven_by_header(request, inside);
  if (!who) return kUnknown;
  if (state::is_super(*who)) return {};
  TreeLock::Reading reading(inside.lock, TreeSlot::kHttp);
  const state::AclList& acl = root_acl(inside.machine);
  if (state::anybody_may_change(acl, options)) return kOpenRoot;
  const bool named_for_all =
      (state::permissions_by_name(acl, *who, options) & wire::kAll) == static_cast<std::int32_t>(wire::kAll);
  return named_for_all ? HttpAuth{} : kNotNamed;
}

HttpAuth may_edit(const HttpRequest& request, const ServerInside& inside) {
  if (request.header("Authorization").empty()) return kMissing;
  const state::Options& options = inside.machine.options;
  const auto who = identities_of(request, inside);
  if (!who) return kUnknown;
  TreeLock::Reading reading(inside.lock, TreeSlot::kHttp);
  return has_all_permissions(root_acl(inside.machine), *who, options) ? HttpAuth{} : kNotAllowed;
}

}  // namespace drover::server
