// SPDX-License-Identifier: Apache-2.0
#include "sim/check_reads.h"

#include <optional>
#include <string>

#include "state/acl.h"
#include "wire/jute.h"
#include "wire/requests.h"

namespace drover::sim {

using wire::OpCode;

// The result of one read, or of one part of a multiRead, as the client saw it.
struct CheckReads::Shown {
  ClientId client{};
  std::int32_t xid = 0;
  Zxid zxid{};
  OpCode op{};
  std::string_view path;
  ErrorCode error{};
  wire::Reader& body;
};

namespace {

// How the body differs from the node; empty: it does not.
std::string_view difference(OpCode op, wire::Reader& body, const NodeVersion& node) {
  if (op == OpCode::kGetData) {
    const wire::Nullable data = body.buffer();
    if (data.has_value() != node.has_data || data.value_or("") != node.data) return "data";
  }
  if (op == OpCode::kGetAcl) {
    const std::string_view acl = wire::skip_acl_list(body);
    if (acl != (node.acl ? node.acl->bytes : wire::open_acl_bytes())) return "ACL";
  }
  if (op == OpCode::kGetChildren || op == OpCode::kGetChildren2) {
    const std::size_t count = body.count(4);
    std::uint64_t children = 0;
    for (std::size_t i = 0; i < count && body.ok(); ++i) children += hash_of_child(body.string());
    if (count != static_cast<std::size_t>(node.stat.num_children) || children != node.children)
      return "children";
  }
  if (op != OpCode::kGetChildren && !(wire::decode_stat(body) == node.stat)) return "Stat";
  return body.ok() ? std::string_view{} : "length";
}

bool is_node_read(OpCode op) {
  switch (op) {
    case OpCode::kExists:
    case OpCode::kGetData:
    case OpCode::kGetAcl:
    case OpCode::kGetChildren:
    case OpCode::kGetChildren2: return true;
    default: return false;
  }
}

}  // namespace

ErrorCode CheckReads::expected_error(const NodeVersion* node) const {
  if (!node || !node->exists) return ErrorCode::kNoNode;
  const bool allowed = !node->acl || state::is_allowed(*node->acl, wire::kRead, {}, options_);
  return allowed ? ErrorCode::kOk : ErrorCode::kNoAuth;
}

void CheckReads::on_reply(ClientId client, const Call& call, const wire::ReplyHeader& header,
                          std::string_view body) {
  wire::Reader request(call.body);
  wire::Reader shown(body);
  if (call.op == OpCode::kMultiRead) {
    if (header.error != ErrorCode::kOk)
      return failures_.add("I7: ", client, " was told ", header.error, " for the multiRead ", call.xid);
    return check_multi({client, call.xid, header.zxid, call.op, call.body, header.error, shown});
  }
  if (!is_node_read(call.op)) return;
  const std::string_view path = request.string();
  check({client, call.xid, header.zxid, call.op, path, header.error, shown});
  if (header.error == ErrorCode::kOk && !shown.at_end())
    failures_.add("I7: the answer to xid ", call.xid, " of ", client, " is too long");
}

void CheckReads::check(const Shown& shown) const {
  const NodeVersion* node = model_.at(shown.path, shown.zxid);
  const ErrorCode expected = expected_error(node);
  if (shown.error != expected) {
    return failures_.add("I7: ", shown.client, " was told ", shown.error, " for ", shown.path, " at ",
                         shown.zxid, " by xid ", shown.xid, " instead of ", expected);
  }
  if (expected != ErrorCode::kOk) return;
  const std::string_view wrong = difference(shown.op, shown.body, *node);
  if (!wrong.empty()) {
    failures_.add("I7: ", shown.client, " was shown another ", wrong, " of ", shown.path, " at ", shown.zxid,
                  " by xid ", shown.xid, " than version ", node->stat.version, " of ", node->zxid, " has");
  }
}

void CheckReads::check_multi(const Shown& whole) const {
  wire::Reader request(whole.path);  // the request's body
  const auto ops = wire::decode_multi(request, 1000);
  if (!ops) return;
  for (const wire::MultiOp& op : *ops) {
    const auto* read = std::get_if<wire::PathWatchRequest>(&op.request);
    if (!read) return;
    const wire::MultiHeader part = wire::decode_multi_header(whole.body);
    Shown shown{whole.client, whole.xid, whole.zxid, op.op, read->path, ErrorCode::kOk, whole.body};
    if (part.type == OpCode::kError) shown.error = static_cast<ErrorCode>(whole.body.i32());
    check(shown);
  }
  const wire::MultiHeader end = wire::decode_multi_header(whole.body);
  if (!end.done || !whole.body.ok())
    failures_.add("I7: the answer to the multiRead ", whole.xid, " of ", whole.client, " has no end");
}

}  // namespace drover::sim
