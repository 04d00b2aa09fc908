// SPDX-License-Identifier: Apache-2.0
//
// SessionEffects of the session, and the callbacks they cause.
#include <utility>

#include "base/path.h"
#include "client/engine.h"

namespace drover::client {
namespace {

struct EventJob final : Job {
  EventJob(std::shared_ptr<WatchState> w, drover::WatchEvent e) : watch(std::move(w)), event(std::move(e)) {}
  void run() override {
    const std::unique_ptr<EventJob> self(this);
    if (!watch->ended) watch->callback(event);
  }
  void discard() override { delete this; }

  std::shared_ptr<WatchState> watch;
  drover::WatchEvent event;
};

struct StateJob final : Job {
  StateJob(std::shared_ptr<Board> b, StateEvent e) : board(std::move(b)), event(std::move(e)) {}
  void run() override {
    const std::unique_ptr<StateJob> self(this);
    board->told = event;
    // A listener may remove others or itself, and add new ones, which have seen this state already.
    const std::uint64_t last = board->last_listener;
    for (auto it = board->listeners.begin(); it != board->listeners.end() && it->first <= last;) {
      const std::uint64_t id = it->first;
      const auto callback = it->second;
      callback(event);
      it = board->listeners.upper_bound(id);
    }
    board->drop_abandoned();
    if (event.state != ConnectionState::kClosed) return;
    // No more states will come, and a listener may keep the client alive.
    board->streams.clear();
    board->listeners.clear();
  }
  void discard() override { delete this; }

  std::shared_ptr<Board> board;
  StateEvent event;
};

ConnectionState public_state(SessionState state) {
  switch (state) {
    case SessionState::kConnecting: return ConnectionState::kConnecting;
    case SessionState::kConnected: return ConnectionState::kConnected;
    case SessionState::kConnectedReadOnly: return ConnectionState::kReadOnly;
    case SessionState::kSuspended: return ConnectionState::kSuspended;
    case SessionState::kExpired: return ConnectionState::kExpired;
    case SessionState::kAuthFailed: return ConnectionState::kAuthFailed;
    case SessionState::kClosed: return ConnectionState::kClosed;
  }
  return ConnectionState::kClosed;
}

}  // namespace

void Engine::on_connected(Instant now) {
  session_->on_connected(now, wanted);
  digest(now);
}

void Engine::on_bytes(std::string_view bytes, Instant now) {
  session_->on_bytes(bytes, now, wanted);
  digest(now);
}

void Engine::on_disconnected(Instant now) {
  session_->on_disconnected(now, wanted);
  digest(now);
}

void Engine::on_sasl(SaslStep step, Instant now) {
  session_->on_sasl(std::move(step), now, wanted);
  digest(now);
}

// All effects are handled before the next input to the session, which would invalidate their views.
void Engine::digest(Instant now) {
  bool expired = false;
  for (const Happening& each : wanted.happened) {
    if (const auto* completed = std::get_if<Completed>(&each)) {
      on_completed(*completed);
    } else if (const auto* event = std::get_if<client::WatchEvent>(&each)) {
      on_event(*event);
    } else {
      const auto& change = std::get<StateChange>(each);
      on_state(change);
      expired = expired || change.state == SessionState::kExpired;
    }
  }
  wanted.happened.clear();
  if (expired && options_.reopen && !closing_) {
    begin_session(now);
    digest(now);
  }
  if (!unwanted_.empty()) unwatch_unwanted(now);
  session_->set_holding(board_->holders.load(std::memory_order_relaxed) > 0);
  if (options_.follow_ensemble) follow_ensemble(now);
  publish();
}

void Engine::on_completed(const Completed& completed) {
  if (completed.token == Token{}) return;  // repeated authentication
  Call& call = *reinterpret_cast<Call*>(static_cast<std::uintptr_t>(completed.token));
  const auto held = std::move(call.session_holds);
  finish_arming(call);
  if (completed.outcome == Outcome::kAnswered) arm(call, completed.header.error);
  if (call.stage == Call::Stage::kEnded) return;  // The caller no longer waits.
  if (completed.outcome == Outcome::kAnswered) {
    call.on_answer(completed.header, completed.body);
    return end(call);
  }
  Error error = error_of(completed.header.error);
  if (closing_ && error == Errc::kSessionExpired) error.code = Errc::kClosed;
  if (error == Errc::kAuthFailed) error.detail = session_->auth_failure();
  error.applied = completed.outcome == Outcome::kUnknown ? Applied::kMaybe : Applied::kNo;
  end_with(call, std::move(error));
}

// A watch starts with the reply: the next event in the stream may be for it.
void Engine::arm(Call& call, ErrorCode answer) {
  const bool missing = call.op == wire::OpCode::kExists && answer == ErrorCode::kNoNode;
  if (!call.watch || (answer != ErrorCode::kOk && !missing)) return;
  const WatchPlace place{call.path, call.slot};
  if (call.stage != Call::Stage::kEnded && !call.watch->dropped) {
    watches_.add(place, call.watch, call.strip);
  } else if (!watches_.contains(place)) {
    unwanted_.push_back(place);
  }
}

void Engine::unwatch_unwanted(Instant now) {
  for (const WatchPlace& place : std::exchange(unwanted_, {})) {
    if (!watches_.contains(place)) unwatch(place, now);
  }
}

void Engine::finish_arming(const Call& call) {
  if (!call.watch) return;
  const auto found = arming_.find(call.path);
  if (found != arming_.end() && --found->second == 0) arming_.erase(found);
}

void Engine::on_event(const client::WatchEvent& event) {
  if (options_.follow_ensemble && event.path == kConfigPath) {
    config_watched_ = false;
    config_wanted_ = true;
  }
  tell(watches_.take(event.type, event.path), static_cast<EventType>(event.type), event.zxid);
}

void Engine::tell(std::vector<WatchTable::Hit> hits, EventType type, Zxid zxid) {
  for (WatchTable::Hit& hit : hits) {
    jobs.push(new EventJob(std::move(hit.watch), {type, std::move(hit.path), zxid}));
  }
}

void Engine::on_state(const StateChange& change) {
  publish();
  const bool refused = change.state == SessionState::kAuthFailed;
  tell_state({public_state(change.state), change.session, refused ? session_->auth_failure() : ""});
  note_for_following(public_state(change.state));
  if (!is_final(change.state)) return;
  tell(watches_.clear(), EventType::kWatchLost, Zxid{-1});
  for (const auto& call : std::exchange(closers_, {})) {
    if (session_->is_close_confirmed() || change.state == SessionState::kExpired) {
      call->on_answer({}, {});
    } else {
      call->on_error(Error{Errc::kConnectionLoss, Applied::kMaybe});
    }
    end(*call);
  }
  if (closing_) end_over();  // However it ended, the last state is closed.
}

void Engine::tell_state(StateEvent event) {
  last_told_ = event.state;
  jobs.push(new StateJob(board_, std::move(event)));
  if (last_told_ != ConnectionState::kClosed) return;
  // There will be no more timer events.
  for (const auto& [_, sleeper] : std::exchange(sleepers_, {})) end_with(*sleeper, Error{Errc::kClosed});
}

// A session that had ended by itself is now closed: the last state that listeners get.
void Engine::end_over() {
  if (last_told_ != ConnectionState::kClosed) tell_state({ConnectionState::kClosed, session_->id(), {}});
  for (const auto& call : std::exchange(closers_, {})) {
    call->on_answer({}, {});
    end(*call);
  }
}

void Engine::publish() {
  const SessionState state = session_->state();
  const auto until = is_final(state) ? std::nullopt : session_->valid_until();
  // Set the session before the state: a reader that sees kConnected also sees which session.
  board_->session.store(session_->id(), std::memory_order_relaxed);
  board_->state.store(public_state(state), std::memory_order_release);
  board_->timeout_ms.store(session_->timeout_ms(), std::memory_order_relaxed);
  board_->valid_until_ms.store(until ? until->ms : Board::kNotValid, std::memory_order_release);
}

}  // namespace drover::client
