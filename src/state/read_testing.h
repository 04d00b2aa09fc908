// SPDX-License-Identifier: Apache-2.0
//
// Helpers for the tests of reads: one connection, and a parser for its replies.
#pragma once

#include <string>
#include <vector>

#include "state/read.h"
#include "state/testing.h"
#include "wire/replies.h"

namespace drover::state::testing {

// A frame from the server: header and body.
struct Reply {
  wire::ReplyHeader header;
  std::string body;
};

inline std::vector<Reply> replies_in(std::string_view bytes) {
  std::vector<Reply> replies;
  while (!bytes.empty()) {
    wire::Reader r(bytes);
    const std::string_view frame = r.string();
    ENSURE(r.ok() && frame.size() >= wire::kReplyHeaderBytes, "output is whole frames");
    wire::Reader in(frame);
    replies.push_back({wire::decode_reply_header(in), std::string(frame.substr(wire::kReplyHeaderBytes))});
    bytes.remove_prefix(4 + frame.size());
  }
  return replies;
}

// "created /a" for a notification, "" for anything else.
inline std::string event_text(const Reply& reply) {
  if (reply.header.xid != wire::kNotificationXid) return {};
  wire::Reader r(reply.body);
  const std::int32_t type = r.i32();
  r.i32();
  const char* const names[] = {"?", "created ", "deleted ", "changed ", "children "};
  return (type >= 1 && type <= 4 ? names[type] : names[0]) + std::string(r.string());
}

class Connection {
 public:
  explicit Connection(const Machine& machine) : machine_(machine) {}

  // All frames that the request produces, its reply last.
  std::vector<Reply> ask_all(OpCode op, std::string_view body) {
    std::string out;
    answer_read(machine_, watches, limits,
                {.session = session,
                 .xid = 7,
                 .op = op,
                 .body = body,
                 .who = &who,
                 .watcher = watcher,
                 .reply_bytes_max = reply_bytes_max,
                 .nodes_max = nodes_max},
                out);
    return replies_in(out);
  }
  Reply ask(OpCode op, std::string_view body) {
    auto replies = ask_all(op, body);
    EXPECT_EQ(replies.size(), 1u);
    EXPECT_EQ(replies.back().header.xid, 7);
    EXPECT_EQ(replies.back().header.zxid, machine_.last_zxid);
    EXPECT_TRUE(replies.back().header.error == ErrorCode::kOk || replies.back().body.empty())
        << "an error has no body";
    return replies.back();
  }
  ErrorCode error(OpCode op, std::string_view body) { return ask(op, body).header.error; }

  Watches watches{HashKey{}};
  WatchLimits limits;
  std::size_t reply_bytes_max = client_limits::kOutputBytes;
  std::size_t nodes_max = client_limits::kNodesOfReply;
  Identities who{{"ip", "127.0.0.1"}};
  SessionId session{1};
  WatcherId watcher{0};

 private:
  const Machine& machine_;
};

}  // namespace drover::state::testing
