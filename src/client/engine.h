// SPDX-License-Identifier: Apache-2.0
//
// A client without a socket, a thread or a clock: successive sessions, the calls in progress, and the
// callbacks to run.
//
// All callbacks leave through one list of jobs, in the order in which things happened: a change of state
// before the calls that it ends, an event before any reply that shows its change.
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

// The public state of the session.
struct Board {
  static constexpr std::int64_t kNotValid = std::numeric_limits<std::int64_t>::min();

  // Safe to read from any thread.
  std::atomic<ConnectionState> state{ConnectionState::kConnecting};
  std::atomic<SessionId> session{};
  std::atomic<std::int64_t> valid_until_ms{kNotValid};
  std::atomic<std::int32_t> timeout_ms{0};
  std::atomic<int> holders{0};  // count of Client::hold_session()

  // Only on the executor. It lags behind the fields above by the jobs in flight.
  StateEvent told{};
  std::map<std::uint64_t, std::function<void(const StateEvent&)>> listeners;
  std::uint64_t last_listener = 0;
  std::map<std::uint64_t, std::shared_ptr<StreamSource<StateEvent>>> streams;  // listeners that are streams

  // A connection may last for months, so unread streams are removed without waiting for the next state.
  void drop_abandoned() {
    std::erase_if(streams, [this](const auto& each) {
      return each.second->is_abandoned() && listeners.erase(each.first) > 0;
    });
  }
};

struct EngineOptions {
  SessionOptions session;
  bool reopen = true;  // open a new session after an expired one
  // The addresses of the servers. Empty: they have none, as in the simulator, and session.servers counts
  // them.
  std::vector<ServerAddress> servers = {};
  bool follow_ensemble = false;
  bool secure = false;  // connections use TLS
};

class Engine final : public DrivenMachine {
 public:
  Engine(EngineOptions options, std::shared_ptr<Board> board);
  ~Engine() override;

  void start(Instant now) override;
  void on_peer(const ServerAddress& peer) override { peer_ = peer; }
  void on_connected(Instant now) override;
  void on_bytes(std::string_view bytes, Instant now) override;
  void on_disconnected(Instant now) override;
  void on_sasl(SaslStep step, Instant now) override;
  void on_time(Instant now) override;
  void on_command(Command& command, Instant now) override { command.run(*this, now); }
  std::optional<Instant> next_time() const override;
  void close(Instant now, std::int64_t patience_ms) override;
  bool is_over() const override { return is_final(session_->state()); }

  // --- commands ---
  void submit(const std::shared_ptr<Call>& call, Instant now);
  // Ends the wait with this error. The reply to what was sent is dropped.
  void cancel(const std::shared_ptr<Call>& call, Errc why, Instant now);
  // The same, without telling the caller.
  void abandon(const std::shared_ptr<Call>& call);
  void drop_watch(const std::shared_ptr<WatchState>& watch, Instant now);
  void drop_watch_at(const std::shared_ptr<WatchState>& watch, const WatchPlace& place, Instant now);
  void move_on(Instant now);
  void set_servers(std::vector<ServerAddress> servers, Instant now);

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

  // Handles the session's effects after an input.
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

  // engine_servers.cc
  class ConfigCall;
  struct NewServers {
    std::vector<ServerAddress> servers;
    std::size_t configured = 0;  // the first so many come from the configuration
  };
  void replace_servers(NewServers list, Instant now);
  Origins origins_of(const std::vector<ServerAddress>& servers) const;
  Current current_in(const Origins& origins) const;
  void note_for_following(ConnectionState state);
  void follow_ensemble(Instant now);
  void ask_for_config(Instant now);
  void adopt_config(std::string_view text, Instant now);
  void fall_back(Instant now);

  EngineOptions options_;
  std::shared_ptr<Board> board_;
  std::unique_ptr<Session> session_;
  bool closing_ = false;
  std::optional<Instant> close_deadline_;
  ConnectionState last_told_{};
  std::vector<Auth> auths_;
  std::multimap<Instant, Call*> timers_;  // deadlines of calls in progress
  std::vector<std::shared_ptr<Call>> closers_;
  std::map<Call*, std::shared_ptr<Call>> sleepers_;
  WatchTable watches_;
  std::unordered_map<std::string, int> arming_;  // reads in progress that will watch a path
  std::vector<WatchPlace> unwanted_;             // server-side watches without an owner

  std::vector<ServerAddress> given_;         // by the user
  std::vector<ServerAddress> servers_;       // in use
  std::size_t configured_ = 0;               // the first so many of servers_ come from the configuration
  ServerAddress peer_;                       // numeric, of the last connection
  std::int64_t config_version_ = 0;          // the newest seen
  bool config_watched_ = false;              // the session has a watch on it
  bool config_wanted_ = false;               // read it when there is a connection
  std::shared_ptr<ConfigCall> config_call_;  // in progress
};

}  // namespace drover::client
