// SPDX-License-Identifier: Apache-2.0
//
// delete, deleteContainer, setData, setACL and check.
#include "base/path.h"
#include "state/digest.h"
#include "state/preparation.h"

namespace drover::state {
namespace {

constexpr std::int32_t kAnyVersion = -1;

// The version after `current`, if it matches the client's expected version. -1 is skipped, because as an
// expected version it means "any" (ZOOKEEPER-4743).
CodeResult<std::int32_t> next_version(std::int32_t current, std::int32_t expected) {
  if (expected != kAnyVersion && expected != current) return std::unexpected(ErrorCode::kBadVersion);
  const auto next = static_cast<std::int32_t>(static_cast<std::uint32_t>(current) + 1u);
  return next == kAnyVersion ? 0 : next;
}

// The parent of a path to delete. There are no other checks of the path: an invalid path simply does not
// exist.
CodeResult<std::string_view> deletable_parent(std::string_view path) {
  const bool has_slash = path.find('/') != std::string_view::npos;
  if (!has_slash || path.find('\0') != std::string_view::npos || is_special_path(path)) {
    return std::unexpected(ErrorCode::kBadArguments);
  }
  return parent_path(path);
}

}  // namespace

CodeResult<void> Preparation::remove(const wire::DeleteRequest& request, std::string& out) {
  TRY(session_alive());
  TRY_ASSIGN(const std::string_view parent_of, deletable_parent(request.path));
  TRY_ASSIGN(NodeFacts parent, existing(parent_of));
  TRY(allowed(parent, wire::kDelete));
  TRY_ASSIGN(const NodeFacts node, existing(request.path));
  TRY(next_version(node.stat.version, request.version));
  if (node.child_count > 0) return std::unexpected(ErrorCode::kNotEmpty);

  wire::Writer w(out);
  wire::encode(w, wire::DeleteTxn{request.path});
  TRY(fits(out));
  count_child(parent_of, std::move(parent), -1);
  forget(request.path, node);
  return {};
}

// Sent by the server's own reaper, without a session. From a client it would delete a node without any ACL
// check, so clients get the same error as from 3.8.
CodeResult<void> Preparation::remove_container(std::string_view path, std::string& out) {
  if (raw(request_.session) != 0) return std::unexpected(ErrorCode::kBadArguments);
  TRY_ASSIGN(const std::string_view parent_of, deletable_parent(path));
  TRY_ASSIGN(const NodeFacts node, existing(path));
  if (node.child_count > 0) return std::unexpected(ErrorCode::kNotEmpty);
  // Since the reaper looked, a new node may have taken the path.
  const NodeKind kind = kind_of(node.stat.ephemeral_owner, m_.options);
  if (kind != NodeKind::kContainer && kind != NodeKind::kTtl) return std::unexpected(ErrorCode::kBadVersion);
  TRY_ASSIGN(NodeFacts parent, existing(parent_of));

  wire::Writer w(out);
  wire::encode(w, wire::DeleteTxn{path});
  TRY(fits(out));
  count_child(parent_of, std::move(parent), -1);
  forget(path, node);
  return {};
}

CodeResult<void> Preparation::set_data(const wire::SetDataRequest& request, std::string& out) {
  TRY(session_alive());
  TRY(valid_path(request.path));
  TRY_ASSIGN(NodeFacts node, existing(request.path));
  TRY(allowed(node, wire::kWrite));
  const auto data_bytes = static_cast<std::int64_t>(request.data ? request.data->size() : 0);
  TRY(quota_allows(request.path, {.bytes = data_bytes - node.data_bytes, .nodes = 0}));
  TRY_ASSIGN(const std::int32_t version, next_version(node.stat.version, request.version));

  wire::Writer w(out);
  wire::encode(w, wire::SetDataTxn{request.path, request.data, version});
  TRY(fits(out));
  const std::uint64_t digest_before = node.digest;
  node.stat.version = version;
  node.stat.mtime = now_.ms;
  node.stat.mzxid = zxid_;
  node.data_bytes = data_bytes;
  node.content_crc = content_crc(request.path == kRootPath ? "" : request.path, request.data);
  update(request.path, node, digest_before);
  return {};
}

CodeResult<void> Preparation::set_acl(const wire::SetAclRequest& request, std::string& out) {
  TRY(session_alive());
  TRY(valid_path(request.path));
  TRY_ASSIGN(const std::string acl, resolve_acl(request.acl, *request_.who, m_.options));
  TRY_ASSIGN(NodeFacts node, existing(request.path));
  TRY(allowed(node, wire::kAdmin));
  TRY_ASSIGN(const std::int32_t version, next_version(node.stat.aversion, request.version));

  wire::Writer w(out);
  wire::encode(w, wire::SetAclTxn{request.path, acl, version});
  TRY(fits(out));
  const std::uint64_t digest_before = node.digest;
  node.stat.aversion = version;
  node.acl = acl == wire::open_acl_bytes() ? nullptr : parse_acl_list(acl);
  update(request.path, node, digest_before);
  return {};
}

CodeResult<void> Preparation::check(const wire::CheckRequest& request, std::string& out) {
  TRY(session_alive());
  TRY(valid_path(request.path));
  TRY_ASSIGN(const NodeFacts node, existing(request.path));
  TRY(allowed(node, wire::kRead));
  TRY_ASSIGN(const std::int32_t version, next_version(node.stat.version, request.version));
  wire::Writer w(out);
  wire::encode(w, wire::CheckTxn{request.path, version});
  return {};
}

}  // namespace drover::state
