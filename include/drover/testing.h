// SPDX-License-Identifier: Apache-2.0
//
// For tests of programs that use the client: servers in this process, and faults between a client and
// them. Link drover::testing.
//
//   auto server = unwrap(drover::testing::Server::start());
//   auto proxy = unwrap(drover::testing::Proxy::start(server.connect_string()));
//   auto client = unwrap(sync_wait(drover::Client::connect({.servers = proxy.connect_string()})));
//
//   proxy.lose_reply("create");               // the next create is applied, but its reply is lost
//   ...
//   unwrap(drover::testing::kill_session(client, server.connect_string()));
//
// Like Curator's TestingServer, TestingCluster and KillSession. Everything here blocks, so do not call it on
// a client's executor. Use it from one thread.
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
  // The shortest session timeout is two of these.
  std::chrono::milliseconds tick{100};
  // Data directory; empty: a temporary one that is removed with the server.
  std::string directory = {};
  // More lines of zoo.cfg: "snapCount=1000", "extendedTypesEnabled=true".
  std::vector<std::string> config = {};
};

// A standalone server on a loopback port. Nothing is synced to disk: acknowledged writes survive stop() and
// restart(), but not a crash of the machine.
class Server {
 public:
  // Returns when the server serves.
  static Result<Server> start(ServerOptions options = {});
  Server(Server&&) noexcept;
  Server& operator=(Server&&) noexcept;
  ~Server();  // calls stop()

  std::string connect_string() const;  // "127.0.0.1:40123"
  bool is_running() const;
  // Answers requests in flight and closes all connections.
  void stop();
  // Starts it again with the same data and port.
  Result<void> restart();

 private:
  struct State;
  explicit Server(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// An ensemble: with 2f + 1 servers any f may be stopped.
class Cluster {
 public:
  // Returns when all servers serve.
  static Result<Cluster> start(int servers, ServerOptions options = {});
  Cluster(Cluster&&) noexcept;
  Cluster& operator=(Cluster&&) noexcept;
  ~Cluster();

  std::size_t size() const;
  std::string connect_string() const;  // of all servers
  std::string connect_string(std::size_t i) const;
  void stop(std::size_t i);
  Result<void> restart(std::size_t i);
  // The server that leads and serves now.
  std::optional<std::size_t> leader() const;
  // Waits for a leader, at most `within`.
  Result<std::size_t> wait_for_leader(std::chrono::milliseconds within = std::chrono::seconds(30)) const;

 private:
  struct State;
  explicit Cluster(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Ends the session on the server, as expiry would: the client learns of it with its next request. Works with
// any server, not only those above. `servers`: one address, "127.0.0.1:2181".
Result<void> kill_session(const Client& client, const std::string& servers);

// A proxy between clients and one server. Operations are "create", "delete", "set", "multi",
// "get", "exists", "children", "sync", "add_watch", "remove_watch", "close"; "" is any of them.
class Proxy {
 public:
  static Result<Proxy> start(const std::string& server);  // "127.0.0.1:2181"
  Proxy(Proxy&&) noexcept;
  Proxy& operator=(Proxy&&) noexcept;
  ~Proxy();

  std::string connect_string() const;
  // Closes the connection instead of delivering the nth reply to this operation from now on. The server has
  // executed the request.
  void lose_reply(std::string_view op, int nth = 1);
  // The same before the server gets the request.
  void lose_request(std::string_view op, int nth = 1);
  // Breaks every connection; clients may reconnect at once.
  void disconnect();
  // Breaks every connection and accepts none until heal().
  void cut();
  // Holds all data back until heal(), without closing connections.
  void freeze();
  void heal();

  std::size_t connections() const;
  std::uint64_t requests(std::string_view op = "") const;  // forwarded to the server so far

 private:
  struct State;
  explicit Proxy(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace drover::testing
