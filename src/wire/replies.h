// SPDX-License-Identifier: Apache-2.0
//
// Messages from the server: the reply header, and watch events.
//
//   reply to create("/a"), xid 1:  00000016 | 00000001 0000000000000003 00000000 | 00000002 2f61
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/error_code.h"
#include "base/ids.h"
#include "wire/jute.h"

namespace drover::wire {

struct ReplyHeader {
  std::int32_t xid = 0;
  Zxid zxid{};
  ErrorCode error = ErrorCode::kOk;
};
inline constexpr std::size_t kReplyHeaderBytes = 16;

inline void encode(Writer& w, const ReplyHeader& h) {
  char b[kReplyHeaderBytes];
  store_be(b, h.xid);
  store_be(b + 4, raw(h.zxid));
  store_be(b + 12, static_cast<std::int32_t>(h.error));
  w.raw({b, sizeof b});
}

inline ReplyHeader decode_reply_header(Reader& r) {
  ReplyHeader h;
  h.xid = r.i32();
  h.zxid = Zxid{r.i64()};
  h.error = static_cast<ErrorCode>(r.i32());
  return h;
}

// A whole frame without a body: every error, and successes without further content.
inline void append_bare_reply(std::string& out, const ReplyHeader& h) {
  Frame frame(out);
  Writer w(out);
  encode(w, h);
}

enum class EventType : std::int32_t {
  kNodeCreated = 1,
  kNodeDeleted = 2,
  kNodeDataChanged = 3,
  kNodeChildrenChanged = 4,
};
inline constexpr std::int32_t kSyncConnected = 3;

inline void append_event(std::string& out, EventType type, std::string_view path, Zxid zxid) {
  Frame frame(out);
  Writer w(out);
  encode(w, ReplyHeader{-1, zxid, ErrorCode::kOk});
  w.i32(static_cast<std::int32_t>(type));
  w.i32(kSyncConnected);
  w.string(path);
}

}  // namespace drover::wire
