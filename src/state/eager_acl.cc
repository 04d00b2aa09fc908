// SPDX-License-Identifier: Apache-2.0
#include "state/eager_acl.h"

#include <optional>

#include "base/path.h"
#include "wire/requests.h"

namespace drover::state {
namespace {

using wire::OpCode;

// The requirements of a request: permissions on a node, and a valid ACL.
struct Need {
  std::string_view path;
  std::int32_t perms = 0;
  std::optional<std::string_view> acl{};  // that it sets
};

std::string_view parent_of(std::string_view path) {
  const std::string_view parent = parent_path(path);
  return parent.empty() ? kRootPath : parent;
}

// Nullopt: nothing can be said. Java leaves special paths to the leader, too.
std::optional<Need> parent_need(std::string_view path, std::int32_t perms) {
  if (!path.starts_with('/') || is_special_path(path)) return std::nullopt;
  return Need{.path = parent_of(path), .perms = perms};
}

std::optional<Need> need_of(OpCode op, std::string_view body) {
  wire::Reader r(body);
  switch (op) {
    case OpCode::kCreate:
    case OpCode::kCreate2: {
      const auto request = wire::decode_create(r, op);
      if (!request || !request->path) return std::nullopt;
      auto need = parent_need(*request->path, wire::kCreate);
      if (need) need->acl = request->acl;
      return need;
    }
    case OpCode::kDelete: {
      const auto request = wire::decode_delete(r);
      return request ? parent_need(request->path, wire::kDelete) : std::nullopt;
    }
    case OpCode::kSetData: {
      const auto request = wire::decode_set_data(r);
      if (!request) return std::nullopt;
      return Need{.path = request->path, .perms = wire::kWrite};
    }
    case OpCode::kSetAcl: {
      const auto request = wire::decode_set_acl(r);
      if (!request) return std::nullopt;
      return Need{.path = request->path, .perms = wire::kAdmin, .acl = request->acl};
    }
    default: return std::nullopt;
  }
}

}  // namespace

ErrorCode eager_refusal(const Machine& machine, OpCode op, std::string_view body, const Identities& who) {
  const auto need = need_of(op, body);
  if (!need) return ErrorCode::kOk;
  if (need->acl) {
    const auto resolved = resolve_acl(*need->acl, who, machine.options);
    if (!resolved && resolved.error() == ErrorCode::kInvalidAcl) return ErrorCode::kInvalidAcl;
  }
  const NodeRef ref = machine.tree.find(need->path);
  if (ref == kNoNode) return ErrorCode::kOk;
  const AclListPtr acl = machine.tree.acl(machine.tree.at(ref));
  return is_allowed(*acl, need->perms, who, machine.options) ? ErrorCode::kOk : ErrorCode::kNoAuth;
}

}  // namespace drover::state
