// SPDX-License-Identifier: Apache-2.0
//
// Messages between a Front and the Replica. Requests come in batches: one hand-over for many.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "state/acl.h"
#include "wire/records.h"

namespace drover::replica {

// The front of one I/O thread, counted from 0.
enum class FrontId : std::uint32_t {};

// A connection of one front. Slots are reused; the generation tells the old owner from the new.
struct ConnId {
  std::uint32_t slot = 0;
  std::uint32_t generation = 0;
  friend bool operator==(const ConnId&, const ConnId&) = default;
};

// --- front to replica ---

struct ClientWrite {
  ConnId conn;
  SessionId session{};
  std::int32_t xid = 0;
  wire::OpCode op{};
  std::size_t offset = 0;  // of the body in ToReplica::bytes
  std::size_t length = 0;
  state::IdentitiesPtr who;
};

struct SessionRequest {
  ConnId conn;
  SessionId session{};  // 0: a new one; otherwise the password was right
  std::int32_t timeout_ms = 0;
  std::string address{};  // of the client, for a new session
};

struct SessionTouch {
  SessionId session{};
  Instant heard;
};

struct ToReplica {
  std::string bytes;
  std::vector<ClientWrite> writes;
  std::vector<ClientWrite> refused;  // answered by the front, for the audit log
  std::vector<SessionRequest> sessions;
  std::vector<SessionTouch> touched;
  Instant heard_until;  // every touch up to here has been reported

  bool empty() const { return writes.empty() && refused.empty() && sessions.empty() && touched.empty(); }
};

// --- replica to front ---

// The result of a SessionRequest, or news about a session's connection.
struct SessionAnswer {
  enum class Kind : std::uint8_t {
    kThere,    // the session is yours: answers the handshake
    kNot,      // there is no such session: say so and close
    kDropped,  // close without an answer
  };
  Kind kind{};
  FrontId front{};
  ConnId conn{};
  SessionId session{};
};

}  // namespace drover::replica
