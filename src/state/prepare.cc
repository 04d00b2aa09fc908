// SPDX-License-Identifier: Apache-2.0
#include "state/prepare.h"

#include "base/path.h"
#include "state/digest.h"
#include "state/preparation.h"
#include "wire/multi_flaw.h"

namespace drover::state {
namespace {

void append_error(std::string& out, ErrorCode error) {
  wire::Writer w(out);
  wire::encode(w, wire::ErrorTxn{error});
}

}  // namespace

template <class Request, class Handler>
CodeResult<void> Preparation::decoded(const std::optional<Request>& request, Handler handler) {
  if (request) return handler(*request);
  undecodable_ = true;
  return std::unexpected(ErrorCode::kMarshallingError);
}

// A null path gives the client the same error, but Java can decode it.
CodeResult<void> Preparation::decoded_delete(wire::Reader r, std::string& out) {
  wire::Reader fields = r;
  fields.buffer();
  fields.i32();
  const auto done = decoded(wire::decode_delete(r), [&](const auto& q) { return remove(q, out); });
  undecodable_ = !fields.ok();
  return done;
}

CodeResult<void> Preparation::session_alive() const {
  if (request_.session_error != ErrorCode::kOk) return std::unexpected(request_.session_error);
  return {};
}

CodeResult<void> Preparation::may_own_ephemerals() const {
  if (request_.ephemeral_error != ErrorCode::kOk) return std::unexpected(request_.ephemeral_error);
  return session_alive();
}

CodeResult<void> Preparation::allowed(const NodeFacts& node, std::int32_t perms) const {
  if (!node.acl) return {};
  if (!is_allowed(*node.acl, perms, *request_.who, m_.options)) return std::unexpected(ErrorCode::kNoAuth);
  return {};
}

CodeResult<NodeFacts> Preparation::existing(std::string_view path) const {
  auto node = pending_.find(path);
  if (!node) return std::unexpected(ErrorCode::kNoNode);
  return *std::move(node);
}

CodeResult<void> Preparation::valid_path(std::string_view path) const {
  if (!is_valid_path(path) || path.size() > m_.options.path_bytes_max) {
    return std::unexpected(ErrorCode::kBadArguments);
  }
  return {};
}

CodeResult<void> Preparation::quota_allows(std::string_view path, Quotas::Growth growth) const {
  if (!m_.options.enforce_quota) return {};
  return m_.quotas.check(m_.tree, path, growth);
}

// Called before anything is recorded as pending, so that a refused request has no effect.
CodeResult<void> Preparation::fits(const std::string& out) {
  if (out.size() - record_start_ + kAroundRecordBytes <= m_.options.txn_bytes_max) return {};
  too_large_ = true;
  return std::unexpected(ErrorCode::kMarshallingError);
}

// Updates the digest of the changed `node` and records the change.
void Preparation::update(std::string_view path, NodeFacts& node, std::uint64_t digest_before) {
  node.digest = counts_in_digest(path) ? node_digest(node.content_crc, node.stat) : 0;
  pending_.put(path, zxid_, node, digest_before);
}

void Preparation::count_child(std::string_view path, NodeFacts parent, std::int32_t children_more) {
  const std::uint64_t digest_before = parent.digest;
  parent.child_count += children_more;
  if (children_more > 0) {
    parent.stat.cversion = static_cast<std::int32_t>(static_cast<std::uint32_t>(parent.stat.cversion) + 1u);
  }
  parent.stat.pzxid = zxid_;
  update(path, parent, digest_before);
}

void Preparation::forget(std::string_view path, const NodeFacts& node) {
  NodeFacts gone;
  gone.exists = false;
  pending_.put(path, zxid_, gone, node.digest);
}

CodeResult<void> Preparation::single(std::string& out) {
  begin_record(out);
  wire::Reader r(request_.body);
  switch (request_.op) {
    case OpCode::kCreate:
    case OpCode::kCreate2:
    case OpCode::kCreateContainer:
    case OpCode::kCreateTtl:
      return decoded(wire::decode_create(r, request_.op),
                     [&](const auto& q) { return create(request_.op, q, out); });
    case OpCode::kDelete: return decoded_delete(r, out);
    case OpCode::kDeleteContainer:
      return decoded(wire::decode_path(r), [&](const auto& path) { return remove_container(path, out); });
    case OpCode::kSetData:
      return decoded(wire::decode_set_data(r), [&](const auto& q) { return set_data(q, out); });
    case OpCode::kSetAcl:
      return decoded(wire::decode_set_acl(r), [&](const auto& q) { return set_acl(q, out); });
    case OpCode::kCreateSession: return create_session(out);
    case OpCode::kCloseSession: return close_session(out);
    case OpCode::kReconfig: return reconfig(out);
    default: return std::unexpected(ErrorCode::kUnimplemented);
  }
}

CodeResult<void> Preparation::multi_element(const wire::MultiOp& op, std::string& record) {
  switch (op.op) {
    case OpCode::kDelete: return remove(std::get<wire::DeleteRequest>(op.request), record);
    case OpCode::kSetData: return set_data(std::get<wire::SetDataRequest>(op.request), record);
    case OpCode::kCheck: return check(std::get<wire::CheckRequest>(op.request), record);
    case OpCode::kGetData:
    case OpCode::kGetChildren: return std::unexpected(ErrorCode::kMarshallingError);
    default: return create(op.op, std::get<wire::CreateRequest>(op.request), record);
  }
}

CodeResult<void> Preparation::multi(std::string& out, ErrorCode& first_error) {
  wire::Reader r(request_.body);
  const auto ops = wire::decode_multi(r, m_.options.multi_ops_max);
  if (!ops) {
    const auto flaw = wire::flaw_of_multi(request_.body, m_.options.multi_ops_max);
    undecodable_ = flaw == wire::MultiFlaw::kNullAcl;
    return std::unexpected(ErrorCode::kMarshallingError);
  }
  // A multi of reads must be sent as multiRead.
  if (!ops->empty() && (ops->front().op == OpCode::kGetData || ops->front().op == OpCode::kGetChildren)) {
    return std::unexpected(ErrorCode::kMarshallingError);
  }
  // Every element checks the session. An empty multi has no elements, so it is checked here. Otherwise a late
  // copy of the request would be answered after the session's own later requests.
  if (ops->empty()) TRY(session_alive());

  const std::size_t start = out.size();
  wire::Writer w(out);
  w.i32(static_cast<std::int32_t>(ops->size()));
  pending_.mark();
  std::string record;
  for (const wire::MultiOp& op : *ops) {
    record.clear();
    begin_record(record);
    OpCode type = op.op;
    if (first_error != ErrorCode::kOk) {
      type = OpCode::kError;
      append_error(record, ErrorCode::kRuntimeInconsistency);
    } else if (const auto done = multi_element(op, record); !done) {
      pending_.rollback();
      // Nulls that make Java fail with a null pointer fail the whole request, not only this element.
      if (done.error() == ErrorCode::kMarshallingError) return done;
      first_error = done.error();
      record.clear();
      type = OpCode::kError;
      append_error(record, first_error);
    }
    // A 3.8 follower does not know create2 inside a multi and would apply nothing of the multi. The records
    // are the same, and the server that replies to the client adds the Stat if one is wanted.
    if (type == OpCode::kCreate2) type = OpCode::kCreate;
    w.i32(static_cast<std::int32_t>(type));
    w.string(record);
    record_start_ = start;
    if (const auto whole = fits(out); !whole) {
      if (first_error == ErrorCode::kOk) pending_.rollback();
      return whole;
    }
  }
  if (first_error == ErrorCode::kOk) pending_.commit();
  return {};
}

bool is_write(OpCode op) {
  switch (op) {
    case OpCode::kCreate:
    case OpCode::kCreate2:
    case OpCode::kCreateContainer:
    case OpCode::kCreateTtl:
    case OpCode::kDelete:
    case OpCode::kDeleteContainer:
    case OpCode::kSetData:
    case OpCode::kSetAcl:
    case OpCode::kMulti:
    case OpCode::kReconfig:
    case OpCode::kCreateSession:
    case OpCode::kCloseSession: return true;
    default: return false;
  }
}

Prepared prepare(const Machine& machine, PendingChanges& pending, const WriteRequest& request, Zxid zxid,
                 WallTime now, std::string& out) {
  const std::size_t start = out.size();
  wire::Writer w(out);
  wire::TxnHeader header{request.session, request.cxid, zxid, now.ms, request.op};
  wire::encode(w, header);

  Preparation preparation(machine, pending, request, zxid, now);
  ErrorCode multi_error = ErrorCode::kOk;
  const CodeResult<void> done =
      request.op == OpCode::kMulti ? preparation.multi(out, multi_error) : preparation.single(out);
  if (!done) {
    out.resize(start);
    header.type = OpCode::kError;
    wire::encode(w, header);
    append_error(out, done.error());
    return {.error = done.error(),
            .undecodable = preparation.is_undecodable(),
            .too_large = preparation.too_large()};
  }
  if (machine.options.digest_enabled) {
    wire::encode(w, wire::TxnDigest{wire::kDigestVersion, pending.digest()});
  }
  return {.error = multi_error, .unlisted = preparation.take_unlisted()};
}

void prepare_sweep(const Machine& machine, PendingChanges& pending, std::span<const std::string> paths,
                   Zxid zxid, WallTime now, std::string& out) {
  static const Identities kNobody;
  const WriteRequest request{.op = OpCode::kMulti, .who = &kNobody};
  wire::Writer w(out);
  wire::encode(w, wire::TxnHeader{request.session, request.cxid, zxid, now.ms, request.op});
  Preparation(machine, pending, request, zxid, now).sweep(paths, out);
  if (machine.options.digest_enabled)
    wire::encode(w, wire::TxnDigest{wire::kDigestVersion, pending.digest()});
}

}  // namespace drover::state
