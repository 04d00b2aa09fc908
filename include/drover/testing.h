// SPDX-License-Identifier: Apache-2.0
//
// For tests of programs that use the client: servers in this process, and the things that go wrong between a
// client and them. Link drover::testing.
//
//   auto server = unwrap(drover::testing::Server::start());
//   auto proxy = unwrap(drover::testing::Proxy::start(server.connect_string()));
//   auto client = unwrap(sync_wait(drover::Client::connect({.servers = proxy.connect_string()})));
//
//   proxy.lose_reply("create");               // the next create is done, and the client does not hear of it
//   ...
//   unwrap(drover::testing::kill_session(client, server.connect_string()));
//
// Curator's TestingServer, TestingCluster and KillSession. Everything here blocks until it is done, so it is
// not called on a client's executor; from any one thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "drover/client.h"
#include "drover/error.h"

namespace drover::testing {

struct ServerOptions {
  // Sessions are granted from two of these on.
  std::chrono::milliseconds tick{100};
  // Where the data is; empty: a temporary place that goes with the server.
  std::string directory = {};
  // More lines of zoo.cfg: "snapCount=1000", "extendedTypesEnabled=true".
  std::vector<std::string> config = {};
};

// A server of its own on a loopback port. Nothing is synced to the disk: what it acknowledged survives stop()
// and restart(), but not the machine.
class Server {
 public:
  // Serves when this returns.
  static Result<Server> start(ServerOptions options = {});
  Server(Server&&) noexcept;
  Server& operator=(Server&&) noexcept;
  ~Server();  // as stop()

  std::string connect_string() const;  // "127.0.0.1:40123"
  bool is_running() const;
  // Answers what is in flight and closes everything; clients see a lost connection.
  void stop();
  // With the data it had, on the port it had.
  Result<void> restart();

 private:
  struct State;
  explicit Server(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Several that replicate: with 2f + 1 any f may be stopped.
class Cluster {
 public:
  // A leader serves when this returns.
  static Result<Cluster> start(int servers, ServerOptions options = {});
  Cluster(Cluster&&) noexcept;
  Cluster& operator=(Cluster&&) noexcept;
  ~Cluster();

  std::size_t size() const;
  std::string connect_string() const;  // of all
  std::string connect_string(std::size_t i) const;
  void stop(std::size_t i);
  Result<void> restart(std::size_t i);
  // Which one leads and serves at the moment.
  std::optional<std::size_t> leader() const;
  // Until one does, or for as long as `within`.
  Result<std::size_t> wait_for_leader(std::chrono::milliseconds within = std::chrono::seconds(30)) const;

 private:
  struct State;
  explicit Cluster(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Ends the session at the server, as its expiry would: the client hears of it when it next says something.
// Works with any server, not only those above. `servers`: one address, "127.0.0.1:2181".
Result<void> kill_session(const Client& client, const std::string& servers);

// Stands between clients and one server. Operations are named as in "create", "delete", "set", "multi",
// "get", "exists", "children", "sync", "add_watch", "remove_watch", "close"; "" is any of them.
class Proxy {
 public:
  static Result<Proxy> start(const std::string& server);  // "127.0.0.1:2181"
  Proxy(Proxy&&) noexcept;
  Proxy& operator=(Proxy&&) noexcept;
  ~Proxy();

  std::string connect_string() const;
  // Instead of the nth answer from here on to a request of this kind, the connection is lost. The server has
  // done what was asked.
  void lose_reply(std::string_view op, int nth = 1);
  // The same before the server hears of it.
  void lose_request(std::string_view op, int nth = 1);
  // Every connection breaks; clients may come back at once.
  void disconnect();
  // Every connection breaks, and nobody gets a new one until heal().
  void cut();
  // Nothing passes, and nobody is told, until heal(): then it goes on, late.
  void freeze();
  void heal();

  std::size_t connections() const;
  std::uint64_t requests(std::string_view op = "") const;  // passed on to the server so far

 private:
  struct State;
  explicit Proxy(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace drover::testing
