// SPDX-License-Identifier: Apache-2.0
//
// The oracle must accept correct runs: real sessions and a random workload against the product's front and
// replica, with connections that break, sessions that end and clients that fall silent.
#include "sim/workload_client.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "replica/front.h"
#include "replica/replica.h"

namespace drover::sim {
namespace {

constexpr ServerId kServer{1};
constexpr std::int64_t kTickMs = 500;

state::Options with_ttl_nodes() {
  state::Options options;
  options.extended_types = true;
  return options;
}

replica::FrontConfig front_config() {
  replica::FrontConfig config;
  config.session_timeout_min_ms = 2 * kTickMs;
  config.session_timeout_max_ms = 20 * kTickMs;
  return config;
}

// What a server could do wrong with a message to the client.
enum class Mischief { kNone, kLoseEvent, kDoubleEvent, kLateEvent, kWrongBody, kWrongError, kOldZxid };

std::vector<std::string> frames_of(std::string_view bytes) {
  std::vector<std::string> frames;
  while (!bytes.empty()) {
    const auto length = 4 + static_cast<std::size_t>(wire::load_be<std::int32_t>(bytes.data()));
    frames.emplace_back(bytes.substr(0, length));
    bytes.remove_prefix(length);
  }
  return frames;
}

bool is_event(std::string_view frame) { return wire::load_be<std::int32_t>(frame.data() + 4) == -1; }
// An answer to a call, with more than a header.
bool has_body(std::string_view frame) {
  return wire::load_be<std::int32_t>(frame.data() + 4) > 0 && frame.size() > 4 + wire::kReplyHeaderBytes;
}

std::string tampered(std::string_view output, Mischief mischief) {
  std::vector<std::string> frames = frames_of(output);
  for (std::size_t i = 0; i < frames.size(); ++i) {
    std::string& frame = frames[i];
    if (is_event(frame)) {
      if (mischief == Mischief::kLoseEvent) frame.clear();
      if (mischief == Mischief::kDoubleEvent) frame += frame;
      const bool followed = i + 1 < frames.size() && has_body(frames[i + 1]);
      if (mischief == Mischief::kLateEvent && followed) std::swap(frame, frames[i + 1]);
      if (!frame.empty()) continue;
      break;
    }
    if (!has_body(frame)) continue;
    if (mischief == Mischief::kWrongBody) frame.back() ^= 1;
    if (mischief == Mischief::kWrongError) {
      frame.resize(4 + wire::kReplyHeaderBytes);
      wire::store_be<std::int32_t>(frame.data(), wire::kReplyHeaderBytes);
      wire::store_be<std::int32_t>(frame.data() + 16, static_cast<std::int32_t>(ErrorCode::kNotEmpty));
    }
    if (mischief == Mischief::kOldZxid) wire::store_be<std::int64_t>(frame.data() + 8, 1);
  }
  std::string all;
  for (const std::string& frame : frames) all += frame;
  return all;
}

// A server with its clients, on virtual time.
class Town {
 public:
  Town(std::uint64_t seed, std::size_t clients, std::uint32_t reset_in)
      : random_(seed),
        reset_in_(reset_in),
        oracle({.state = with_ttl_nodes()}),
        machine_(with_ttl_nodes()),
        front_(front_config(), machine_),
        replica_({.tick_ms = kTickMs, .first_session = SessionId{1ll << 56}, .container_check_ms = 5000},
                 machine_, {&front_}, now) {
    replica::Effects effects;
    replica_.begin_leading(machine_.last_zxid, now, wall_, effects);
    carry_out(effects);
    for (std::size_t i = 0; i < clients; ++i) {
      WorkloadClientConfig config;
      config.seed = random_.next();
      config.number = static_cast<std::uint32_t>(i);
      config.servers = {kServer};
      config.timeout_ms = 4000;
      config.step_ms = 20;
      config.workload.ttl_nodes = true;
      clients_.push_back(std::make_unique<Resident>(config, oracle));
    }
  }

  void run(std::int64_t ms) {
    if (now.ms == kBegin) {
      for (auto& each : clients_) input(*each, [&](auto& c, auto& effects) { c.start(now, effects); });
    }
    for (const Instant until = now + ms; now < until;) step();
  }
  void end() {
    reset_in_ = 0;
    for (auto& each : clients_) input(*each, [&](auto& c, auto& effects) { c.leave(now, effects); });
    run(15'000);
    for (auto& each : clients_) EXPECT_TRUE(each->client.is_gone());
    oracle.on_settled(kServer, machine_);
    oracle.on_drained(kServer, machine_,
                      {front_.connection_count(), front_.watches().watch_count(), replica_.in_flight()});
  }
  std::string verdict() const {
    std::string all;
    for (const std::string& line : oracle.failures()) all += line + "\n";
    return all;
  }
  std::uint64_t answered() const {
    std::uint64_t sum = 0;
    for (const auto& each : clients_) sum += each->client.answered();
    return sum;
  }
  std::uint64_t sessions() const {
    std::uint64_t sum = 0;
    for (const auto& each : clients_) sum += each->client.sessions();
    return sum;
  }

 private:
  static constexpr std::int64_t kBegin = 1'000'000;

  struct Resident {
    Resident(const WorkloadClientConfig& config, Oracle& judge) : client(config, judge) {}
    WorkloadClient client;
    bool dialling = false;
    std::optional<replica::ConnId> conn;
    std::string to_server;
    std::string to_client;
  };

  template <class Give>
  void input(Resident& r, Give give) {
    client::SessionEffects effects;
    give(r.client, effects);
    if (effects.hang_up) hang_up(r);
    if (effects.dial) r.dialling = true;
    r.to_server += effects.send;
  }
  void hang_up(Resident& r) {
    if (r.conn) front_.close(*r.conn);
    r.conn.reset();
    r.dialling = false;
    r.to_server.clear();
    r.to_client.clear();
  }
  void break_connection(Resident& r) {
    hang_up(r);
    input(r, [&](auto& c, auto& effects) { c.on_disconnected(now, effects); });
  }

  void step() {
    now = now + 5;
    wall_.ms += 5;
    oracle.set_now(now);
    for (auto& each : clients_) serve(*each);
    if (now.ms % (kTickMs / 2) == 0) {
      front_.on_tick(now);
      replica::Effects effects;
      replica_.on_tick(now, wall_, effects);
      carry_out(effects);
    }
    exchange();
  }

  void serve(Resident& r) {
    if (r.dialling) {
      r.dialling = false;
      if (reset_in_ != 0 && random_.below(10) == 0) return break_connection(r);
      r.conn =
          front_.open({.ip = "10.0.0.1", .remote = "10.0.0.1:1", .identities = {{"ip", "10.0.0.1"}}}, now);
      input(r, [&](auto& c, auto& effects) { c.on_connected(now, effects); });
    }
    if ((r.conn || r.dialling) && reset_in_ != 0 && random_.below(reset_in_) == 0) return break_connection(r);
    const std::size_t some =
        r.to_client.size() < 2 ? r.to_client.size() : 1 + random_.below(r.to_client.size());
    if (some > 0) {
      const std::string bytes = r.to_client.substr(0, some);
      r.to_client.erase(0, some);
      input(r, [&](auto& c, auto& effects) { c.on_bytes(bytes, now, effects); });
    }
    if (const auto due = r.client.next_time(); due && *due <= now)
      input(r, [&](auto& c, auto& effects) { c.on_time(now, effects); });
    if (r.conn) r.to_server.erase(0, front_.on_bytes(*r.conn, r.to_server, now));
  }

  void carry_out(replica::Effects& effects) {
    for (const replica::Ordered& next : effects.ordered) {
      if (next.is_sync()) {
        replica_.set_sync_ticket(++syncs_);
        replica_.set_released_syncs(syncs_);
        continue;
      }
      replica_.add_unapplied(next.batch, now);
      log_.push_back(next.batch);
    }
    for (const replica::SessionAnswer& answer : effects.answers) front_.on_session_answer(answer);
  }

  void exchange() {
    front_.collect();
    replica::ToReplica batch = std::exchange(front_.outbox(), replica::ToReplica{});
    replica::Effects effects;
    replica_.on_front(replica::FrontId{0}, batch, now, wall_, effects);
    carry_out(effects);
    if (random_.below(3) == 0) make_durable();
    if (replica_.has_answers()) replica_.on_committed(machine_.last_zxid, now);
    front_.collect();
    for (auto& each : clients_) take_output(*each);
  }

  void make_durable() {
    for (const replica::TxnBatchPtr& batch : std::exchange(log_, {})) {
      replica_.on_committed(batch->last, now);
      for (std::size_t i = 0; i < batch->size(); ++i) {
        const bool is_last = i + 1 == batch->size();
        oracle.on_applied(kServer, wire::zxid_of_entry(batch->entry(i)), batch->entry(i),
                          is_last ? std::optional(machine_.tree.digest()) : std::nullopt, true);
      }
    }
  }

  void take_output(Resident& r) {
    if (!r.conn) return;
    std::string output = std::exchange(front_.output(*r.conn), {});
    const bool in_session = !r.to_client.empty() || r.client.is_connected();
    if (mischief != Mischief::kNone && in_session && random_.below(20) == 0)
      output = tampered(output, mischief);
    r.to_client += output;
    if (!front_.closing(*r.conn)) return;
    front_.close(*r.conn);
    r.conn.reset();
    const std::string rest = std::exchange(r.to_client, {});
    input(r, [&](auto& c, auto& effects) { c.on_bytes(rest, now, effects); });
    if (!r.conn && !r.dialling) input(r, [&](auto& c, auto& effects) { c.on_disconnected(now, effects); });
  }

  Random random_;
  std::uint32_t reset_in_;

 public:
  Oracle oracle;
  Instant now{kBegin};
  Mischief mischief = Mischief::kNone;

 private:
  WallTime wall_{1'700'000'000'000};
  state::Machine machine_;
  replica::Front front_;
  replica::Replica replica_;
  std::vector<replica::TxnBatchPtr> log_;
  std::uint64_t syncs_ = 0;
  std::vector<std::unique_ptr<Resident>> clients_;
};

TEST(WorkloadClient, CorrectServerPassesTheChecks) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    Town town(seed, 4, /*reset_in=*/0);
    town.run(20'000);
    EXPECT_GT(town.answered(), 1000u);
    town.end();
    ASSERT_TRUE(town.oracle.ok()) << "seed " << seed << "\n" << town.verdict();
  }
}

TEST(WorkloadClient, ConnectionsMayBreakAtAnyTime) {
  for (std::uint64_t seed = 100; seed < 115; ++seed) {
    Town town(seed, 5, /*reset_in=*/150);
    town.run(30'000);
    EXPECT_GT(town.answered(), 1000u);
    EXPECT_GT(town.sessions(), 5u) << "some were closed, fell silent or expired";
    town.end();
    ASSERT_TRUE(town.oracle.ok()) << "seed " << seed << "\n" << town.verdict();
  }
}

TEST(WorkloadClient, ServerThatSometimesMisbehavesIsDetected) {
  for (const Mischief mischief : {Mischief::kLoseEvent, Mischief::kDoubleEvent, Mischief::kLateEvent,
                                  Mischief::kWrongBody, Mischief::kWrongError, Mischief::kOldZxid}) {
    Town town(3, 4, /*reset_in=*/1000);
    town.mischief = mischief;
    town.run(20'000);
    EXPECT_FALSE(town.oracle.ok()) << "mischief " << static_cast<int>(mischief);
  }
}

TEST(WorkloadClient, TheSameSeedGivesTheSameRun) {
  Town one(7, 3, 100);
  Town two(7, 3, 100);
  one.run(10'000);
  two.run(10'000);
  EXPECT_EQ(one.answered(), two.answered());
  EXPECT_EQ(one.oracle.last_committed(), two.oracle.last_committed());
  EXPECT_EQ(one.oracle.model().machine().tree.digest(), two.oracle.model().machine().tree.digest());
}

}  // namespace
}  // namespace drover::sim
