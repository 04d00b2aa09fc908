// SPDX-License-Identifier: Apache-2.0
//
// One server of an ensemble; the fuzzer plays the other members. It is the product's Member with everything
// below and above it, and a disk that works only on command. Nothing happens by itself.
//
// Whatever the others send, the server may close their links and look for another leader. It must not
// terminate, wait for more than a packet can hold, or send anything that is not a packet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/ensure.h"
#include "fuzzed_disk.h"
#include "replica/front.h"
#include "replica/member.h"
#include "replica/replica.h"
#include "wire/quorum.h"
#include "wire/requests.h"
#include "wire/txns.h"

namespace drover::fuzz {

using zab::LinkId;

constexpr ServerId kElected{3};  // the elected leader
constexpr std::uint32_t kEpoch = 4;
constexpr int kTurnsMax = 1000;

constexpr Zxid zxid_of(std::uint32_t epoch, std::uint32_t counter) {
  return Zxid{static_cast<std::int64_t>(static_cast<std::uint64_t>(epoch) << 32U | counter)};
}

// A log entry with a valid header and any record after it.
inline std::string entry_of(Zxid zxid, wire::OpCode type, std::string_view record) {
  std::string out;
  wire::Writer w(out);
  wire::encode(w, wire::TxnHeader{SessionId{7}, 1, zxid, 1000, type});
  w.raw(record);
  return out;
}

// The bytes of an input, read from the front; zeros at the end.
class Bytes {
 public:
  explicit Bytes(std::string_view bytes) : rest_(bytes) {}
  std::uint8_t byte() {
    if (rest_.empty()) return 0;
    const auto value = static_cast<std::uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    return value;
  }
  // Reads a length byte, then that many bytes.
  std::string_view counted() {
    const std::size_t length = byte();
    const std::string_view taken = rest_.substr(0, length);
    rest_.remove_prefix(taken.size());
    return taken;
  }
  // A zxid near those of `epoch`, or far outside the possible range.
  Zxid zxid(std::uint32_t epoch) {
    const auto delta = static_cast<std::int8_t>(byte());
    const std::uint32_t counter = byte();
    if (delta == 127) return zxid_of(0x7fff'ffff, counter);
    if (delta == -128) return zxid_of(0xffff'ffff, 0xffff'ff00U | counter);
    return zxid_of(epoch + static_cast<std::uint32_t>(delta), counter);
  }
  std::string_view rest() const { return rest_; }
  bool empty() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

class LoneMember {
 public:
  struct Options {
    ServerId me{};
    bool fresh = false;   // false: it has a short history of epoch kEpoch
    bool at_once = true;  // the disk executes orders immediately
  };

  explicit LoneMember(const Options& options);

  // --- actions of the other members ---
  void notify(ServerId from, const wire::Notification& notification);
  // Both other voters vote for `kElected`.
  void elect();
  void accept(LinkId link);
  void hang_up(LinkId link);
  void say(LinkId link, std::string_view bytes);
  void packet(LinkId link, wire::PacketType type, Zxid zxid, const wire::Nullable& data = {});
  void state_sent(LinkId link);

  // --- time, disk and clients ---
  void pass(std::int64_t ms);
  void work_disk(int orders);
  // A frame from a client; the first one is its handshake.
  void client(std::string_view frame);

  const zab::Peer& peer() const { return member_->peer(); }
  bool is_open(LinkId link) const { return links_.contains(link); }
  std::optional<LinkId> dialled() const { return dialled_; }
  // Its files can no longer be read, or it stopped with a message.
  bool is_over() const { return over_; }
  std::string state() { return streamed(machine_); }
  Zxid last() const { return peer().history().last(); }

 private:
  struct Discard {};
  using Order = std::variant<zab::AppendTxns, zab::SaveEpoch, zab::TruncateLog, zab::SaveSnapshot,
                             zab::ReloadState, zab::SaveMembership, zab::WithdrawMembership, Discard>;

  template <class Run>
  void input(Run run);
  void carry_out(replica::Effects& effects);
  void order(replica::Effects& effects);
  void send(const zab::LinkSend& send);
  void settle();
  void answer(const Order& order, replica::Effects& effects);
  void exchange_with_client();
  static zab::Membership membership();
  void begin(const Options& options);

  state::Machine machine_{state::Options{}};
  replica::Front front_{replica::FrontConfig{}, machine_};
  std::optional<replica::Replica> replica_;
  Receiver receiver_;
  std::optional<replica::Member> member_;
  Disk disk_{machine_};
  std::deque<Order> orders_;
  bool at_once_;
  bool working_ = false;
  bool refusing_ = false;
  bool over_ = false;
  std::map<LinkId, std::string> links_;  // with received bytes that are not consumed yet
  std::set<LinkId> streams_;             // links with a state transfer in progress
  std::optional<LinkId> dialled_;
  std::optional<replica::ConnId> conn_;
  Instant now_{1'000'000};
};

inline LoneMember::LoneMember(const Options& options) : at_once_(options.at_once) { begin(options); }

inline zab::Membership LoneMember::membership() {
  zab::Membership m;
  for (const std::int64_t id : {1, 2, 3}) m.add({.id = ServerId{id}});
  m.add({.id = ServerId{4}, .type = zab::PeerType::kObserver});
  return m;
}

inline void LoneMember::begin(const Options& options) {
  replica::MemberStart start;
  start.memberships = zab::Memberships(membership());
  start.peer.fresh = options.fresh;
  if (!options.fresh) {
    start.peer.accepted_epoch = start.peer.current_epoch = kEpoch;
    for (std::uint32_t counter = 1; counter <= 3; ++counter) {
      zab::TxnBatch batch;
      const Zxid zxid = zxid_of(kEpoch, counter);
      batch.add(zxid, entry_of(zxid, wire::OpCode::kCreateSession, std::string_view("\0\0\x10\0", 4)));
      disk_.append(batch);
      start.history.replay(zxid, batch.entry(0));
    }
  }
  start.exact = disk_.reload().value_or(false);
  replica::ReplicaConfig config;
  config.tick_ms = 100;
  config.first_session = SessionId{raw(options.me) << 56};
  config.container_check_ms = 1000;
  replica_.emplace(config, machine_, std::vector<replica::Front*>{&front_}, now_);
  replica::MemberConfig member;
  member.peer.me = options.me;
  member.peer.observer = membership().observers().contains(options.me);
  member.peer.timing = {.tick_ms = 100, .init_limit_ticks = 10, .sync_limit_ticks = 5};
  member.from_leader = {.data_bytes_max = kRecordBytesMax, .identities_max = 8, .identities_bytes_max = 1024};
  member.from_learners = member.from_leader;
  member_.emplace(member, std::move(start), *replica_, machine_, receiver_);
  input([&](replica::Effects& effects) { member_->start(now_, effects); });
}

// --- inputs ---

template <class Run>
void LoneMember::input(Run run) {
  if (over_) return;
  replica::Effects effects;
  run(effects);
  carry_out(effects);
  settle();
}

inline void LoneMember::notify(ServerId from, const wire::Notification& notification) {
  input([&](replica::Effects& effects) { member_->on_notification(from, notification, now_, effects); });
}

inline void LoneMember::elect() {
  if (peer().role() != zab::Role::kLooking) return;
  wire::Notification vote;
  vote.leader = kElected;
  vote.zxid = std::max(last(), peer().election().proposal().zxid);
  vote.round = peer().election().round();
  vote.peer_epoch = std::max<std::int64_t>(peer().current_epoch(), peer().election().proposal().peer_epoch);
  for (const ServerId from : {ServerId{1}, ServerId{2}, ServerId{3}}) {
    if (from != peer().config().me) notify(from, vote);
  }
  pass(300);
}

inline void LoneMember::accept(LinkId link) {
  if (!links_.emplace(link, "").second) return;
  input([&](replica::Effects& effects) {
    member_->on_link({link, zab::LinkEvent::Kind::kAccepted}, now_, effects);
  });
}

inline void LoneMember::hang_up(LinkId link) {
  if (links_.erase(link) == 0) return;
  streams_.erase(link);
  input([&](replica::Effects& effects) {
    member_->on_link({link, zab::LinkEvent::Kind::kDown}, now_, effects);
  });
}

inline void LoneMember::say(LinkId link, std::string_view bytes) {
  const auto found = links_.find(link);
  if (found == links_.end()) return;
  found->second.append(bytes);
  for (int turns = 0; links_.contains(link) && !links_[link].empty(); ++turns) {
    ENSURE(turns < kTurnsMax, "bytes come to an end");
    // Processing the bytes may close the link.
    const std::string all = std::exchange(links_[link], "");
    std::size_t taken = 0;
    input([&](replica::Effects& effects) {
      taken = member_->on_link_bytes(link, all, now_, WallTime{now_.ms}, effects);
    });
    ENSURE(taken <= all.size(), "no more is taken than there is");
    if (!links_.contains(link) || over_) return;
    links_[link] = all.substr(taken);
    if (taken > 0) continue;
    ENSURE(all.size() <= 4 * kRecordBytesMax, "no more is waited for than a packet or record may take");
    return;
  }
}

inline void LoneMember::packet(LinkId link, wire::PacketType type, Zxid zxid, const wire::Nullable& data) {
  std::string bytes;
  wire::append_packet(bytes, type, zxid, data);
  say(link, bytes);
}

inline void LoneMember::state_sent(LinkId link) {
  if (streams_.erase(link) == 0) return;
  input([&](replica::Effects& effects) {
    member_->on_link({link, zab::LinkEvent::Kind::kStateSent}, now_, effects);
  });
}

inline void LoneMember::pass(std::int64_t ms) {
  now_ = now_ + ms;
  front_.on_tick(now_);
  exchange_with_client();
  input([&](replica::Effects& effects) { member_->on_time(now_, effects); });
  input([&](replica::Effects& effects) { member_->on_tick(now_, WallTime{now_.ms}, effects); });
}

inline void LoneMember::client(std::string_view frame) {
  if (conn_ && (front_.closing(*conn_) || frame.empty())) {
    front_.close(*conn_);
    conn_.reset();
  }
  std::string bytes;
  if (!conn_) {
    conn_ = front_.open({"127.0.0.1", "127.0.0.1:1", {{"ip", "127.0.0.1"}}}, now_);
    wire::ConnectRequest request;
    request.timeout_ms = 1000;
    request.password = "0123456789abcdef";
    std::string handshake;
    wire::Writer w(handshake);
    wire::encode(w, request);
    wire::Writer(bytes).string(handshake);
  }
  if (!frame.empty()) wire::Writer(bytes).string(frame);
  (void)front_.on_bytes(*conn_, bytes, now_);
  exchange_with_client();
}

inline void LoneMember::exchange_with_client() {
  front_.collect();
  if (conn_) {
    front_.output(*conn_).clear();
    front_.on_sent(*conn_);
  }
  replica::ToReplica batch = std::exchange(front_.outbox(), replica::ToReplica{});
  input([&](replica::Effects& effects) {
    member_->on_front(replica::FrontId{0}, batch, now_, WallTime{now_.ms}, effects);
  });
}

// --- effects ---

inline void LoneMember::settle() {
  for (int turns = 0; member_->has_tree_work(); ++turns) {
    ENSURE(turns < kTurnsMax, "work on the tree comes to an end");
    replica::Effects effects;
    member_->work_on_tree(now_, WallTime{now_.ms}, effects);
    carry_out(effects);
  }
  while (at_once_ && !working_ && !orders_.empty() && !over_) work_disk(1);
}

inline void LoneMember::carry_out(replica::Effects& effects) {
  for (const zab::NotificationSend& each : effects.zab.notify)
    ENSURE(each.to != peer().config().me, "nothing is sent to oneself");
  for (const zab::LinkSend& each : effects.zab.send) send(each);
  for (const LinkId link : effects.zab.close) {
    links_.erase(link);
    streams_.erase(link);
    if (dialled_ == link) dialled_.reset();
  }
  for (const replica::SessionAnswer& answer : effects.answers) front_.on_session_answer(answer);
  if (effects.halt || effects.zab.halt) over_ = true;
  order(effects);
  if (!effects.zab.dial) return;
  // The elected server is always reachable.
  dialled_ = effects.zab.dial->link;
  links_.emplace(*dialled_, "");
  input([&, link = *dialled_](replica::Effects& more) {
    member_->on_link({link, zab::LinkEvent::Kind::kUp}, now_, more);
  });
}

inline void LoneMember::send(const zab::LinkSend& send) {
  if (!links_.contains(send.link)) return;
  if (send.snapshot) {
    streams_.insert(send.link);
    return;
  }
  std::string_view bytes = send.bytes;
  wire::QuorumPacket packet;
  while (!bytes.empty()) {
    const wire::DecodedPacket decoded = wire::decode_packet(bytes, {}, packet);
    ENSURE(decoded.status == wire::Decoded::kComplete, "only complete packets are sent");
    bytes.remove_prefix(decoded.bytes);
  }
}

inline void LoneMember::order(replica::Effects& effects) {
  for (zab::DiskOrder& each : effects.zab.disk)
    std::visit([&](auto& order) { orders_.emplace_back(std::move(order)); }, each);
  if (effects.zab.discard_history) orders_.emplace_back(Discard{});
}

inline void LoneMember::work_disk(int orders) {
  working_ = true;
  for (; orders > 0 && !orders_.empty() && !over_; --orders) {
    const Order order = std::move(orders_.front());
    orders_.pop_front();
    // A truncation that failed cancels all orders until the history is discarded.
    if (refusing_ && !std::holds_alternative<Discard>(order)) continue;
    input([&](replica::Effects& effects) { answer(order, effects); });
  }
  working_ = false;
}

inline void LoneMember::answer(const Order& order, replica::Effects& effects) {
  if (const auto* append = std::get_if<zab::AppendTxns>(&order)) {
    disk_.append(*append->batch);
    member_->on_disk(zab::TxnsDurable{append->batch->last}, now_, effects);
  } else if (const auto* save = std::get_if<zab::SaveEpoch>(&order)) {
    member_->on_disk(zab::EpochSaved{save->kind, save->epoch}, now_, effects);
  } else if (const auto* cut = std::get_if<zab::TruncateLog>(&order)) {
    refusing_ = !disk_.truncate(cut->last);
    member_->on_disk(zab::LogTruncated{.done = !refusing_}, now_, effects);
  } else if (const auto* snapshot = std::get_if<zab::SaveSnapshot>(&order)) {
    disk_.replace(snapshot->zxid);
    member_->on_disk(zab::SnapshotSaved{}, now_, effects);
  } else if (std::holds_alternative<zab::ReloadState>(order)) {
    const auto exact = disk_.reload();
    over_ = !exact;
    if (exact) member_->on_disk(zab::StateReloaded{*exact}, now_, effects);
  } else if (std::holds_alternative<Discard>(order)) {
    disk_.discard();
    refusing_ = false;
    member_->on_disk(zab::HistoryDiscarded{}, now_, effects);
  } else {
    member_->on_disk(zab::MembershipStored{}, now_, effects);
  }
}

}  // namespace drover::fuzz
