// SPDX-License-Identifier: Apache-2.0
#include "wire/txns.h"

namespace drover::wire {
namespace {

// A path in the log was valid once, so it is never null; a null path means damage.
CreateTxn decode_create_txn(Reader& r, OpCode type) {
  CreateTxn t;
  t.path = r.required_string();
  t.data = r.buffer();
  t.acl = skip_acl_list(r);
  if (type == OpCode::kCreate || type == OpCode::kCreate2) t.ephemeral = r.boolean();
  // Before 3.4 the record ended here.
  if (type == OpCode::kCreate && r.ok() && r.remaining() < 4) return t;
  t.parent_cversion = r.i32();
  if (type == OpCode::kCreateTtl) t.ttl_ms = r.i64();
  return t;
}

SetDataTxn decode_set_data_txn(Reader& r) {
  SetDataTxn t;
  t.path = r.required_string();
  t.data = r.buffer();
  t.version = r.i32();
  return t;
}

SetAclTxn decode_set_acl_txn(Reader& r) {
  SetAclTxn t;
  t.path = r.required_string();
  t.acl = skip_acl_list(r);
  t.version = r.i32();
  return t;
}

CheckTxn decode_check_txn(Reader& r) {
  CheckTxn t;
  t.path = r.required_string();
  t.version = r.i32();
  return t;
}

// With closeSessionTxn.enabled=false, and before 3.6, there is no record, and a digest may follow at once.
// Java decides by its own setting. The bytes show it too: read as a list, the twelve bytes of a digest would
// be two empty paths.
bool is_only_digest(Reader r) { return r.remaining() == kTxnDigestBytes && r.i32() == kDigestVersion; }

CloseSessionTxn decode_close_session_txn(Reader& r) {
  CloseSessionTxn t;
  if (r.at_end() || is_only_digest(r)) return t;
  const std::size_t n = r.count(4);
  t.paths.reserve(n);
  for (std::size_t i = 0; i < n && r.ok(); ++i) t.paths.push_back(r.required_string());
  return t;
}

MultiTxn decode_multi_txn(Reader& r) {
  MultiTxn t;
  const std::size_t n = r.count(8);
  t.txns.reserve(n);
  for (std::size_t i = 0; i < n && r.ok(); ++i) {
    const auto type = static_cast<OpCode>(r.i32());
    t.txns.push_back({type, r.string()});
  }
  return t;
}

bool allowed_in_multi(OpCode type) {
  return type != OpCode::kMulti && type != OpCode::kCreateSession && type != OpCode::kCloseSession &&
         type != OpCode::kSetAcl && type != OpCode::kReconfig;
}

TxnRecord decode_by_type(Reader& r, OpCode type, bool in_multi) {
  switch (type) {
    case OpCode::kCreate:
    case OpCode::kCreate2:
    case OpCode::kCreateContainer:
    case OpCode::kCreateTtl: return decode_create_txn(r, type);
    case OpCode::kDelete:
    case OpCode::kDeleteContainer: return DeleteTxn{r.required_string()};
    case OpCode::kSetData:
    case OpCode::kReconfig: return decode_set_data_txn(r);
    case OpCode::kSetAcl: return decode_set_acl_txn(r);
    case OpCode::kCreateSession: return CreateSessionTxn{r.i32()};
    case OpCode::kCloseSession: return decode_close_session_txn(r);
    case OpCode::kError: return ErrorTxn{static_cast<ErrorCode>(r.i32())};
    case OpCode::kMulti: return decode_multi_txn(r);
    case OpCode::kCheck:
      if (in_multi) return decode_check_txn(r);
      break;
    default: break;
  }
  r.fail();
  return ErrorTxn{};
}

}  // namespace

void encode(Writer& w, const TxnHeader& h) {
  char b[kTxnHeaderBytes];
  store_be(b, raw(h.session));
  store_be(b + 8, h.cxid);
  store_be(b + 12, raw(h.zxid));
  store_be(b + 20, h.time_ms);
  store_be(b + 28, static_cast<std::int32_t>(h.type));
  w.raw({b, sizeof b});
}

std::string_view likely_path_of_entry(std::string_view entry) {
  // Nearly every record begins with its path. Others fail one of these checks, or the wrong hint does no
  // harm.
  if (entry.size() < kTxnHeaderBytes + 5) return {};
  const auto length = load_be<std::uint32_t>(entry.data() + kTxnHeaderBytes);
  const std::string_view rest = entry.substr(kTxnHeaderBytes + 4);
  return rest.front() == '/' && length <= rest.size() ? rest.substr(0, length) : std::string_view{};
}

TxnHeader decode_txn_header(Reader& r) {
  TxnHeader h;
  h.session = SessionId{r.i64()};
  h.cxid = r.i32();
  h.zxid = Zxid{r.i64()};
  h.time_ms = r.i64();
  h.type = static_cast<OpCode>(r.i32());
  return h;
}

void encode(Writer& w, OpCode type, const CreateTxn& t) {
  w.string(t.path);
  w.buffer(t.data);
  w.raw(t.acl);
  if (type == OpCode::kCreate || type == OpCode::kCreate2) w.boolean(t.ephemeral);
  w.i32(t.parent_cversion);
  if (type == OpCode::kCreateTtl) w.i64(t.ttl_ms);
}

void encode(Writer& w, const DeleteTxn& t) { w.string(t.path); }

void encode(Writer& w, const SetDataTxn& t) {
  w.string(t.path);
  w.buffer(t.data);
  w.i32(t.version);
}

void encode(Writer& w, const SetAclTxn& t) {
  w.string(t.path);
  w.raw(t.acl);
  w.i32(t.version);
}

void encode(Writer& w, const CheckTxn& t) {
  w.string(t.path);
  w.i32(t.version);
}

void encode(Writer& w, const CreateSessionTxn& t) { w.i32(t.timeout_ms); }

void encode(Writer& w, const ErrorTxn& t) { w.i32(static_cast<std::int32_t>(t.error)); }

void encode_paths(Writer& w, std::span<const std::string> paths) {
  w.i32(static_cast<std::int32_t>(paths.size()));
  for (const std::string& path : paths) w.string(path);
}

void encode(Writer& w, const TxnDigest& d) {
  w.i32(d.version);
  w.i64(static_cast<std::int64_t>(d.tree_digest));
}

std::optional<TxnRecord> decode_txn_record(Reader& r, OpCode type, bool in_multi) {
  if (in_multi && !allowed_in_multi(type)) return std::nullopt;
  TxnRecord record = decode_by_type(r, type, in_multi);
  if (!r.ok()) return std::nullopt;
  return record;
}

std::optional<TxnEntry> decode_entry(std::string_view entry) {
  Reader r(entry);
  TxnEntry e;
  e.header = decode_txn_header(r);
  if (!r.ok()) return std::nullopt;
  auto record = decode_txn_record(r, e.header.type);
  if (!record) return std::nullopt;
  e.record = std::move(*record);
  if (r.remaining() >= kTxnDigestBytes) {
    e.digest.emplace();
    e.digest->version = r.i32();
    e.digest->tree_digest = static_cast<std::uint64_t>(r.i64());
  }
  return e;
}

}  // namespace drover::wire
