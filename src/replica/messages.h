// SPDX-License-Identifier: Apache-2.0
//
// What a Front and the Replica tell each other. Always in batches: one hand-over for many requests.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "state/acl.h"
#include "state/apply.h"
#include "wire/records.h"

namespace drover::replica {

// One of the I/O threads' fronts, counted from 0.
enum class FrontId : std::uint32_t {};

// A connection of one front. Slots are used again; the generation tells the old owner from the new.
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
  std::uint32_t offset = 0;  // of the body in ToReplica::bytes
  std::uint32_t length = 0;
  state::IdentitiesPtr who;
};

struct SessionRequest {
  ConnId conn;
  SessionId session{};  // 0: a new one; otherwise the password was right
  std::int32_t timeout_ms = 0;
};

struct SessionTouch {
  SessionId session{};
  Instant heard;
};

struct ToReplica {
  std::string bytes;
  std::vector<ClientWrite> writes;
  std::vector<SessionRequest> sessions;
  std::vector<SessionTouch> touched;
  Instant heard_until;  // every touch up to here has been reported

  bool empty() const { return writes.empty() && sessions.empty() && touched.empty(); }
};

// --- replica to front ---

enum class DeliveryKind : std::uint8_t {
  kReply,       // append bytes, the answer to the connection's oldest write
  kEvent,       // tell those who watch
  kSession,     // the session is there: the handshake's answer
  kNoSession,   // the session is not: say so and close
  kCloseReply,  // the answer to closeSession; close behind it
  kClose,       // close without a word
};

struct Delivery {
  DeliveryKind kind{};
  wire::EventType event{};
  ConnId conn{};
  std::uint32_t offset = 0;  // of the frame, or of the event's path, in FromReplica::bytes
  std::uint32_t length = 0;
  Zxid zxid{};
  SessionId session{};
  state::AclListPtr acl{};  // of an event: who may hear it; null: everybody
};

struct FromReplica {
  std::string bytes;
  std::vector<Delivery> items;  // in the order in which a client must see them
  bool wants_events = true;     // set by the caller: false while the front has no watch at all

  bool empty() const { return items.empty(); }
};

}  // namespace drover::replica
