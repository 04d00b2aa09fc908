// SPDX-License-Identifier: Apache-2.0
//
// What servers of an ensemble say to each other, on two ports.
//
// Quorum port: a stream of QuorumPackets without lengths around them.
//
//   UPTODATE:  0000000c ffffffffffffffff ffffffff ffffffff      type, zxid, null data, null authinfo
//
// Election port: a greeting by the side that connects, then frames that each hold one notification.
//
// Everything here comes from a socket, so nothing is believed: a length that its limit forbids is an
// error before a byte of it is waited for.
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
std::string_view name_of(PacketType type);  // "NEWLEADER"; "?" for what is none

struct QuorumPacket {
  PacketType type{};
  Zxid zxid{};
  Nullable data{};
  // Only REQUEST has any; empty otherwise. Null and empty are the same here.
  std::vector<Identity> identities{};
};

struct PacketLimits {
  std::size_t data_bytes_max = kTxnBytesMax;
  std::size_t identities_max = 65'536;
  std::size_t identities_bytes_max = kIdentitiesBytesMax;  // of all schemes and ids together
};
// Before a learner has introduced itself, nothing is known of it, and what it has to say is short.
inline constexpr PacketLimits kIntroductionLimits{
    .data_bytes_max = 1024, .identities_max = 0, .identities_bytes_max = 0};

enum class Decoded { kComplete, kNeedMore, kBad };
struct DecodedPacket {
  Decoded status = Decoded::kNeedMore;
  std::size_t bytes = 0;  // that the packet took; only with kComplete
};
// The packet at the front of `bytes`. Its views point into them. An unknown type is a packet too. Unless it
// is complete, `packet` is left as it was. Allocates only for identities.
DecodedPacket decode_packet(std::string_view bytes, const PacketLimits& limits, QuorumPacket& packet);

void append_packet(std::string& out, PacketType type, Zxid zxid, const Nullable& data = {});
// REQUEST: the client's identities go with it, because the leader checks ACLs.
void append_request_packet(std::string& out, std::string_view data, const std::vector<Identity>& identities);

inline constexpr std::int32_t kQuorumProtocolVersion = 0x10000;

// Data of FOLLOWERINFO and OBSERVERINFO.
struct LearnerInfo {
  ServerId server{};
  std::int32_t protocol_version = kQuorumProtocolVersion;
  std::int64_t config_version = 0;
  std::uint64_t history = 0;  // the id of the history it holds transactions of; 0: none, or unknown
};
std::string encode(const LearnerInfo& info);
// 8 bytes: only the id (then the version is the oldest, 1); 12: no config version (then 0); 20: no history.
// Nullopt for anything shorter or null.
std::optional<LearnerInfo> decode_learner_info(const Nullable& data);

// Data of LEADERINFO. Java's leaders send the version alone, and Java's learners read no further than that.
//
//   00010000 5f3a9c0177e40b21 02      version, id of the history, flags
struct LeaderInfo {
  std::int32_t protocol_version = kQuorumProtocolVersion;
  struct History {
    std::uint64_t id = 0;  // 0: unknown
    bool empty = false;    // it holds no transaction
    bool agreed = false;   // it holds some, or a quorum has promised to follow it
  };
  std::optional<History> history;
};
std::string encode(const LeaderInfo& info);
std::optional<LeaderInfo> decode_leader_info(const Nullable& data);

// Data of ACKEPOCH: one int.
std::string encode_int(std::int32_t value);
std::optional<std::int32_t> decode_int(const Nullable& data);

// Data of REQUEST: a client's request as the learner got it.
struct ForwardedRequest {
  SessionId session{};
  std::int32_t cxid = 0;
  OpCode op{};
  std::string_view body;
};
void append_forwarded(std::string& out, const ForwardedRequest& request);
std::optional<ForwardedRequest> decode_forwarded(const Nullable& data);

// Data of a learner's PING, repeated: sessions that it has heard of.
struct TouchedSession {
  SessionId session{};
  std::int32_t timeout_ms = 0;
};
inline constexpr std::size_t kTouchedSessionBytes = 12;
void append_touched(std::string& out, const TouchedSession& touched);
// Nullopt when the data is null or no whole number of entries.
std::optional<std::vector<TouchedSession>> decode_touched(const Nullable& data);

// Data of REVALIDATE: the question is a TouchedSession, the answer is this.
struct Revalidated {
  SessionId session{};
  bool valid = false;
};
std::string encode(const Revalidated& answer);
std::optional<Revalidated> decode_revalidated(const Nullable& data);

// --- election port ---

// What a server is doing, as told in notifications.
enum class PeerState : std::int32_t { kLooking = 0, kFollowing = 1, kLeading = 2, kObserving = 3 };

struct Notification {
  PeerState state{};
  ServerId leader{};  // whom the sender votes for
  Zxid zxid{};        // that server's last transaction
  std::int64_t round = 0;
  std::int64_t peer_epoch = 0;
  std::int32_t version = 2;
  std::string config;  // text of the sender's committed membership; from version 2 on
};
// The payload of an election frame.
void append_notification(std::string& out, const Notification& notification);
// Nullopt: not a notification. A state that does not exist is none. The oldest servers send 28 bytes
// (the epoch is the zxid's) or 40 (then the version reads as 0, whatever it says); Java does the same.
std::optional<Notification> decode_notification(std::string_view frame);
inline constexpr std::size_t kNotificationBytesMax = 512 * 1024;

// What the connecting side says first.
struct ElectionHello {
  ServerId server{};
  std::vector<std::string> addresses;  // "host:port"; empty from very old servers
};
inline constexpr std::size_t kHelloBytesMax = 2048;  // of the addresses
// More than one address makes it the newer form, which only servers with multi-address understand. None
// makes it the oldest, which is the id alone. Addresses beyond kHelloBytesMax are left out.
void append_hello(std::string& out, const ElectionHello& hello);
struct DecodedHello {
  Decoded status = Decoded::kNeedMore;
  std::size_t bytes = 0;
};
// Addresses have the form of one, but nothing says that they are true: never connect to them.
DecodedHello decode_hello(std::string_view bytes, ElectionHello& hello);

}  // namespace drover::wire
