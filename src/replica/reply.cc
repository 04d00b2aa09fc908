// SPDX-License-Identifier: Apache-2.0
#include "replica/reply.h"

#include "wire/replies.h"
#include "wire/requests.h"

namespace drover::replica {
namespace {

using wire::OpCode;

// The body of one successful operation, alone or in a multi.
void append_body(wire::Writer& w, OpCode op, const state::ApplyResult& result) {
  switch (op) {
    case OpCode::kCreate: w.string(result.path); return;
    case OpCode::kCreate2:
    case OpCode::kCreateContainer:
    case OpCode::kCreateTtl:
      w.string(result.path);
      wire::encode(w, result.stat);
      return;
    case OpCode::kSetData:
    case OpCode::kSetAcl: wire::encode(w, result.stat); return;
    case OpCode::kReconfig:  // as getData of the members' node
      w.buffer(result.data);
      wire::encode(w, result.stat);
      return;
    default: return;
  }
}

// Clients know three kinds of create results; these two carry a Stat as create2 does.
OpCode result_type(OpCode type) {
  const bool with_stat = type == OpCode::kCreateTtl || type == OpCode::kCreateContainer;
  return with_stat ? OpCode::kCreate2 : type;
}

void append_multi(wire::Writer& w, const state::ApplyResult& result) {
  for (const state::ApplyResult& part : result.multi) {
    if (part.type == OpCode::kError) {
      const auto code = static_cast<std::int32_t>(part.error);
      wire::encode(w, wire::MultiHeader{OpCode::kError, false, code});
      w.i32(code);
      continue;
    }
    wire::encode(w, wire::MultiHeader{result_type(part.type), false, 0});
    append_body(w, part.type, part);
  }
  wire::encode(w, wire::kMultiEnd);
}

}  // namespace

void append_write_reply(std::string& out, OpCode op, std::int32_t xid, Zxid zxid,
                        const state::ApplyResult& result) {
  wire::Frame frame(out);
  wire::Writer w(out);
  // A failed multi says so in its parts, not in the header.
  const bool whole_failed = result.type == OpCode::kError;
  const bool multi = op == OpCode::kMulti && !whole_failed;
  wire::encode(w, wire::ReplyHeader{xid, zxid, multi ? ErrorCode::kOk : result.error});
  if (multi) {
    append_multi(w, result);
  } else if (result.error == ErrorCode::kOk) {
    append_body(w, op, result);
  }
}

}  // namespace drover::replica
