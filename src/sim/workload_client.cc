// SPDX-License-Identifier: Apache-2.0
#include "sim/workload_client.h"

#include <algorithm>
#include <utility>

#include "base/ensure.h"
#include "wire/jute.h"

namespace drover::sim {

using client::Outcome;
using client::SessionState;

WorkloadClient::WorkloadClient(const WorkloadClientConfig& config, Oracle& oracle)
    : config_(config),
      oracle_(oracle),
      random_(config.seed),
      workload_(random_.next(), config.number, config.workload) {}

std::int64_t WorkloadClient::pause_ms(std::int64_t average) {
  return 1 + static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(2 * average)));
}

void WorkloadClient::start(Instant now, client::SessionEffects& effects) {
  ENSURE(!session_, "a client starts once");
  begin_session(now, effects);
}

void WorkloadClient::begin_session(Instant now, client::SessionEffects& effects) {
  id_ = oracle_.new_client();
  ++sessions_;
  over_ = false;
  session_ =
      std::make_unique<client::Session>(client::SessionOptions{.servers = config_.servers.size(),
                                                               .timeout_ms = config_.timeout_ms,
                                                               .seed = random_.next(),
                                                               .expire_locally = config_.expire_locally});
  next_step_ = now + pause_ms(config_.step_ms);
  session_->start(now, effects);
  digest(now, effects);
}

void WorkloadClient::end_session(Instant now) {
  ENSURE(calls_.empty(), "every call ends with its session");
  session_.reset();
  silent_until_.reset();
  next_session_ = now + pause_ms(config_.step_ms * 5);
}

void WorkloadClient::on_connected(Instant now, client::SessionEffects& effects) {
  if (!session_ || silent_until_) return;
  asked_ = oracle_.now();
  session_->on_connected(now, effects);
  if (raw(session_->id()) != 0 && config_.resume_timeout_max_ms > 0) ask_for_another_timeout(effects);
  digest(now, effects);
}

// As another process does that takes over the session, or a client whose configuration has changed.
void WorkloadClient::ask_for_another_timeout(client::SessionEffects& effects) {
  constexpr std::size_t kTimeoutAt = 4 + 4 + 8;  // after the frame's length, version and last zxid
  const auto span = static_cast<std::uint64_t>(config_.resume_timeout_max_ms - config_.timeout_ms + 1);
  const auto timeout_ms = config_.timeout_ms + static_cast<std::int32_t>(random_.below(span));
  wire::store_be<std::int32_t>(effects.send.data() + kTimeoutAt, timeout_ms);
}

void WorkloadClient::on_bytes(std::string_view bytes, Instant now, client::SessionEffects& effects) {
  if (!session_ || silent_until_) return;
  const bool was_connected = session_->is_connected();
  session_->on_bytes(bytes, now, effects);
  if (was_connected && effects.hang_up && session_->state() == SessionState::kSuspended)
    oracle_.on_nonsense(id_);
  digest(now, effects);
}

void WorkloadClient::on_disconnected(Instant now, client::SessionEffects& effects) {
  if (!session_ || silent_until_) return;
  session_->on_disconnected(now, effects);
  digest(now, effects);
}

void WorkloadClient::on_time(Instant now, client::SessionEffects& effects) {
  if (!session_) {
    if (!left_ && now >= next_session_) begin_session(now, effects);
    return;
  }
  if (silent_until_) {
    if (now < *silent_until_) return;
    silent_until_.reset();
    session_->abandon(effects);
    return digest(now, effects);
  }
  session_->on_time(now, effects);
  digest(now, effects);
  while (session_ && !over_ && !resting_ && !left_ && !silent_until_ && now >= next_step_) step(now, effects);
}

std::optional<Instant> WorkloadClient::next_time() const {
  if (!session_) return left_ ? std::nullopt : std::optional(next_session_);
  if (silent_until_) return silent_until_;
  const auto due = session_->next_time();
  if (resting_ || left_) return due;
  return due ? std::min(*due, next_step_) : next_step_;
}

void WorkloadClient::step(Instant now, client::SessionEffects& effects) {
  next_step_ = now + pause_ms(config_.step_ms);
  if (calls_.size() >= config_.pipeline_max) return;
  WorkloadStep next = workload_.next();
  switch (next.kind) {
    case WorkloadStep::Kind::kCall: return call(next.op, std::move(next.body), now, effects);
    case WorkloadStep::Kind::kVanish: return vanish(now);
    case WorkloadStep::Kind::kMove:
      if (session_->is_connected()) move(now, effects);
      return;
    case WorkloadStep::Kind::kClose: session_->close(now, effects); return digest(now, effects);
  }
}

// Sends and reads nothing more; the connection stays, as if the machine had lost its network.
void WorkloadClient::vanish(Instant now) {
  oracle_.on_over(id_);
  silent_until_ = now + config_.timeout_ms + pause_ms(config_.timeout_ms);
}

void WorkloadClient::move(Instant now, client::SessionEffects& effects) {
  if (!session_ || silent_until_) return;
  session_->move_on(now, effects);
  left_open_ = effects.hang_up;
  digest(now, effects);
}

void WorkloadClient::call(wire::OpCode op, std::string body, Instant now, client::SessionEffects& effects) {
  const std::uint64_t token = next_token_++;
  const std::int32_t xid = session_->submit(client::Token{token}, op, body, now, effects);
  oracle_.on_call(id_, xid, op, body);
  calls_.emplace(token, Asked{op, std::move(body), xid});
  digest(now, effects);
}

void WorkloadClient::probe(wire::OpCode op, std::string_view body, Instant now,
                           client::SessionEffects& effects) {
  if (session_ && !silent_until_ && !over_) call(op, std::string(body), now, effects);
}

void WorkloadClient::leave(Instant now, client::SessionEffects& effects) {
  left_ = true;
  if (!session_) return;
  if (silent_until_) {
    silent_until_.reset();
    session_->abandon(effects);
  } else {
    session_->close(now, effects);
  }
  digest(now, effects);
}

std::optional<ServerId> WorkloadClient::server() const {
  if (!session_) return std::nullopt;
  return config_.servers[server_];
}

void WorkloadClient::digest(Instant now, client::SessionEffects& effects) {
  if (effects.dial) server_ = *effects.dial;
  for (const client::Happening& each : std::exchange(effects.happened, {})) {
    if (const auto* done = std::get_if<client::Completed>(&each)) on_completed(*done);
    if (const auto* event = std::get_if<client::WatchEvent>(&each))
      oracle_.on_event(id_, event->type, event->path, event->zxid);
    if (const auto* change = std::get_if<client::StateChange>(&each)) on_state(*change);
  }
  if (over_) end_session(now);
}

void WorkloadClient::on_completed(const client::Completed& done) {
  const auto found = calls_.find(static_cast<std::uint64_t>(done.token));
  ENSURE(found != calls_.end(), "a call ends once");
  const Asked asked = std::move(found->second);
  calls_.erase(found);
  switch (done.outcome) {
    case Outcome::kAnswered:
      ++answered_;
      oracle_.on_reply(id_, done.header, done.body);
      return workload_.on_reply(asked.op, asked.body, done.header, done.body);
    case Outcome::kUnknown: ++lost_; return oracle_.on_lost(id_, asked.xid);
    case Outcome::kNotApplied: return oracle_.on_not_applied(id_, asked.xid);
  }
}

void WorkloadClient::on_state(const client::StateChange& change) {
  switch (change.state) {
    case SessionState::kConnecting:
    case SessionState::kConnectedReadOnly:
    case SessionState::kAuthFailed: return;
    case SessionState::kConnected:
      return oracle_.on_session(id_, change.session, session_->timeout_ms(), config_.servers[server_],
                                asked_);
    case SessionState::kSuspended: return oracle_.on_disconnected(id_);
    case SessionState::kExpired: over_ = true; return oracle_.on_over(id_);
    case SessionState::kClosed:
      over_ = true;
      session_->is_close_confirmed() ? oracle_.on_closed(id_) : oracle_.on_over(id_);
  }
}

}  // namespace drover::sim
