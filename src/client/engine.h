// SPDX-License-Identifier: Apache-2.0
//
// A client without a socket, a thread or a clock: sessions that follow one another, the calls under way, and
// who is to be told of what.
//
// Everything that callers are told leaves through one list of jobs, in the order in which it happened: a
// change of state before what it ends, an event before any reply that shows its change.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "client/call.h"
#include "client/driver.h"
#include "client/session.h"
#include "client/watch_table.h"
#include "drover/stream.h"
#include "drover/types.h"

namespace drover::client {

// What is known of the session, for everybody.
struct Board {
  static constexpr std::int64_t kNotValid = std::numeric_limits<std::int64_t>::min();

  // Of any thread.
  std::atomic<ConnectionState> state{ConnectionState::kConnecting};
  std::atomic<SessionId> session{};
  std::atomic<std::int64_t> valid_until_ms{kNotValid};
  std::atomic<std::int32_t> timeout_ms{0};
  std::atomic<int> holders{0};  // of Client::hold_session()

  // Of the executor: behind the above by what is still on its way.
  StateEvent told{};
  std::map<std::uint64_t, std::function<void(const StateEvent&)>> listeners;
  std::uint64_t last_listener = 0;
  std::map<std::uint64_t, std::shared_ptr<StreamSource<StateEvent>>> streams;  // those listeners that are one

  // A connection may be stable for months, so that those whom nobody reads are not left to the next state.
  void drop_abandoned() {
    std::erase_if(streams, [this](const auto& each) {
      return each.second->is_abandoned() && listeners.erase(each.first) > 0;
    });
  }
};

struct EngineOptions {
  SessionOptions session;
  bool reopen = true;  // a session that has expired
};

class Engine final : public Machine {
 public:
  Engine(EngineOptions options, std::shared_ptr<Board> board);
  ~Engine() override;

  void start(Instant now) override;
  void on_connected(Instant now) override;
  void on_bytes(std::string_view bytes, Instant now) override;
  void on_disconnected(Instant now) override;
  void on_time(Instant now) override;
  void on_command(Command& command, Instant now) override { command.run(*this, now); }
  std::optional<Instant> next_time() const override;
  void close(Instant now, std::int64_t patience_ms) override;
  bool is_over() const override { return is_final(session_->state()); }

  // --- commands ---
  void submit(const std::shared_ptr<Call>& call, Instant now);
  // Ends the wait, with this error. What was sent will be answered to nobody.
  void cancel(const std::shared_ptr<Call>& call, Errc why, Instant now);
  // The same, and nobody is told.
  void abandon(const std::shared_ptr<Call>& call);
  void drop_watch(const std::shared_ptr<WatchState>& watch, Instant now);
  void drop_watch_at(const std::shared_ptr<WatchState>& watch, const WatchPlace& place, Instant now);
  void move_on(Instant now);

  const Session& session() const { return *session_; }

 private:
  struct Auth {
    std::string scheme;
    std::string auth;
  };

  void begin_session(Instant now);
  void send(const std::shared_ptr<Call>& call, Instant now);
  void add_auth(const std::shared_ptr<Call>& call, Instant now);
  std::optional<Errc> refusal_of(const Call& call, Instant now) const;
  void end(Call& call);
  void end_with(Call& call, Error error);
  void end_timer(Call& call);
  bool take_back(Call& call);
  void unwatch(const WatchPlace& place, Instant now);

  // What the session says after an input.
  void digest(Instant now);
  void on_completed(const Completed& completed);
  void on_event(const client::WatchEvent& event);
  void on_state(const StateChange& change);
  void tell_state(StateEvent event);
  void end_over();
  void arm(Call& call, ErrorCode answer);
  void finish_arming(const Call& call);
  void unwatch_unwanted(Instant now);
  void tell(std::vector<WatchTable::Hit> hits, EventType type, Zxid zxid);
  void publish();

  EngineOptions options_;
  std::shared_ptr<Board> board_;
  std::unique_ptr<Session> session_;
  bool closing_ = false;
  std::optional<Instant> close_deadline_;
  ConnectionState last_told_{};
  std::vector<Auth> auths_;
  std::multimap<Instant, Call*> timers_;  // deadlines of what is under way
  std::vector<std::shared_ptr<Call>> closers_;
  std::map<Call*, std::shared_ptr<Call>> sleepers_;
  WatchTable watches_;
  std::unordered_map<std::string, int> arming_;  // reads under way that will watch a path
  std::vector<WatchPlace> unwanted_;             // watched by the server for nobody
};

}  // namespace drover::client
