// SPDX-License-Identifier: Apache-2.0
//
// Messages between the servers of an ensemble, on two ports.
//
// Quorum port: a stream of QuorumPackets without length prefixes.
//
//   UPTODATE:  0000000c ffffffffffffffff ffffffff ffffffff      type, zxid, null data, null authinfo
//
// Election port: a greeting from the connecting side, then frames with one notification each.
//
// All input comes from a socket and is not trusted: a length beyond its limit is an error at once, before any
// of its bytes arrive.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "wire/jute.h"
#include "wire/records.h"
#include "wire/txn_limits.h"

namespace drover::wire {

// --- quorum port ---

enum class PacketType : std::int32_t {
  kRequest = 1,
  kProposal = 2,
  kAck = 3,
  kCommit = 4,
  kPing = 5,
  kRevalidate = 6,
  kSync = 7,
  kInform = 8,
  kCommitAndActivate = 9,
  kNewLeader = 10,
  kFollowerInfo = 11,
  kUpToDate = 12,
  kDiff = 13,
  kTrunc = 14,
  kSnap = 15,
  kObserverInfo = 16,
  kLeaderInfo = 17,
  kAckEpoch = 18,
  kInformAndActivate = 19,
};
std::string_view name_of(PacketType type);  // "NEWLEADER"; "?" for unknown types

struct QuorumPacket {
  PacketType type{};
  Zxid zxid{};
  Nullable data{};
  // Only REQUEST has identities; empty otherwise. Null and empty are the same here.
  std::vector<Identity> identities{};
};

struct PacketLimits {
  std::size_t data_bytes_max = kTxnBytesMax;
  std::size_t identities_max = 65'536;
  std::size_t identities_bytes_max = kIdentitiesBytesMax;  // all schemes and ids together
};
// Until a learner has introduced itself, it is unknown, and its messages are short.
inline constexpr PacketLimits kIntroductionLimits{
    .data_bytes_max = 1024, .identities_max = 0, .identities_bytes_max = 0};

enum class Decoded { kComplete, kNeedMore, kBad };
struct DecodedPacket {
  Decoded status = Decoded::kNeedMore;
  std::size_t bytes = 0;  // size of the packet; only with kComplete
};
// Decodes the packet at the front of `bytes`. Its views point into `bytes`. A packet of unknown type is
// valid. If the packet is not complete, `packet` does not change. Allocates only for identities.
DecodedPacket decode_packet(std::string_view bytes, const PacketLimits& limits, QuorumPacket& packet);

void append_packet(std::string& out, PacketType type, Zxid zxid, const Nullable& data = {});
// REQUEST carries the client's identities, because the leader checks ACLs.
void append_request_packet(std::string& out, std::string_view data, const std::vector<Identity>& identities);

inline constexpr std::int32_t kQuorumProtocolVersion = 0x10000;

// Data of FOLLOWERINFO and OBSERVERINFO.
struct LearnerInfo {
  ServerId server{};
  std::int32_t protocol_version = kQuorumProtocolVersion;
  std::int64_t config_version = 0;
  std::uint64_t history = 0;  // id of the history of its transactions; 0: none, or unknown
};
std::string encode(const LearnerInfo& info);
// 8 bytes: only the id (the version is then 1, the oldest); 12: no config version (then 0); 20: no history.
// Nullopt for anything shorter or null.
std::optional<LearnerInfo> decode_learner_info(const Nullable& data);

// Data of LEADERINFO. Java's leaders send only the version, and Java's learners read only the version.
//
//   00010000 5f3a9c0177e40b21 02      version, id of the history, flags
struct LeaderInfo {
  std::int32_t protocol_version = kQuorumProtocolVersion;
  struct History {
    std::uint64_t id = 0;  // 0: unknown
    bool empty = false;    // it has no transactions
    bool agreed = false;   // it has transactions, or a quorum has promised to follow it
  };
  std::optional<History> history;
};
std::string encode(const LeaderInfo& info);
std::optional<LeaderInfo> decode_leader_info(const Nullable& data);

// Data of ACKEPOCH: one int.
std::string encode_int(std::int32_t value);
std::optional<std::int32_t> decode_int(const Nullable& data);

// Data of REQUEST: a client's request as the learner received it.
struct ForwardedRequest {
  SessionId session{};
  std::int32_t cxid = 0;
  OpCode op{};
  std::string_view body;
};
void append_forwarded(std::string& out, const ForwardedRequest& request);
std::optional<ForwardedRequest> decode_forwarded(const Nullable& data);

// Data of a learner's PING, repeated: sessions with recent activity.
struct TouchedSession {
  SessionId session{};
  std::int32_t timeout_ms = 0;
};
inline constexpr std::size_t kTouchedSessionBytes = 12;
void append_touched(std::string& out, const TouchedSession& touched);
// Nullopt if the data is null or its length is not a multiple of kTouchedSessionBytes.
std::optional<std::vector<TouchedSession>> decode_touched(const Nullable& data);

// Data of REVALIDATE: the request is a TouchedSession, the response is this.
struct Revalidated {
  SessionId session{};
  bool valid = false;
};
std::string encode(const Revalidated& answer);
std::optional<Revalidated> decode_revalidated(const Nullable& data);

// --- election port ---

// A server's state, as sent in notifications.
enum class PeerState : std::int32_t { kLooking = 0, kFollowing = 1, kLeading = 2, kObserving = 3 };

struct Notification {
  PeerState state{};
  ServerId leader{};  // the sender's vote
  Zxid zxid{};        // that server's last transaction
  std::int64_t round = 0;
  std::int64_t peer_epoch = 0;
  std::int32_t version = 2;
  std::string config;  // text of the sender's committed membership; since version 2
  // Text of a membership in the sender's log that may not be committed yet; empty: none. Java neither sends
  // nor reads it.
  std::string proposed;
};
// The payload of an election frame.
void append_notification(std::string& out, const Notification& notification);
// Nullopt: not a notification, or one with an unknown state. The oldest servers send 28 bytes (the epoch is
// then that of the zxid) or 40 (the version field is then ignored and reads as 0). Java does the same.
std::optional<Notification> decode_notification(std::string_view frame);
inline constexpr std::size_t kNotificationBytesMax = 512 * 1024;

// The first message of the connecting side.
struct ElectionHello {
  ServerId server{};
  std::vector<std::string> addresses;  // "host:port"; empty from very old servers
};
inline constexpr std::size_t kHelloBytesMax = 2048;  // all addresses together
// Several addresses need the newer form, which only servers with multi-address understand. Without any
// address it is the oldest form, the id alone. Addresses beyond kHelloBytesMax are left out.
void append_hello(std::string& out, const ElectionHello& hello);
struct DecodedHello {
  Decoded status = Decoded::kNeedMore;
  std::size_t bytes = 0;
};
// Only the syntax of the addresses is checked. They may be false: connect to them only to answer a server
// that is no member, and trust nothing there.
DecodedHello decode_hello(std::string_view bytes, ElectionHello& hello);

}  // namespace drover::wire
