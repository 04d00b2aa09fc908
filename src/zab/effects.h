// SPDX-License-Identifier: Apache-2.0
//
// Everything that zab can ask of the world. Nothing else leaves zab.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "wire/quorum.h"
#include "wire/txn_batch.h"
#include "zab/membership.h"

namespace drover::zab {

using wire::TxnBatch;
using wire::TxnBatchPtr;

// A notification for one server. A link keeps only the newest one for each server.
struct NotificationSend {
  ServerId to{};
  wire::Notification notification;
};

// A connection on the quorum port. The host numbers the accepted ones, Peer numbers the dialled ones.
enum class LinkId : std::uint64_t {};
inline constexpr LinkId kNoLink{0};
inline constexpr std::uint64_t kDialledLinks = std::uint64_t{1} << 63;  // the bit that tells them apart

// --- the disk: orders run one after the other, each durable before the next begins. This order is what makes
// "history, then epoch, then ACK" true (ZOOKEEPER-4643, 4646, 4785): the answer to one order says that all
// earlier ones are durable.

struct AppendTxns {
  TxnBatchPtr batch;
};
enum class EpochKind { kAccepted, kCurrent };
struct SaveEpoch {
  EpochKind kind{};
  std::uint32_t epoch = 0;
  std::uint64_t history_id = 0;  // the history that the current epoch belongs to; 0: unknown
};
struct TruncateLog {
  Zxid last{};
};
// The state received from the leader replaces everything older.
struct SaveSnapshot {
  Zxid zxid{};
};
// The state in memory holds more than the files, or is half of another state. This order reads it again from
// what the files hold when its turn comes. It is queued like the other orders, because transactions logged
// after it may never be committed and must not get into the state (TRUNC, then proposals).
struct ReloadState {};
// The membership files (host/membership_files.h). A membership is saved as proposed before its transaction is
// logged, and as committed once that is known.
struct SaveMembership {
  std::shared_ptr<const Membership> membership;
  bool committed = false;
};
// The proposed membership will never be committed.
struct WithdrawMembership {};
using DiskOrder = std::variant<AppendTxns, SaveEpoch, TruncateLog, SaveSnapshot, ReloadState, SaveMembership,
                               WithdrawMembership>;

// --- the answers of the disk, in the sequence of the orders

struct TxnsDurable {
  Zxid last{};
  std::size_t orders = 1;  // how many AppendTxns this answers at once
};
struct EpochSaved {
  EpochKind kind{};
  std::uint32_t epoch = 0;
};
// Not done: the files cannot be cut there, and are unchanged. Later orders are not carried out, and not
// answered, until the history is discarded.
struct LogTruncated {
  bool done = true;
};
struct SnapshotSaved {};
struct StateReloaded {
  bool exact = true;  // the state matches the history exactly
};
struct MembershipStored {};  // answers SaveMembership and WithdrawMembership
struct HistoryDiscarded {};  // answers Effects::discard_history
using DiskAnswer = std::variant<TxnsDurable, EpochSaved, LogTruncated, SnapshotSaved, StateReloaded,
                                MembershipStored, HistoryDiscarded>;

// --- links ---

// Committed transactions that are in the log files, but not in memory any more.
struct LogRange {
  Zxid after{};
  Zxid until{};
};

struct LinkSend {
  LinkId link{};
  std::string bytes;
  // Stream the state as it is now here, before what follows. `bytes` is empty then.
  bool snapshot = false;
  // Look for these transactions in the log files, and answer with kLogReady or kNoLog. After kLogReady,
  // stream them here, behind what was sent until then and before what follows. `bytes` is empty then.
  std::optional<LogRange> log{};
};
// One attempt; answered by kUp or kDialFailed.
struct Dial {
  LinkId link{};
  ServerId server{};
  std::int64_t timeout_ms = 0;
};

// An event of a link.
struct LinkEvent {
  enum class Kind : std::uint8_t {
    kAccepted,
    kUp,  // a dialled one is connected
    kDialFailed,
    kDown,
    kTaken,      // some of what was sent on it has left
    kStateSent,  // the state or the log that a LinkSend asked for has been written to it
    kLogReady,   // the log that `LinkSend::log` asked for is there
    kNoLog       // it is not, or costs more than a snapshot; after kLogReady: the rest cannot be read
  };
  LinkId link{};
  Kind kind{};
};

// --- for the replica ---

enum class Role : std::uint8_t { kLooking, kFollowing, kLeading, kObserving };

// A packet of a peer that is not about agreement: REQUEST, REVALIDATE, SYNC, PING's sessions.
struct PeerMessage {
  LinkId link{};
  ServerId from{};
  wire::PacketType type{};
  Zxid zxid{};
  std::string data;
  std::vector<wire::Identity> identities;
};

// Events for counters; log lines describe them in words.
enum class Event : std::uint8_t {
  kElected,  // this server or another one
  kSyncedWithDiff,
  kSyncedWithLog,  // a DIFF that begins in the log files
  kSyncedWithTrunc,
  kSyncedWithSnap,
  kSecondLink,  // a learner connected again before its old link was gone
  kEpochOver,   // no zxid is left in it
  kHistoryUnknown,
  kHistoryBegins,
  kTwoHistories,
  kMadeWay,  // for a promise of a later epoch
  kLeaderContested,
  kMembershipProposed,
  kMembershipActivated,  // by a reconfiguration, a leader's NEWLEADER, or another server's word
  kHandedOver,           // this leader named another one
};

struct Effects {
  std::vector<NotificationSend> notify;
  std::vector<DiskOrder> disk;
  std::vector<LinkSend> send;  // in order for each link
  std::vector<LinkId> close;   // after what was sent
  std::optional<Dial> dial;
  std::vector<PeerMessage> messages;
  // The state that follows on this link replaces ours. Call on_snapshot_received() when it is complete.
  std::optional<LinkId> receive_snapshot;
  // The history here does not fit the leader's and cannot be cut to fit. Move it away and start as a server
  // that does not know its history (on_history_discarded).
  bool discard_history = false;
  // The peer's memberships are not what they were: links, ports and checks of addresses follow them.
  bool memberships_changed = false;
  // This server must stop and print this for its operator.
  std::optional<std::string> halt;
  std::vector<std::string> log;       // lines for the operator
  std::vector<std::string> warnings;  // lines that the operator must not miss
  std::vector<Event> events;

  std::string& to(LinkId link) {
    const bool continues =
        !send.empty() && send.back().link == link && !send.back().snapshot && !send.back().log;
    if (!continues) send.push_back({link, {}, false});
    return send.back().bytes;
  }
};

}  // namespace drover::zab
