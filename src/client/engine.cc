// SPDX-License-Identifier: Apache-2.0
//
// Commands from callers, and how calls end.
#include "client/engine.h"

#include <algorithm>
#include <utility>

#include "base/ensure.h"
#include "base/path.h"
#include "wire/jute.h"

namespace drover::client {
namespace {

constexpr std::uint64_t kSeedStep = 0x9E3779B97F4A7C15ull;

Token token_of(Call& call) { return Token{reinterpret_cast<std::uintptr_t>(&call)}; }

// A request whose reply is ignored.
class SilentCall final : public Call {
 public:
  void on_answer(const wire::ReplyHeader&, std::string_view) override {}
  void on_error(Error) override {}
};

}  // namespace

Error error_of(ErrorCode code) {
  const bool open = code == ErrorCode::kSystemError || code == ErrorCode::kOperationTimeout ||
                    code == ErrorCode::kRequestTimeout;
  return Error{static_cast<Errc>(code), open ? Applied::kMaybe : Applied::kNo};
}

void Call::run(Engine& engine, Instant now) {
  // Keeps the call alive since it was posted.
  const auto self = std::move(executor_holds);
  engine.submit(self, now);
}

Engine::Engine(EngineOptions options, std::shared_ptr<Board> board)
    : options_(std::move(options)),
      board_(std::move(board)),
      given_(options_.servers),
      servers_(options_.servers) {
  if (!servers_.empty()) options_.session.servers = servers_.size();
  session_ = std::make_unique<Session>(options_.session);
}

// Calls that the session still has keep themselves alive.
Engine::~Engine() {
  session_->abandon(wanted);
  closing_ = true;
  digest(Instant{});
}

void Engine::start(Instant now) {
  session_->start(now, wanted);
  digest(now);
}

void Engine::begin_session(Instant now) {
  options_.session.session = SessionId{};
  options_.session.password.clear();
  options_.session.seed += kSeedStep;
  config_watched_ = false;
  session_ = std::make_unique<Session>(options_.session);
  for (const Auth& auth : auths_) session_->add_auth(Token{}, auth.scheme, auth.auth, now, wanted);
  session_->start(now, wanted);
}

std::optional<Errc> Engine::refusal_of(const Call& call, Instant now) const {
  if (call.cancelled) return call.cancelled;
  if (call.kind == Call::Kind::kClose) return std::nullopt;
  if (call.kind == Call::Kind::kTimer) {
    return last_told_ == ConnectionState::kClosed ? std::optional(Errc::kClosed) : std::nullopt;
  }
  if (call.deadline <= now) return Errc::kDeadline;
  if (closing_ || session_->state() == SessionState::kClosed) return Errc::kClosed;
  if (raw(call.bound) != 0 && session_->id() != call.bound) return Errc::kSessionExpired;
  return std::nullopt;
}

void Engine::submit(const std::shared_ptr<Call>& call, Instant now) {
  ENSURE(call->stage == Call::Stage::kNew, "a call is made once");
  call->stage = Call::Stage::kUnderWay;
  if (const auto refusal = refusal_of(*call, now)) return end_with(*call, Error{*refusal});
  if (call->deadline != kNever) call->timer = timers_.emplace(call->deadline, call.get());
  switch (call->kind) {
    case Call::Kind::kRequest: return send(call, now);
    case Call::Kind::kAuth: return add_auth(call, now);
    case Call::Kind::kTimer: sleepers_.emplace(call.get(), call); return;
    case Call::Kind::kClose: closers_.push_back(call); return close(now, kNever - now);
  }
}

void Engine::send(const std::shared_ptr<Call>& call, Instant now) {
  call->session_holds = call;
  if (call->watch) ++arming_[call->path];
  session_->submit(token_of(*call), call->op, call->body, now, wanted);
  digest(now);
}

void Engine::add_auth(const std::shared_ptr<Call>& call, Instant now) {
  call->session_holds = call;
  auths_.push_back({call->path, call->body});
  session_->add_auth(token_of(*call), call->path, call->body, now, wanted);
  digest(now);
}

void Engine::end_timer(Call& call) {
  if (call.timer) timers_.erase(*call.timer);
  call.timer.reset();
}

void Engine::end(Call& call) {
  if (call.stage == Call::Stage::kEnded) return;
  end_timer(call);
  call.stage = Call::Stage::kEnded;
  call.executor_holds = call.shared_from_this();
  sleepers_.erase(&call);
  jobs.push(&call);
}

void Engine::end_with(Call& call, Error error) {
  if (call.stage == Call::Stage::kEnded) return;
  call.on_error(std::move(error));
  end(call);
}

// True: it was not sent and will not be sent.
bool Engine::take_back(Call& call) {
  if (!call.session_holds) return true;
  if (!session_->withdraw(token_of(call))) return false;
  finish_arming(call);
  call.session_holds.reset();
  return true;
}

void Engine::cancel(const std::shared_ptr<Call>& call, Errc why, Instant) {
  if (call->stage == Call::Stage::kNew) call->cancelled = why;
  if (call->stage != Call::Stage::kUnderWay) return;
  const Applied applied = take_back(*call) ? Applied::kNo : Applied::kMaybe;
  std::erase(closers_, call);
  end_with(*call, Error{why, applied});
}

void Engine::abandon(const std::shared_ptr<Call>& call) {
  if (call->stage == Call::Stage::kNew) call->cancelled = Errc::kStopped;
  if (call->stage != Call::Stage::kUnderWay) return;
  take_back(*call);
  end_timer(*call);
  std::erase(closers_, call);
  sleepers_.erase(call.get());
  call->stage = Call::Stage::kEnded;
}

void Engine::drop_watch(const std::shared_ptr<WatchState>& watch, Instant now) {
  watch->dropped = true;
  for (const WatchPlace& place : watches_.remove(watch)) unwatch(place, now);
}

void Engine::drop_watch_at(const std::shared_ptr<WatchState>& watch, const WatchPlace& place, Instant now) {
  if (watches_.remove_at(watch, place)) unwatch(place, now);
}

// Removes a server-side watch that has no owner left, unless a read in progress is about to set it again.
void Engine::unwatch(const WatchPlace& place, Instant now) {
  if (is_over() || closing_ || arming_.contains(place.path)) return;
  if (config_watched_ && place.path == kConfigPath && place.slot == WatchSlot::kData) return;  // It is ours.
  constexpr std::int32_t kTypes[] = {kRemoveData, kRemoveChild, kRemovePersistent, kRemoveRecursive};
  auto call = std::make_shared<SilentCall>();
  call->op = wire::OpCode::kRemoveWatches;
  wire::Writer w(call->body);
  w.string(place.path);
  w.i32(kTypes[static_cast<std::size_t>(place.slot)]);
  submit(call, now);
}

void Engine::move_on(Instant now) {
  session_->move_on(now, wanted);
  digest(now);
}

void Engine::close(Instant now, std::int64_t patience_ms) {
  const Instant until = patience_ms >= kNever - now ? kNever : now + patience_ms;
  close_deadline_ = std::min(close_deadline_.value_or(kNever), until);
  closing_ = true;
  if (is_over()) return end_over();
  session_->close(now, wanted);
  digest(now);
}

void Engine::on_time(Instant now) {
  session_->on_time(now, wanted);
  digest(now);
  while (!timers_.empty() && timers_.begin()->first <= now) {
    cancel(timers_.begin()->second->shared_from_this(), Errc::kDeadline, now);
  }
  if (close_deadline_ && *close_deadline_ <= now && !is_over()) {
    session_->abandon(wanted);
    digest(now);
  }
}

std::optional<Instant> Engine::next_time() const {
  Instant due = session_->next_time().value_or(kNever);
  if (!timers_.empty()) due = std::min(due, timers_.begin()->first);
  if (close_deadline_ && !is_over()) due = std::min(due, *close_deadline_);
  if (due == kNever) return std::nullopt;
  return due;
}

}  // namespace drover::client
