// SPDX-License-Identifier: Apache-2.0
#include "wire/records.h"

namespace drover::wire {
namespace {

// perms, and two strings that may be empty: the smallest ACL.
constexpr std::size_t kAclBytesMin = 12;

}  // namespace

std::string_view short_name_of(OpCode op) {
  switch (op) {
    case OpCode::kNotification: return "NOTI";
    case OpCode::kCreate: return "CREA";
    case OpCode::kCreate2: return "CRE2";
    case OpCode::kCreateTtl: return "CRTL";
    case OpCode::kCreateContainer: return "CREC";
    case OpCode::kDelete: return "DELE";
    case OpCode::kDeleteContainer: return "DELC";
    case OpCode::kExists: return "EXIS";
    case OpCode::kGetData: return "GETD";
    case OpCode::kCheck: return "CHEC";
    case OpCode::kMulti: return "MULT";
    case OpCode::kMultiRead: return "MLTR";
    case OpCode::kSetData: return "SETD";
    case OpCode::kGetAcl: return "GETA";
    case OpCode::kSetAcl: return "SETA";
    case OpCode::kGetChildren: return "GETC";
    case OpCode::kGetChildren2: return "GETC";
    case OpCode::kGetAllChildrenNumber: return "GETACN";
    case OpCode::kGetEphemerals: return "GETE";
    case OpCode::kSync: return "SYNC";
    case OpCode::kPing: return "PING";
    case OpCode::kReconfig: return "RECO";
    case OpCode::kCheckWatches: return "CHKW";
    case OpCode::kRemoveWatches: return "REMW";
    case OpCode::kAuth: return "AUTH";
    case OpCode::kSasl: return "SASL";
    case OpCode::kSetWatches: return "SETW";
    case OpCode::kSetWatches2: return "STW2";
    case OpCode::kAddWatch: return "ADDW";
    case OpCode::kWhoAmI: return "HOMI";
    case OpCode::kCreateSession: return "SESS";
    case OpCode::kCloseSession: return "CLOS";
    case OpCode::kError: return "NA";
  }
  return "NA";
}

void encode(Writer& w, const Stat& s) {
  char b[kStatBytes];
  store_be(b, raw(s.czxid));
  store_be(b + 8, raw(s.mzxid));
  store_be(b + 16, s.ctime);
  store_be(b + 24, s.mtime);
  store_be(b + 32, s.version);
  store_be(b + 36, s.cversion);
  store_be(b + 40, s.aversion);
  store_be(b + 44, s.ephemeral_owner);
  store_be(b + 52, s.data_length);
  store_be(b + 56, s.num_children);
  store_be(b + 60, raw(s.pzxid));
  w.raw({b, sizeof b});
}

Stat decode_stat(Reader& r) {
  Stat s;
  s.czxid = Zxid{r.i64()};
  s.mzxid = Zxid{r.i64()};
  s.ctime = r.i64();
  s.mtime = r.i64();
  s.version = r.i32();
  s.cversion = r.i32();
  s.aversion = r.i32();
  s.ephemeral_owner = r.i64();
  s.data_length = r.i32();
  s.num_children = r.i32();
  s.pzxid = Zxid{r.i64()};
  return s;
}

void encode(Writer& w, const StatPersisted& s) {
  char b[kStatPersistedBytes];
  store_be(b, raw(s.czxid));
  store_be(b + 8, raw(s.mzxid));
  store_be(b + 16, s.ctime);
  store_be(b + 24, s.mtime);
  store_be(b + 32, s.version);
  store_be(b + 36, s.cversion);
  store_be(b + 40, s.aversion);
  store_be(b + 44, s.ephemeral_owner);
  store_be(b + 52, raw(s.pzxid));
  w.raw({b, sizeof b});
}

StatPersisted decode_stat_persisted(Reader& r) {
  StatPersisted s;
  s.czxid = Zxid{r.i64()};
  s.mzxid = Zxid{r.i64()};
  s.ctime = r.i64();
  s.mtime = r.i64();
  s.version = r.i32();
  s.cversion = r.i32();
  s.aversion = r.i32();
  s.ephemeral_owner = r.i64();
  s.pzxid = Zxid{r.i64()};
  return s;
}

void encode_acl_list(Writer& w, const std::vector<Acl>& acl) {
  w.i32(static_cast<std::int32_t>(acl.size()));
  for (const Acl& a : acl) {
    w.i32(a.perms);
    w.string(a.who.scheme);
    w.string(a.who.id);
  }
}

std::vector<Acl> decode_acl_list(Reader& r) {
  std::vector<Acl> list;
  const std::size_t n = r.count(kAclBytesMin);
  list.reserve(n);
  for (std::size_t i = 0; i < n && r.ok(); ++i) {
    const std::int32_t perms = r.i32();
    const std::string_view scheme = r.string();
    list.push_back({perms, {std::string(scheme), std::string(r.string())}});
  }
  return list;
}

AclNulls first_null_in_acl_list(Reader r) {
  const std::size_t n = r.count(kAclBytesMin);
  for (std::size_t i = 0; i < n && r.ok(); ++i) {
    r.i32();
    const Nullable scheme = r.buffer();
    const Nullable id = r.buffer();
    if (!scheme) return AclNulls::kScheme;
    if (!id && *scheme != "auth") return AclNulls::kId;
  }
  return AclNulls::kNone;
}

std::string_view skip_acl_list(Reader& r) {
  const std::size_t start = r.position();
  const std::size_t n = r.count(kAclBytesMin);
  for (std::size_t i = 0; i < n && r.ok(); ++i) {
    r.i32();
    r.buffer();
    r.buffer();
  }
  return r.ok() ? r.since(start) : std::string_view{};
}

const std::string& open_acl_bytes() {
  static const std::string bytes = [] {
    std::string b;
    Writer w(b);
    encode_acl_list(w, {{kAll, {"world", "anyone"}}});
    return b;
  }();
  return bytes;
}

}  // namespace drover::wire
