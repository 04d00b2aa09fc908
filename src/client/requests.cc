// SPDX-License-Identifier: Apache-2.0
#include "client/requests.h"

#include <utility>

#include "client/public_stat.h"
#include "wire/requests.h"

namespace drover::client {
namespace {

using wire::OpCode;
using wire::Reader;
using wire::Writer;

template <class Write>
std::string written(Write write) {
  std::string out;
  Writer w(out);
  write(w);
  return out;
}

void write_acl(Writer& w, const std::vector<Acl>& acl) {
  if (acl.empty()) return w.raw(wire::open_acl_bytes());
  w.i32(static_cast<std::int32_t>(acl.size()));
  for (const Acl& each : acl) {
    w.i32(static_cast<std::int32_t>(each.permissions));
    w.string(each.scheme);
    w.string(each.id);
  }
}

void write_create(Writer& w, std::string_view path, std::string_view data, const CreateOptions& options) {
  w.string(path);
  w.buffer(options.without_data ? wire::Nullable() : wire::Nullable(data));
  write_acl(w, options.acl);
  w.i32(static_cast<std::int32_t>(options.mode));
  if (create_op(options.mode) == OpCode::kCreateTtl) w.i64(options.ttl.count());
}

void write_version(Writer& w, Version version) { w.i32(static_cast<std::int32_t>(version)); }

OpCode code_of(const Op& op) {
  switch (op.kind) {
    case Op::Kind::kCreate: return create_op(op.options.mode);
    case Op::Kind::kSet: return OpCode::kSetData;
    case Op::Kind::kRemove: return OpCode::kDelete;
    case Op::Kind::kCheck: return OpCode::kCheck;
  }
  return OpCode::kError;
}

void write_op(Writer& w, std::string_view prefix, const Op& op) {
  const std::string path = join_path(prefix, op.path);
  wire::encode(w, wire::MultiHeader{code_of(op), false, -1});
  if (op.kind == Op::Kind::kCreate) return write_create(w, path, op.data, op.options);
  w.string(path);
  if (op.kind == Op::Kind::kSet) w.string(op.data);
  write_version(w, op.version);
}

Stat read_stat(Reader& r) { return public_stat(wire::decode_stat(r)); }

std::vector<std::string> read_strings(Reader& r) {
  std::vector<std::string> strings(r.count(4));
  for (std::string& each : strings) each = r.string();
  return strings;
}

std::string read_path(Reader& r, const Call& call) {
  const std::string_view path = r.string();
  return path.size() <= call.strip ? "/" : std::string(path.substr(call.strip));
}

// One element after its header; empty for those without a body.
OpResult read_op_result(Reader& r, OpCode type, const Call& call) {
  OpResult result;
  if (type == OpCode::kCreate || type == OpCode::kCreate2) result.path = read_path(r, call);
  if (type == OpCode::kCreate2 || type == OpCode::kSetData) result.stat = read_stat(r);
  return result;
}

NodeData read_node(Reader& r) {
  const wire::Nullable data = r.buffer();
  NodeData node;
  node.data = data.value_or(std::string_view());
  node.is_without_data = !data;
  node.stat = read_stat(r);
  return node;
}

Result<ReadResult> read_read_result(Reader& r, OpCode type) {
  ReadResult result;
  switch (type) {
    case OpCode::kGetData: result.node = read_node(r); break;
    case OpCode::kGetChildren: result.names = read_strings(r); break;
    case OpCode::kError: return std::unexpected(error_of(static_cast<ErrorCode>(r.i32())));
    default: r.fail();
  }
  return result;
}

}  // namespace

std::string join_path(std::string_view prefix, std::string_view path) {
  if (path == "/" && !prefix.empty()) return std::string(prefix);
  std::string joined;
  joined.reserve(prefix.size() + path.size());
  joined.append(prefix).append(path);
  return joined;
}

OpCode create_op(CreateMode mode) {
  switch (mode) {
    case CreateMode::kContainer: return OpCode::kCreateContainer;
    case CreateMode::kPersistentTtl:
    case CreateMode::kPersistentSequentialTtl: return OpCode::kCreateTtl;
    default: return OpCode::kCreate2;
  }
}

std::string create_body(std::string_view path, std::string_view data, const CreateOptions& options) {
  return written([&](Writer& w) { write_create(w, path, data, options); });
}
std::string path_body(std::string_view path) {
  return written([&](Writer& w) { w.string(path); });
}
std::string path_watch_body(std::string_view path, bool watch) {
  std::string out;
  out.reserve(path.size() + 5);
  Writer w(out);
  w.string(path);
  w.boolean(watch);
  return out;
}
std::string path_version_body(std::string_view path, Version version) {
  return path_type_body(path, static_cast<std::int32_t>(version));
}
std::string path_type_body(std::string_view path, std::int32_t type) {
  return written([&](Writer& w) {
    w.string(path);
    w.i32(type);
  });
}
std::string set_body(std::string_view path, std::string_view data, Version version) {
  return written([&](Writer& w) {
    w.string(path);
    w.string(data);
    write_version(w, version);
  });
}
std::string set_acl_body(std::string_view path, const std::vector<Acl>& acl, Version version) {
  return written([&](Writer& w) {
    w.string(path);
    write_acl(w, acl);
    write_version(w, version);
  });
}

std::string reconfig_body(const ConfigChange& change) {
  std::string out;
  wire::Writer w(out);
  for (const std::string* part : {&change.joining, &change.leaving, &change.members}) {
    w.buffer(part->empty() ? wire::Nullable() : wire::Nullable(*part));
  }
  w.i64(change.from_version);
  return out;
}

std::string multi_body(std::string_view prefix, const std::vector<Op>& ops) {
  return written([&](Writer& w) {
    for (const Op& op : ops) write_op(w, prefix, op);
    wire::encode(w, wire::kMultiEnd);
  });
}

std::string multi_read_body(std::string_view prefix, const std::vector<ReadOp>& ops) {
  return written([&](Writer& w) {
    for (const ReadOp& op : ops) {
      const bool get = op.kind == ReadOp::Kind::kGet;
      wire::encode(w, wire::MultiHeader{get ? OpCode::kGetData : OpCode::kGetChildren, false, -1});
      w.string(join_path(prefix, op.path));
      w.boolean(false);
    }
    wire::encode(w, wire::kMultiEnd);
  });
}

Result<void> decode_nothing(Reader&, const Call&) { return {}; }

Result<Created> decode_created(Reader& r, const Call& call) {
  Created created;
  created.path = read_path(r, call);
  created.stat = read_stat(r);
  return created;
}

Result<Stat> decode_stat(Reader& r, const Call&) { return read_stat(r); }

// NoNode has no body.
Result<std::optional<Stat>> decode_exists(Reader& r, const Call&) {
  if (r.at_end()) return std::nullopt;
  return read_stat(r);
}

Result<NodeData> decode_node(Reader& r, const Call&) { return read_node(r); }

Result<Children> decode_children(Reader& r, const Call&) {
  Children children;
  children.names = read_strings(r);
  children.stat = read_stat(r);
  return children;
}

Result<AclData> decode_acl(Reader& r, const Call&) {
  AclData data;
  for (wire::Acl& each : wire::decode_acl_list(r)) {
    data.acl.push_back(
        {static_cast<Permission>(each.perms), std::move(each.who.scheme), std::move(each.who.id)});
  }
  data.stat = read_stat(r);
  return data;
}

// In a failed transaction, elements before the failing one have code Ok, and those after it a generic code.
Result<std::vector<OpResult>> decode_multi(Reader& r, const Call& call) {
  std::vector<OpResult> results;
  std::optional<Error> failed;
  for (int index = 0; r.ok(); ++index) {
    const wire::MultiHeader header = wire::decode_multi_header(r);
    if (header.done) break;
    if (header.type == OpCode::kError) {
      const auto code = static_cast<ErrorCode>(r.i32());
      if (code != ErrorCode::kOk && !failed) {
        failed = error_of(code);
        failed->op_index = index;
      }
      continue;
    }
    results.push_back(read_op_result(r, header.type, call));
  }
  if (failed) return std::unexpected(*std::move(failed));
  return results;
}

Result<std::vector<Result<ReadResult>>> decode_multi_read(Reader& r, const Call&) {
  std::vector<Result<ReadResult>> results;
  while (r.ok()) {
    const wire::MultiHeader header = wire::decode_multi_header(r);
    if (header.done) break;
    results.push_back(read_read_result(r, header.type));
  }
  return results;
}

Result<std::vector<Identity>> decode_identities(Reader& r, const Call&) {
  std::vector<Identity> identities(r.count(8));
  for (Identity& each : identities) {
    each.scheme = r.string();
    each.id = r.string();
  }
  return identities;
}

Result<std::vector<std::string>> decode_paths(Reader& r, const Call& call) {
  std::vector<std::string> paths(r.count(4));
  for (std::string& each : paths) each = read_path(r, call);
  return paths;
}

Result<std::int64_t> decode_count(Reader& r, const Call&) { return r.i32(); }

}  // namespace drover::client
