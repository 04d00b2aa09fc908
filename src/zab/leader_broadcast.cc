// SPDX-License-Identifier: Apache-2.0
//
// Proposals out, acknowledgements in, commits in order.
#include <algorithm>

#include "base/ensure.h"
#include "wire/quorum.h"
#include "wire/txn_limits.h"
#include "zab/leader.h"
#include "zab/ping_promise.h"

namespace drover::zab {

using wire::PacketType;

void Leader::propose(TxnBatchPtr batch, Instant, Effects& effects) {
  ENSURE(phase_ == Phase::kBroadcast, "only an established leader proposes");
  // A standalone server has no epochs: its counter may overflow into the epoch, as in Java.
  if (config_.standalone) epoch_ = epoch_of(batch->last);
  ENSURE(config_.standalone || (epoch_of(batch->first) == epoch_ && epoch_of(batch->last) == epoch_),
         "a leader proposes in its own epoch");
  for (std::size_t i = 0; i < batch->size(); ++i) {
    const std::size_t bytes = batch->entry(i).size();
    ENSURE(bytes <= wire::kTxnBytesMax, "every server can read every transaction");
    sizes_.last = bytes;
    sizes_.min = sizes_.max == 0 ? bytes : std::min(sizes_.min, bytes);
    sizes_.max = std::max(sizes_.max, bytes);
  }
  see_reconfig(*batch, effects);
  if (has_learners()) send_proposals(*batch, effects);
  counts_.proposals += batch->size();
  history_.append(batch);
  effects.disk.emplace_back(AppendTxns{std::move(batch)});
}

bool Leader::has_learners() const {
  return std::ranges::any_of(learners_, [](const auto& each) { return each.second.is_forwarded_to(); });
}

void Leader::send_proposals(const TxnBatch& batch, Effects& effects) {
  std::string packets;
  packets.reserve(batch.bytes.size() + batch.size() * 24);
  for (std::size_t i = 0; i < batch.size(); ++i) {
    wire::append_packet(packets, PacketType::kProposal, Zxid{raw(batch.first) + static_cast<std::int64_t>(i)},
                        batch.entry(i));
  }
  for (auto& [link, learner] : learners_) {
    if (!learner.is_forwarded_to() || learner.observer) continue;
    effects.to(link).append(packets);
    learner.traffic.packets_sent += batch.size();
  }
}

void Leader::on_durable(Instant now, Effects& effects) {
  if (!over()) commit_ready(now, effects);
}

bool Leader::was_proposed(Zxid zxid) const { return epoch_of(zxid) == epoch_ && zxid <= history_.last(); }

void Leader::on_ack(LearnerLink& learner, Zxid zxid, Instant now, Effects& effects) {
  if (counter_of(zxid) == 0) return;  // ACK of NEWLEADER, repeated after UPTODATE
  if (learner.observer) return drop(learner.link, "an observer acknowledges proposals", effects);
  if (zxid <= learner.acked) return;  // Late: others have decided without it.
  if (!was_proposed(zxid))
    return drop(learner.link,
                "it acknowledged a transaction that was never proposed, so it follows another history",
                effects);
  learner.acked = zxid;
  commit_ready(now, effects);
}

bool Leader::has_quorum(Zxid zxid) const {
  ServerSet have;
  for (const auto& [link, learner] : learners_) {
    if (learner.voter && learner.stage >= Stage::kSynced && learner.acked >= zxid)
      have.insert(learner.server);
  }
  if (history_.durable() >= zxid) have.insert(config_.me);
  return memberships_.is_quorum_for(zxid, have);
}

// The latest transaction that is on the disks of a quorum.
Zxid Leader::ready_to_commit() const {
  if (config_.standalone) return history_.durable();
  std::vector<Zxid> candidates{history_.durable()};
  // Proposals before a reconfiguration do not need the new members.
  const auto& next = memberships_.proposed();
  if (next && counter_of(Zxid{next->version()}) > 1) candidates.push_back(Zxid{next->version() - 1});
  for (const auto& [link, learner] : learners_) {
    if (learner.voter) candidates.push_back(learner.acked);
  }
  std::sort(candidates.begin(), candidates.end(), std::greater<>());
  const auto ready =
      std::find_if(candidates.begin(), candidates.end(), [&](Zxid z) { return has_quorum(z); });
  return ready == candidates.end() ? history_.committed() : std::min(*ready, history_.last());
}

// Commits strictly in zxid order. Nothing is committed before we are established: until then only the ACK of
// NEWLEADER counts. A sync keeps its place between the proposals before it and after it.
void Leader::commit_ready(Instant now, Effects& effects) {
  if (phase_ != Phase::kBroadcast) return;
  const Zxid ready = history_.committed() == history_.last() ? history_.last() : ready_to_commit();
  for (;;) {
    const Zxid until = syncs_.empty() ? ready : std::min(ready, syncs_.front().after);
    if (until > history_.committed()) commit_until(until, now, effects);
    if (phase_ != Phase::kBroadcast) return;
    if (syncs_.empty() || confirmed_ < syncs_.front().ticket) return;
    if (history_.committed() < syncs_.front().after) return;
    const Sync answered = syncs_.front();
    syncs_.pop_front();
    released_ = answered.ticket;
    const auto asking = answered.asking ? learners_.find(*answered.asking) : learners_.end();
    if (asking == learners_.end()) continue;
    ++asking->second.traffic.packets_sent;
    wire::append_packet(effects.to(*answered.asking), PacketType::kSync, Zxid{0});
  }
}

void Leader::commit_until(Zxid until, Instant now, Effects& effects) {
  if (activates(until)) {
    const Zxid reconfig{memberships_.proposed()->version()};
    const Zxid before{raw(reconfig) - 1};
    if (counter_of(before) > 0 && before > history_.committed()) commit_plain(before, effects);
    activate(now, effects);
    // The next leader commits the later transactions.
    if (phase_ != Phase::kBroadcast || until == reconfig) return;
  }
  commit_plain(until, effects);
}

void Leader::commit_plain(Zxid until, Effects& effects) {
  ENSURE(config_.standalone || epoch_of(until) == epoch_, "a leader commits only what it proposed itself");
  const Zxid before = std::max(history_.committed(), epoch_start(epoch_of(until)));
  counts_.commits += static_cast<std::uint64_t>(raw(until) - raw(before));
  if (has_learners()) send_commits(until, effects);
  history_.set_committed(until);
}

void Leader::send_commits(Zxid until, Effects& effects) {
  std::string commits;
  std::string informs;
  std::uint64_t committed = 0;
  const bool has_observers = std::any_of(learners_.begin(), learners_.end(), [](const auto& each) {
    return each.second.observer && each.second.is_forwarded_to();
  });
  history_.for_each(history_.committed(), until, [&](Zxid zxid, std::string_view entry) {
    wire::append_packet(commits, PacketType::kCommit, zxid);
    ++committed;
    if (has_observers) wire::append_packet(informs, PacketType::kInform, zxid, entry);
  });
  for (auto& [link, learner] : learners_) {
    if (!learner.is_forwarded_to()) continue;
    effects.to(link).append(learner.observer ? informs : commits);
    learner.traffic.packets_sent += committed;
  }
}

// --- pings ---

void Leader::ping_all(Instant, Effects& effects) {
  const bool promises = config_.timing.silence_limit_ms > 0;
  const std::string promise = promises ? encode_ping_promise(config_.timing.ping_ms()) : "";
  const wire::Nullable data = promises ? wire::Nullable(promise) : wire::Nullable();
  for (auto& [link, learner] : learners_) {
    if (learner.stage != Stage::kActive) continue;
    ++learner.pings_sent;
    ++learner.traffic.packets_sent;
    wire::append_packet(effects.to(link), PacketType::kPing, history_.last(), data);
  }
}

// These learners have everything that they need, or wait for others. But a learner that hears nothing for
// initLimit looks for another leader. Learners do not answer these pings (Java's neither), so they are not
// counted.
void Leader::reassure_synchronising(Effects& effects) {
  for (auto& [link, learner] : learners_) {
    if (learner.stage != Stage::kSyncing && learner.stage != Stage::kSynced) continue;
    ++learner.traffic.packets_sent;
    wire::append_packet(effects.to(link), PacketType::kPing, history_.last());
  }
}

void Leader::on_ping_reply(LearnerLink& learner, const wire::QuorumPacket& packet, Effects& effects) {
  if (learner.pings_answered == learner.pings_sent)
    return drop(learner.link, "it answered a ping that was never sent", effects);
  ++learner.pings_answered;
  if (packet.data && !packet.data->empty()) {
    effects.messages.push_back(
        {learner.link, learner.server, packet.type, packet.zxid, std::string(*packet.data), {}});
  }
}

std::uint64_t Leader::sync(std::optional<LinkId> asking, Instant now, Effects& effects) {
  syncs_.push_back({++asked_, history_.last(), asking});
  if (round_for_ == 0) begin_confirmation(now, effects);
  return asked_;
}

// A follower answers pings in order, and only while it follows us. So an answer to a ping that was sent after
// the question proves that it followed us after the question was asked.
void Leader::begin_confirmation(Instant now, Effects& effects) {
  round_for_ = asked_;
  ping_all(now, effects);
  round_pings_.clear();
  join_confirmation();
  check_confirmation(now, effects);
}

// Learners that no ping of this round has reached yet take part with the last ping that they were sent.
void Leader::join_confirmation() {
  if (round_for_ == 0) return;
  for (const auto& [link, learner] : learners_) {
    if (learner.stage == Stage::kActive && learner.voter) round_pings_.emplace(link, learner.pings_sent);
  }
}

void Leader::check_confirmation(Instant now, Effects& effects) {
  if (round_for_ == 0 || over()) return;
  ServerSet answered;
  for (const auto& [link, ping] : round_pings_) {
    const auto found = learners_.find(link);
    if (found != learners_.end() && found->second.pings_answered >= ping)
      answered.insert(found->second.server);
  }
  if (!is_quorum_with_me(answered)) return;
  confirmed_ = round_for_;
  round_for_ = 0;
  commit_ready(now, effects);
  if (asked_ > confirmed_) begin_confirmation(now, effects);
}

}  // namespace drover::zab
