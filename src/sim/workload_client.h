// SPDX-License-Identifier: Apache-2.0
//
// A simulated client: the real session, a workload that uses it, and the oracle that is told everything.
//
// When a session has ended it starts another one, until it is told to leave. The world carries bytes and
// time, as for any client::Session; what happens inside stays here.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/random.h"
#include "base/time.h"
#include "client/session.h"
#include "sim/oracle.h"
#include "sim/workload.h"

namespace drover::sim {

struct WorkloadClientConfig {
  std::uint64_t seed = 0;
  std::uint32_t number = 0;       // makes its values unique
  std::vector<ServerId> servers;  // what the session's indexes mean
  std::int32_t timeout_ms = 10'000;
  std::int32_t resume_timeout_max_ms = 0;  // a resumed session asks for up to this; 0: for the same
  std::int64_t step_ms = 100;              // between steps, on average
  std::size_t pipeline_max = 8;            // calls under way
  bool expire_locally = true;
  WorkloadOptions workload;
};

class WorkloadClient {
 public:
  // The oracle outlives it, and knows the time of each input.
  WorkloadClient(const WorkloadClientConfig& config, Oracle& oracle);

  // As in client::Session; effects.happened is not for the world.
  void start(Instant now, client::SessionEffects& effects);
  void on_connected(Instant now, client::SessionEffects& effects);
  void on_bytes(std::string_view bytes, Instant now, client::SessionEffects& effects);
  void on_disconnected(Instant now, client::SessionEffects& effects);
  void on_time(Instant now, client::SessionEffects& effects);
  std::optional<Instant> next_time() const;

  // No more steps; calls under way continue.
  void rest() { resting_ = true; }
  // One extra call, to check that the ensemble answers.
  void probe(wire::OpCode op, std::string_view body, Instant now, client::SessionEffects& effects);
  // Takes the session to another server. The old one is not told: a machine that changes its network leaves
  // its connections like this.
  void move(Instant now, client::SessionEffects& effects);
  // Ends the session, and starts no other.
  void leave(Instant now, client::SessionEffects& effects);

  // It has left its connection without closing it; call once after each input that hangs up.
  bool take_left_open() { return std::exchange(left_open_, false); }

  bool is_gone() const { return left_ && !session_; }
  bool is_connected() const { return session_ && !silent_until_ && session_->is_connected(); }
  SessionId session() const { return session_ ? session_->id() : SessionId{}; }
  bool is_closing() const { return session_ && session_->is_closing(); }
  // The server of the connection, or of the attempt.
  std::optional<ServerId> server() const;
  std::size_t outstanding() const { return calls_.size(); }
  std::uint64_t answered() const { return answered_; }
  std::uint64_t lost() const { return lost_; }
  std::uint64_t sessions() const { return sessions_; }

 private:
  struct Asked {
    wire::OpCode op{};
    std::string body;
    std::int32_t xid = 0;
  };

  void begin_session(Instant now, client::SessionEffects& effects);
  void end_session(Instant now);
  void step(Instant now, client::SessionEffects& effects);
  void ask_for_another_timeout(client::SessionEffects& effects);
  void vanish(Instant now);
  void call(wire::OpCode op, std::string body, Instant now, client::SessionEffects& effects);
  // Handles and removes effects.happened.
  void digest(Instant now, client::SessionEffects& effects);
  void on_completed(const client::Completed& done);
  void on_state(const client::StateChange& change);
  std::int64_t pause_ms(std::int64_t average);

  WorkloadClientConfig config_;
  Oracle& oracle_;
  Random random_;
  Workload workload_;
  std::unique_ptr<client::Session> session_;
  ClientId id_{};
  std::size_t server_ = 0;
  Instant asked_;  // when the connection began, by the oracle's clock
  bool resting_ = false;
  bool left_ = false;
  bool over_ = false;  // the session has ended
  bool left_open_ = false;
  Instant next_step_;
  Instant next_session_;
  std::optional<Instant> silent_until_;
  std::uint64_t next_token_ = 1;
  std::map<std::uint64_t, Asked> calls_;
  std::uint64_t answered_ = 0;
  std::uint64_t lost_ = 0;
  std::uint64_t sessions_ = 0;
};

}  // namespace drover::sim
