// SPDX-License-Identifier: Apache-2.0
#include "wire/requests.h"

#include <algorithm>

#include "wire/multi_flaw.h"

namespace drover::wire {
namespace {

// The record if all its fields could be read.
template <class Record>
std::optional<Record> if_ok(const Reader& r, Record record) {
  if (!r.ok()) return std::nullopt;
  return record;
}

std::vector<std::string_view> decode_paths(Reader& r) {
  std::vector<std::string_view> paths;
  if (Reader peek = r; peek.i32() == -1) r.fail();  // Java reads other negative counts as empty lists.
  const std::size_t n = r.count(4);
  paths.reserve(n);
  for (std::size_t i = 0; i < n && r.ok(); ++i) paths.push_back(r.required_string());
  return paths;
}

bool is_read(OpCode op) { return op == OpCode::kGetData || op == OpCode::kGetChildren; }

bool is_null_list(std::string_view list) { return Reader(list).i32() == -1; }

// As of 3.9, Java derives the op from the mode. A container mode makes it createContainer. A TTL mode needs
// createTTL. createTTL with another mode is a plain create, and its ttl is ignored. Only createTTL may have a
// null ACL list here; it is refused later.
std::optional<MultiOp> multi_create(OpCode op, CreateRequest request, MultiFlaw& flaw) {
  if (op == OpCode::kCreateTtl) {
    if (!request.path) return std::nullopt;
    if (is_ttl(request.flags)) return MultiOp{op, request};
    request.ttl_ms = -1;
    op = OpCode::kCreate;
  } else if (!is_create_flag(request.flags)) {
    return std::nullopt;
  } else if (is_null_list(request.acl)) {
    flaw = MultiFlaw::kNullAcl;
    return std::nullopt;
  } else if (is_ttl(request.flags) || !request.path) {
    return std::nullopt;
  }
  return MultiOp{request.flags == kContainer ? OpCode::kCreateContainer : op, request};
}

template <class Request>
std::optional<MultiOp> element(OpCode op, const std::optional<Request>& request) {
  if (!request) return std::nullopt;
  return MultiOp{op, *request};
}

std::optional<MultiOp> decode_multi_op(Reader& r, OpCode op, MultiFlaw& flaw) {
  switch (op) {
    case OpCode::kCreate:
    case OpCode::kCreate2:
    case OpCode::kCreateContainer:
    case OpCode::kCreateTtl: {
      const auto request = decode_create(r, op);
      return request ? multi_create(op, *request, flaw) : std::nullopt;
    }
    case OpCode::kDelete: return element(op, decode_delete(r));
    case OpCode::kSetData: return element(op, decode_set_data(r));
    case OpCode::kCheck: return element(op, decode_check(r));
    case OpCode::kGetData:
    case OpCode::kGetChildren: return element(op, decode_path_watch(r));
    default: return std::nullopt;
  }
}

// All elements; or nullopt, and `flaw` says why.
std::optional<std::vector<MultiOp>> read_multi(Reader& r, std::size_t ops_max, MultiFlaw& flaw) {
  std::vector<MultiOp> ops;
  flaw = MultiFlaw::kMalformed;
  for (;;) {
    const MultiHeader header = decode_multi_header(r);
    if (!r.ok()) return std::nullopt;
    if (header.done) break;
    auto op = decode_multi_op(r, header.type, flaw);
    if (!op || ops.size() >= ops_max) return std::nullopt;
    if (!ops.empty() && is_read(op->op) != is_read(ops.front().op)) return std::nullopt;
    ops.push_back(std::move(*op));
  }
  flaw = MultiFlaw::kNone;
  return ops;
}

}  // namespace

std::optional<ConnectRequest> decode_connect_request(std::string_view frame) {
  Reader r(frame);
  ConnectRequest c;
  c.protocol_version = r.i32();
  c.last_zxid_seen = Zxid{r.i64()};
  c.timeout_ms = r.i32();
  c.session = SessionId{r.i64()};
  c.password = r.string();
  if (!r.ok()) return std::nullopt;
  c.has_read_only = !r.at_end();
  if (c.has_read_only) c.read_only = r.boolean();
  return c;
}

void encode(Writer& w, const ConnectRequest& c) {
  w.i32(c.protocol_version);
  w.i64(raw(c.last_zxid_seen));
  w.i32(c.timeout_ms);
  w.i64(raw(c.session));
  w.string(c.password);
  if (c.has_read_only) w.boolean(c.read_only);
}

void encode(Writer& w, const ConnectResponse& c) {
  w.i32(0);
  w.i32(c.timeout_ms);
  w.i64(raw(c.session));
  w.string(c.password);
  if (c.has_read_only) w.boolean(c.read_only);
}

std::optional<ConnectResponse> decode_connect_response(std::string_view frame) {
  Reader r(frame);
  ConnectResponse c;
  r.i32();
  c.timeout_ms = r.i32();
  c.session = SessionId{r.i64()};
  c.password = r.string();
  if (!r.ok()) return std::nullopt;
  c.has_read_only = !r.at_end();
  if (c.has_read_only) c.read_only = r.boolean();
  return c;
}

std::optional<CreateRequest> decode_create(Reader& r, OpCode op) {
  CreateRequest c;
  c.path = r.buffer();
  c.data = r.buffer();
  c.acl = skip_acl_list(r);
  c.flags = r.i32();
  if (op == OpCode::kCreateTtl) c.ttl_ms = r.i64();
  return if_ok(r, c);
}

std::optional<DeleteRequest> decode_delete(Reader& r) {
  DeleteRequest d;
  d.path = r.required_string();
  d.version = r.i32();
  return if_ok(r, d);
}

std::optional<SetDataRequest> decode_set_data(Reader& r) {
  SetDataRequest s;
  s.path = r.string();  // null is an invalid path like any other
  s.data = r.buffer();
  s.version = r.i32();
  return if_ok(r, s);
}

std::optional<SetAclRequest> decode_set_acl(Reader& r) {
  SetAclRequest s;
  s.path = r.string();  // null is an invalid path like any other
  s.acl = skip_acl_list(r);
  s.version = r.i32();
  return if_ok(r, s);
}

std::optional<CheckRequest> decode_check(Reader& r) {
  CheckRequest c;
  c.path = r.required_string();
  c.version = r.i32();
  return if_ok(r, c);
}

std::optional<PathWatchRequest> decode_path_watch(Reader& r) {
  PathWatchRequest p;
  p.path = r.required_string();
  p.watch = r.boolean();
  return if_ok(r, p);
}

std::optional<PathTypeRequest> decode_path_type(Reader& r) {
  PathTypeRequest p;
  p.path = r.buffer();
  p.type = r.i32();
  return if_ok(r, p);
}

std::optional<std::string_view> decode_path(Reader& r) {
  const std::string_view path = r.required_string();
  return if_ok(r, path);
}

std::optional<SetWatchesRequest> decode_set_watches(Reader& r, OpCode op) {
  SetWatchesRequest s;
  s.relative_zxid = Zxid{r.i64()};
  s.data = decode_paths(r);
  s.exist = decode_paths(r);
  s.child = decode_paths(r);
  if (op == OpCode::kSetWatches2) {
    s.persistent = decode_paths(r);
    s.persistent_recursive = decode_paths(r);
  }
  return if_ok(r, std::move(s));
}

std::optional<AuthRequest> decode_auth(Reader& r) {
  AuthRequest a;
  a.type = r.i32();
  a.scheme = r.buffer();
  a.auth = r.buffer();
  return if_ok(r, a);
}

std::optional<ReconfigRequest> decode_reconfig(Reader& r) {
  ReconfigRequest request;
  request.joining = r.buffer();
  request.leaving = r.buffer();
  request.new_members = r.buffer();
  request.config_version = r.i64();
  return if_ok(r, request);
}

void encode(Writer& w, const MultiHeader& h) {
  w.i32(static_cast<std::int32_t>(h.type));
  w.boolean(h.done);
  w.i32(h.error);
}

MultiHeader decode_multi_header(Reader& r) {
  MultiHeader h;
  h.type = static_cast<OpCode>(r.i32());
  h.done = r.boolean();
  h.error = r.i32();
  return h;
}

std::optional<std::vector<MultiOp>> decode_multi(Reader& r, std::size_t ops_max) {
  MultiFlaw flaw{};
  return read_multi(r, ops_max, flaw);
}

MultiFlaw flaw_of_multi(std::string_view body, std::size_t ops_max) {
  MultiFlaw flaw{};
  Reader r(body);
  (void)read_multi(r, ops_max, flaw);
  return flaw;
}

std::vector<std::uint32_t> create2_in_multi(std::string_view body, std::size_t ops_max) {
  std::vector<std::uint32_t> positions;
  Reader r(body);
  const auto ops = decode_multi(r, ops_max);
  for (std::uint32_t i = 0; ops && i < ops->size(); ++i) {
    if ((*ops)[i].op == OpCode::kCreate2) positions.push_back(i);
  }
  return positions;
}

bool creates_ephemeral(OpCode op, std::string_view body, std::size_t ops_max) {
  Reader r(body);
  if (op == OpCode::kCreate || op == OpCode::kCreate2) {
    const auto create = decode_create(r, op);
    return create && is_ephemeral(create->flags);
  }
  if (op != OpCode::kMulti) return false;
  const auto ops = decode_multi(r, ops_max);
  return ops && std::any_of(ops->begin(), ops->end(), [](const MultiOp& each) {
           const auto* create = std::get_if<CreateRequest>(&each.request);
           return create && is_ephemeral(create->flags);
         });
}

}  // namespace drover::wire
