// SPDX-License-Identifier: Apache-2.0
//
// Everything that zab can ask of the world. Nothing else leaves zab.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "zab/election.h"
#include "zab/txn_batch.h"

namespace drover::zab {

// A connection on the quorum port. The host numbers the accepted ones, Peer numbers the dialled ones.
enum class LinkId : std::uint64_t {};
inline constexpr LinkId kNoLink{0};
inline constexpr std::uint64_t kDialledLinks = std::uint64_t{1} << 63;  // the bit that tells them apart

// --- the disk: orders run one after the other, each durable before the next begins. This order is what makes
// "history, then epoch, then ACK" true (ZOOKEEPER-4643, 4646, 4785): the answer to one order says that all
// earlier ones are durable.

struct AppendTxns {
  TxnBatchPtr batch;  // answered by on_durable(batch->last)
};
enum class EpochKind { kAccepted, kCurrent };
struct SaveEpoch {
  EpochKind kind{};
  std::uint32_t epoch = 0;       // answered by on_epoch_saved()
  std::uint64_t history_id = 0;  // the history that the current epoch belongs to; 0: unknown
};
struct TruncateLog {
  Zxid last{};  // answered by on_truncated(), or by on_truncate_failed(), which cancels all orders after it
};
// The state received from the leader replaces everything older. Answered by on_snapshot_saved().
struct SaveSnapshot {
  Zxid zxid{};
};
// The state in memory holds more than the files, or is half of another state. This order reads it again from
// what the files hold when its turn comes. Answered by on_state_reloaded(). It is queued like the other
// orders, because transactions logged after it may never be committed and must not get into the state (TRUNC,
// then proposals).
struct ReloadState {};
using DiskOrder = std::variant<AppendTxns, SaveEpoch, TruncateLog, SaveSnapshot, ReloadState>;

// --- links ---

struct LinkSend {
  LinkId link{};
  std::string bytes;
  // Stream the state as it is now here, before what follows. `bytes` is empty then.
  bool snapshot = false;
};
// One attempt; answered by on_link_up() or on_dial_failed().
struct Dial {
  LinkId link{};
  ServerId server{};
  std::int64_t timeout_ms = 0;
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

struct Effects {
  std::vector<NotificationSend> notify;
  std::vector<DiskOrder> disk;
  std::size_t disk_counted = 0;  // how many of them Peer already counts as open
  std::vector<LinkSend> send;    // in order for each link
  std::vector<LinkId> close;     // after what was sent
  std::optional<Dial> dial;
  std::vector<PeerMessage> messages;
  // The state that follows on this link replaces ours. Call on_snapshot_received() when it is complete.
  std::optional<LinkId> receive_snapshot;
  // The history here does not fit the leader's and cannot be cut to fit. Move it away and start as a server
  // that does not know its history (on_history_discarded).
  bool discard_history = false;
  // This server must stop and print this for its operator.
  std::optional<std::string> halt;
  std::vector<std::string> log;       // lines for the operator
  std::vector<std::string> warnings;  // lines that the operator must not miss

  std::string& to(LinkId link) {
    if (send.empty() || send.back().link != link || send.back().snapshot) send.push_back({link, {}, false});
    return send.back().bytes;
  }
};

}  // namespace drover::zab
