// SPDX-License-Identifier: Apache-2.0
#include "sim/process.h"

#include <algorithm>
#include <utility>

#include "base/ensure.h"
#include "wire/quorum.h"
#include "wire/txns.h"

namespace drover::sim {
namespace {

constexpr std::int64_t kSessionLives = std::int64_t{1} << 32;
constexpr int kTreeTurnsMax = 1000;

state::Options state_options(const Process::Parts& parts) {
  state::Options options;
  options.hash_key = {parts.world.seed(), 0};
  options.extended_types = true;
  options.txn_bytes_max = parts.plan.txn_bytes_max;
  options.reconfig_enabled = options.skip_acl = parts.plan.may_reconfigure();
  return options;
}

host::LinkLimits link_limits(const Plan& plan) {
  host::LinkLimits limits{.greeting_ms = plan.timing.sync_ms()};
  if (plan.intruder.disturbs) limits.ungreeted_max = 16;  // Its silent connections are more.
  return limits;
}

}  // namespace

Process::Process(const Parts& parts)
    : parts_(parts),
      random_(parts.world.seed() ^ (static_cast<std::uint64_t>(raw(parts.id)) << 48) ^ (parts.life * 7919)),
      machine_(state_options(parts)),
      membership_files_(parts.disk, {.static_file = kStaticFile, .me = parts.id}),
      guard_(parts.id, parts.plan.may_reconfigure(), link_limits(parts.plan)) {}

Process::~Process() {
  if (!replica_) return;
  const replica::ReplicaStats& stats = replica_->stats();
  parts_.world.count(Did::kSession, stats.sessions_created);
  parts_.world.count(Did::kExpiry, stats.sessions_expired);
  parts_.world.count(Did::kMove, stats.reconnects);
  parts_.world.count(Did::kReap, stats.containers_deleted);
  parts_.world.count(Did::kRefusedFull, stats.writes_refused_disk_full);
  parts_.world.count(Did::kRefusedLarge, stats.txns_too_large);
}

void Process::say(const std::string& what) const {
  if (parts_.world.tracing()) parts_.world.say("server " + std::to_string(raw(parts_.id)) + ": " + what);
}

void Process::end(std::string why) {
  if (why_over_) return;
  say("ends: " + why);
  why_over_ = std::move(why);
  parts_.owner.on_over();
}

bool Process::may_send() {
  if (why_over_) return false;
  if (parts_.owner.on_send()) return true;
  end("a crash point between two sends");
  return false;
}

// --- start ---

IoResult<void> Process::start() {
  TRY(recover_and_join());
  input(
      [&](replica::Member& member, replica::Effects& effects) { member.start(parts_.clock.now(), effects); });
  tick();
  if (parts_.plan.disk.purge_every > 0)
    parts_.world.after(between(random_, 0, parts_.plan.disk.purge_every), parts_.actor, [this] { purge(); });
  return {};
}

IoResult<void> Process::recover_and_join() {
  TRY_ASSIGN(auto opened, storage::DataDir::open(parts_.disk, storage::data_dirs("/data"), {}));
  data_dir_.emplace(std::move(opened));
  const storage::DataDirs& dirs = data_dir_->dirs();
  host::StartOptions options;
  options.recovery.autocreate = true;
  options.window = parts_.plan.window_of(parts_.id);
  options.is_member = !parts_.plan.standalone;
  TRY_ASSIGN(host::Start start, host::recover(parts_.disk, dirs, machine_, options, *this));
  for (const std::string& line : start.warnings) say(line);
  if (start.report.damaged()) parts_.world.count(Did::kDamageFound);
  check(start.contradictions);
  start.member.memberships = parts_.plan.membership;
  if (parts_.plan.may_reconfigure()) {
    TRY_ASSIGN(start.member.memberships,
               host::recover_memberships(membership_files_, machine_, start.member.peer));
  }
  const storage::TxnLogOptions log{.preallocate_bytes = parts_.plan.disk.preallocate_bytes,
                                   .size_limit_bytes = parts_.plan.disk.log_size_limit_bytes};
  TRY_ASSIGN(storage::Journal journal, host::open_journal(parts_.disk, dirs, start.report, log));
  if (start.member.peer.knows_history && !parts_.stranger)
    parts_.observer.on_state(parts_.id, machine_, start.member.exact);
  if (parts_.plan.standalone) parts_.observer.on_standalone(parts_.id, machine_.last_zxid);
  last_tick_ = parts_.clock.now();
  make_brain(std::move(start.member));
  log_ =
      std::make_unique<LogDevice>(parts_.world, parts_.actor, parts_.plan.disk, std::move(journal),
                                  static_cast<host::StateInMemory&>(*this),
                                  static_cast<LogDevice::Owner&>(*this), membership_files_, random_.next());
  return {};
}

void Process::make_brain(replica::MemberStart start) {
  const Plan& plan = parts_.plan;
  const auto tick_ms = static_cast<std::int32_t>(plan.timing.tick_ms);
  std::vector<replica::Front*> fronts;
  for (std::size_t i = 0; i < plan.fronts; ++i) {
    replica::FrontConfig config;
    config.session_timeout_min_ms = 2 * tick_ms;
    config.session_timeout_max_ms = 20 * tick_ms;
    if (plan.lists_in_pieces) config.children_at_once = config.children_of_piece = 1;
    fronts_.push_back(std::make_unique<replica::Front>(config, machine_));
    fronts.push_back(fronts_.back().get());
    ports_.emplace_back();
  }
  replica::ReplicaConfig config;
  config.standalone = plan.standalone;
  config.tick_ms = tick_ms;
  config.first_session =
      SessionId{raw(parts_.id) << 56 | static_cast<std::int64_t>(parts_.life) * kSessionLives};
  config.container_check_ms = 5 * tick_ms;
  config.leader_serves = plan.leader_serves;
  config.local_sessions = plan.local_sessions;
  config.local_sessions_upgrade = true;
  if (plan.standalone) {
    config.last_counter.reset();
  } else {
    config.last_counter = plan.last_counter;
  }
  replica_ = std::make_unique<replica::Replica>(config, machine_, fronts, parts_.clock.now());
  replica::MemberConfig member;
  member.peer.me = parts_.id;
  member.peer.standalone = plan.standalone;
  member.peer.observer = plan.membership.observers().contains(parts_.id);
  member.peer.reconfig_enabled = plan.may_reconfigure();
  member.reconfig.standalone_enabled = false;
  member.peer.timing = plan.timing;
  member.peer.notification_min_ms = std::max<std::int64_t>(10, plan.timing.tick_ms / 10);
  member.peer.notification_max_ms = plan.timing.tick_ms * 5;
  member.peer.finalize_ms = std::max<std::int64_t>(10, plan.timing.tick_ms / 10);
  member.peer.new_history_id = random_.next() | 1;
  member.peer.sync.use_log = plan.disk.snapshot_size_factor >= 0;
  member_ = std::make_unique<replica::Member>(member, std::move(start), *replica_, machine_, receiver_);
}

// --- inputs and effects ---

// Like the server's core: applies at once what is decided, and wakes all that wait.
void Process::settle() {
  for (int turns = 0; !why_over_ && member_->has_tree_work(); ++turns) {
    if (turns > kTreeTurnsMax)
      return parts_.world.fail("there is work on the tree, and doing it changes nothing");
    work_on_tree();
  }
  if (why_over_) return;
  for (std::size_t i = 0; i < fronts_.size(); ++i) {
    if (fronts_[i]->has_staged()) wake(i);
  }
  observe();
  arm_timer();
}

void Process::work_on_tree() {
  // Copied before, because afterwards the window may have forgotten them.
  const zab::History& history = member_->peer().history();
  std::vector<std::pair<Zxid, std::string>> entries;
  history.for_each(std::max(machine_.last_zxid, history.window_begin()),
                   std::min(history.committed(), history.durable()),
                   [&](Zxid zxid, std::string_view entry) { entries.emplace_back(zxid, entry); });
  const bool serving = member_->peer().active();
  replica::Effects effects;
  member_->work_on_tree(parts_.clock.now(), parts_.clock.wall(), effects);
  for (const auto& [zxid, entry] : entries) {
    if (zxid > machine_.last_zxid) break;
    // A leader's state that is not yet exact holds some later transactions.
    const bool newest = zxid == machine_.last_zxid && member_->is_state_exact() && !spoiled_;
    parts_.observer.on_applied(parts_.id, zxid, entry,
                               newest ? std::optional(machine_.tree.digest()) : std::nullopt, serving);
  }
  carry_out(effects);
}

void Process::observe() {
  check_that_removed_serves_nobody();
  if (is_serving() && !std::exchange(told_serving_, true)) parts_.owner.on_serving();
  if (!is_serving()) told_serving_ = false;
  const zab::Leader* leader = member_->peer().leader();
  if (parts_.plan.standalone || !leader || !is_leading() || leader->epoch() == established_) return;
  established_ = leader->epoch();
  parts_.world.count(Did::kEstablished);
  // It may already have proposed something: what it took over ends where its epoch begins.
  const Zxid begin = epoch_start(established_);
  parts_.observer.on_established(parts_.id, established_, member_->peer().history().at_or_before(begin));
}

// A server that is about to join serves, as in Java.
void Process::check_that_removed_serves_nobody() {
  const zab::Membership& members = member_->peer().membership();
  if (members.version() == 0) return;
  const bool member = members.is_member(parts_.id);
  was_member_ = was_member_ || member;
  if (was_member_ && !member && is_serving())
    parts_.world.fail("server " + std::to_string(raw(parts_.id)) + " was removed, and serves clients");
}

void Process::count(zab::Event event) {
  const auto did = [&] {
    switch (event) {
      case zab::Event::kElected: return Did::kElected;
      case zab::Event::kSyncedWithDiff: return Did::kDiff;
      case zab::Event::kSyncedWithLog: return Did::kLogDiff;
      case zab::Event::kSyncedWithTrunc: return Did::kTrunc;
      case zab::Event::kSyncedWithSnap: return Did::kSnap;
      case zab::Event::kSecondLink: return Did::kSecondLink;
      case zab::Event::kEpochOver: return Did::kEpochOver;
      case zab::Event::kHistoryUnknown: return Did::kRecovering;
      case zab::Event::kHistoryBegins: return Did::kBeginsAnew;
      case zab::Event::kTwoHistories: return Did::kParted;
      case zab::Event::kMadeWay: return Did::kMadeWay;
      case zab::Event::kMembershipProposed: return Did::kReconfigProposed;
      case zab::Event::kMembershipActivated: return Did::kReconfigActivated;
      case zab::Event::kHandedOver: return Did::kHandedOver;
      case zab::Event::kLeaderContested: break;
    }
    return Did::kContested;
  };
  parts_.world.count(did());
}

void Process::count_sweep(std::string_view entry) {
  wire::Reader r(entry);
  const wire::TxnHeader header = wire::decode_txn_header(r);
  if (header.type == wire::OpCode::kMulti && raw(header.session) == 0) parts_.world.count(Did::kSweep);
}

void Process::carry_out(replica::Effects& effects) {
  // Before any effect is sent: a server that crashes between two sends had the state that the first one
  // reports.
  parts_.observer.on_step(member_->peer());
  for (const std::string& line : effects.zab.log) say(line);
  for (const std::string& line : effects.zab.warnings) say(line);
  for (const zab::Event event : effects.zab.events) count(event);
  if (effects.halt) return end(*effects.halt);
  for (zab::DiskOrder& order : effects.zab.disk) {
    if (const auto* append = std::get_if<zab::AppendTxns>(&order)) {
      for (std::size_t i = 0; i < append->batch->size(); ++i) {
        parts_.observer.on_known(append->batch->entry(i));
        if (is_leading()) count_sweep(append->batch->entry(i));
      }
    }
    if (std::holds_alternative<zab::ReloadState>(order)) parts_.world.count(Did::kReload);
    // The leader's state is complete from here on.
    if (std::holds_alternative<zab::SaveSnapshot>(order)) {
      spoiled_ = false;
      parts_.observer.on_state(parts_.id, machine_, false);
    }
    std::visit([&](auto& each) { log_->submit(host::DiskOrder{std::move(each)}); }, order);
  }
  if (effects.zab.discard_history) {
    parts_.world.count(Did::kDiscard);
    if (parts_.plan.spoiled_states && !spoiled_ && parts_.life == 1)
      parts_.world.fail("server " + std::to_string(raw(parts_.id)) + " puts a right state away");
    parts_.owner.on_discard();
    log_->submit(host::DiscardHistory{});
  }
  for (const zab::NotificationSend& each : effects.zab.notify) {
    if (!may_send()) return;
    std::string bytes;
    wire::append_notification(bytes, each.notification);
    parts_.election.send(parts_.id, each.to, std::move(bytes));
  }
  for (const zab::LinkSend& each : effects.zab.send) send(each);
  if (why_over_) return;
  for (const zab::LinkId id : effects.zab.close) close(id);
  if (effects.zab.dial) dial(*effects.zab.dial);
  for (const replica::SessionAnswer& answer : effects.answers) {
    fronts_[static_cast<std::size_t>(answer.front)]->on_session_answer(answer);
  }
}

void Process::on_notification(ServerId from, std::string_view bytes) {
  const auto notification = wire::decode_notification(bytes);
  if (!notification) return;  // From an intruder. The real server ignores what is no notification, too.
  input([&](replica::Member& member, replica::Effects& effects) {
    member.on_notification(from, *notification, parts_.clock.now(), effects);
  });
}

void Process::on_reachable(ServerId peer, bool reachable) {
  input([&](replica::Member& member, replica::Effects&) { member.on_reachable(peer, reachable); });
}

// --- time ---

void Process::arm_timer() {
  const auto next = member_->next_time();
  if (next == timer_at_) return;
  timer_at_ = next;
  ++timer_;
  if (!next) return;
  parts_.world.after(parts_.clock.until(*next), parts_.actor, [this, timer = timer_] {
    if (timer != timer_) return;
    timer_at_.reset();
    input([&](replica::Member& member, replica::Effects& effects) {
      member.on_time(parts_.clock.now(), effects);
    });
  });
}

void Process::tick() {
  parts_.world.after(parts_.plan.timing.tick_ms * kMillisecond / 2, parts_.actor, [this] { tick(); });
  // Everything from before the last tick has been read since. Nothing is certain about what came later, for
  // example if the process was paused and everything waits in its sockets.
  const Instant heard_until = std::exchange(last_tick_, parts_.clock.now());
  for (std::size_t i = 0; i < fronts_.size(); ++i) {
    fronts_[i]->on_tick(heard_until);
    flush_front(i);
    post(i);
  }
  input([&](replica::Member& member, replica::Effects& effects) {
    member.on_tick(parts_.clock.now(), parts_.clock.wall(), effects);
  });
}

// --- answers of the disk ---

void Process::on_disk(const zab::DiskAnswer& answer) {
  if (const auto* reloaded = std::get_if<zab::StateReloaded>(&answer))
    parts_.observer.on_state(parts_.id, machine_, reloaded->exact);
  input([&](replica::Member& member, replica::Effects& effects) {
    member.on_disk(answer, parts_.clock.now(), effects);
  });
}

void Process::on_fatal(const IoError& error) { end(error.what); }

void Process::on_disk_full(bool full) {
  say(full ? "the disk is full" : "the disk has space again");
  replica_->set_disk_full(full);
}

}  // namespace drover::sim
