// SPDX-License-Identifier: Apache-2.0
//
// A leader for tests; the test plays its learners, disk and clock. Server 1 leads; the link of server n is n.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "zab/leader.h"
#include "zab/testing.h"

namespace drover::zab::testing {

inline constexpr Timing kShort{.tick_ms = 100, .init_limit_ticks = 10, .sync_limit_ticks = 5};

struct LeadingOptions {
  Membership membership = voters(3, 1);
  zab::History log = history(zx(4, 0), {zx(4, 1), zx(4, 2), zx(4, 3)});
  bool disk_answers_at_once = true;
  std::size_t kept_bytes_max = LeaderConfig{}.kept_bytes_max;
  SyncSettings sync{};
  std::uint32_t current_epoch = 4;
  std::uint32_t accepted_epoch = 4;
  std::uint64_t new_history_id = 0;
};

// The leader has promised and synchronised with epoch 4, so the next epoch is 5.
class Leading {
 public:
  explicit Leading(const LeadingOptions& options = {})
      : membership_(options.membership),
        disk_answers_at_once_(options.disk_answers_at_once),
        h(options.log),
        leader(LeaderConfig{.me = ServerId{1},
                            .timing = kShort,
                            .sync = options.sync,
                            .kept_bytes_max = options.kept_bytes_max,
                            .new_history_id = options.new_history_id},
               membership_, h,
               Leader::Epochs{.accepted = options.accepted_epoch, .current = options.current_epoch}, now,
               effects) {
    settle();
  }

  // --- packets of learners; `server` is also the number of its link ---
  Leading& connect(std::int64_t server) {
    leader.on_link_accepted(link(server), now, effects);
    return *this;
  }
  Leading& say(std::int64_t server, wire::PacketType type, Zxid zxid, const wire::Nullable& data = {}) {
    leader.on_packet(link(server), {type, zxid, data}, now, effects);
    return settle();
  }
  Leading& greet(std::int64_t server, std::uint32_t accepted = 4,
                 wire::PacketType type = wire::PacketType::kFollowerInfo) {
    return say(server, type, zx(accepted, 0), wire::encode(wire::LearnerInfo{.server = ServerId{server}}));
  }
  Leading& promise(std::int64_t server, Zxid last, std::int32_t current = 4) {
    return say(server, wire::PacketType::kAckEpoch, last, wire::encode_int(current));
  }
  Leading& ack(std::int64_t server, Zxid zxid) { return say(server, wire::PacketType::kAck, zxid); }
  Leading& answer_ping(std::int64_t server) {
    return say(server, wire::PacketType::kPing, h.last(), std::string_view{});
  }

  // --- shortcuts ---
  // All steps before its ACK of NEWLEADER.
  Leading& bring(std::int64_t server, Zxid last = zx(4, 3)) {
    return connect(server).greet(server).promise(server, last);
  }
  Leading& join(std::int64_t server) { return bring(server).ack(server, zx(5, 0)); }
  Leading& join_observer(std::int64_t server) {
    connect(server).greet(server, 4, wire::PacketType::kObserverInfo);
    return promise(server, zx(4, 3)).ack(server, zx(5, 0));
  }
  // Reaches broadcast with these servers.
  Leading& with(const std::vector<std::int64_t>& servers) {
    for (const std::int64_t server : servers) connect(server).greet(server);
    for (const std::int64_t server : servers) promise(server, zx(4, 3));
    for (const std::int64_t server : servers) ack(server, zx(5, 0));
    return forget();
  }
  Leading& propose(std::uint32_t counter) {
    leader.propose(batch({zx(5, counter)}), now, effects);
    return settle();
  }

  // --- the disk and the clock ---
  Leading& saved(EpochKind kind, std::uint32_t epoch) {
    leader.on_epoch_saved(kind, epoch, now, effects);
    return *this;
  }
  Leading& durable(Zxid zxid) {
    h.set_durable(zxid);
    leader.on_durable(now, effects);
    return *this;
  }
  Leading& wait(std::int64_t ms) {
    now = now + ms;
    leader.on_time(now, effects);
    return *this;
  }

  // --- the results since the last forget() ---
  Leading& forget() {
    effects = {};
    seen_ = 0;
    return *this;
  }
  Story sent(std::int64_t server) const { return sent_to(link(server), effects); }
  Story orders() const { return ordered(effects); }
  bool closed(std::int64_t server) const {
    return std::find(effects.close.begin(), effects.close.end(), link(server)) != effects.close.end();
  }
  static LinkId link(std::int64_t server) { return LinkId{static_cast<std::uint64_t>(server)}; }

 private:
  Leading& settle() {
    for (; disk_answers_at_once_ && seen_ < effects.disk.size(); ++seen_) {
      const DiskOrder order = effects.disk[seen_];
      if (const auto* save = std::get_if<SaveEpoch>(&order)) saved(save->kind, save->epoch);
      if (const auto* append = std::get_if<AppendTxns>(&order)) durable(append->batch->last);
    }
    return *this;
  }

  Memberships membership_;
  bool disk_answers_at_once_;
  std::size_t seen_ = 0;

 public:
  zab::History h;
  Instant now{1000};
  Effects effects;
  Leader leader;
};

}  // namespace drover::zab::testing
