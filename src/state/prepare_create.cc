// SPDX-License-Identifier: Apache-2.0
//
// create, create2, createContainer and createTTL.
#include "base/path.h"
#include "state/digest.h"
#include "state/preparation.h"

namespace drover::state {
namespace {

// Same as Java's %010d: the sign counts as one of the ten places.
std::string sequence_suffix(std::int32_t counter) {
  const bool negative = counter < 0;
  const std::uint32_t magnitude =
      negative ? 0u - static_cast<std::uint32_t>(counter) : static_cast<std::uint32_t>(counter);
  std::string digits = std::to_string(magnitude);
  const std::size_t width = negative ? 9 : 10;
  if (digits.size() < width) digits.insert(0, width - digits.size(), '0');
  return negative ? "-" + digits : digits;
}

// The op code decides the node's kind before the flags do, as in Java: a container created with an ephemeral
// mode is a container.
bool is_session_bound(OpCode op, std::int32_t flags) {
  return wire::is_ephemeral(flags) && (op == OpCode::kCreate || op == OpCode::kCreate2);
}

}  // namespace

CodeResult<void> Preparation::validate_create(OpCode op, const wire::CreateRequest& create) const {
  if (!wire::is_create_flag(create.flags)) return std::unexpected(ErrorCode::kBadArguments);
  if (wire::is_ttl(create.flags)) {
    if (!m_.options.extended_types) return std::unexpected(ErrorCode::kUnimplemented);
    if (create.ttl_ms <= 0 || create.ttl_ms > kTtlMax) return std::unexpected(ErrorCode::kBadArguments);
  } else if (create.ttl_ms >= 0 || op == OpCode::kCreateTtl) {
    return std::unexpected(ErrorCode::kBadArguments);
  }
  TRY(wire::is_ephemeral(create.flags) ? may_own_ephemerals() : session_alive());
  if (!create.path) return std::unexpected(ErrorCode::kMarshallingError);
  const bool has_slash = create.path->find('/') != std::string_view::npos;
  const bool has_nul = create.path->find('\0') != std::string_view::npos;
  if (!has_slash || has_nul) return std::unexpected(ErrorCode::kBadArguments);
  return {};
}

NodeFacts Preparation::new_node(OpCode op, const wire::CreateRequest& create, std::string_view path,
                                std::string_view acl) const {
  NodeFacts node;
  node.content_crc = content_crc(path, create.data);
  node.data_bytes = static_cast<std::int64_t>(create.data ? create.data->size() : 0);
  if (acl != wire::open_acl_bytes()) node.acl = parse_acl_list(acl);
  node.stat.czxid = node.stat.mzxid = node.stat.pzxid = zxid_;
  node.stat.ctime = node.stat.mtime = now_.ms;
  if (op == OpCode::kCreateContainer) {
    node.stat.ephemeral_owner = kContainerOwner;
  } else if (op == OpCode::kCreateTtl) {
    node.stat.ephemeral_owner = owner_of_ttl(create.ttl_ms);
  } else if (is_session_bound(op, create.flags)) {
    node.stat.ephemeral_owner = raw(request_.session);
  }
  return node;
}

CodeResult<void> Preparation::create(OpCode op, const wire::CreateRequest& create, std::string& out) {
  TRY(validate_create(op, create));
  TRY_ASSIGN(const std::string acl, resolve_acl(create.acl, *request_.who, m_.options));
  const std::string_view parent_of = parent_path(*create.path);
  TRY_ASSIGN(NodeFacts parent, existing(parent_of));
  TRY(allowed(parent, wire::kCreate));

  std::string sequenced;
  std::string_view path = *create.path;
  if (wire::is_sequential(create.flags)) {
    sequenced.append(path).append(sequence_suffix(parent.stat.cversion));
    path = sequenced;
  }
  TRY(valid_path(path));
  if (pending_.find(path)) return std::unexpected(ErrorCode::kNodeExists);
  if (kind_of(parent.stat.ephemeral_owner, m_.options) == NodeKind::kEphemeral) {
    return std::unexpected(ErrorCode::kNoChildrenForEphemerals);
  }
  const auto data_bytes = static_cast<std::int64_t>(create.data ? create.data->size() : 0);
  TRY(quota_allows(path, {.bytes = data_bytes, .nodes = 1}));

  NodeFacts node = new_node(op, create, path, acl);
  const auto parent_cversion =
      static_cast<std::int32_t>(static_cast<std::uint32_t>(parent.stat.cversion) + 1u);
  wire::Writer w(out);
  wire::encode(w, op,
               wire::CreateTxn{path, create.data, acl, is_session_bound(op, create.flags), parent_cversion,
                               create.ttl_ms});
  TRY(fits(out));
  count_child(parent_of, std::move(parent), +1);
  update(path, node, 0);
  return {};
}

}  // namespace drover::state
