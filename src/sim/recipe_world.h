// SPDX-License-Identifier: Apache-2.0
//
// The test environment for recipes: real servers and library clients in one thread on virtual time, from one
// seed.
//
//   RecipeWorld world({.servers = 3, .clients = 2});
//   auto held = world.start(mutex.acquire(world.client(0)));
//   world.lose_reply(0, "create");                       // it is done, and the client does not hear of it
//   ASSERT_TRUE(world.run_until([&] { return held->has_value(); }));
//   EXPECT_EQ(world.children("/lock").size(), 1u);
//
// Servers are the product's own state machines (sim/server.h), clients the product's own client; only time,
// network and disks are simulated. Tests declare the world before everything that uses its clients, so that
// it is destroyed last.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "drover/client.h"
#include "drover/task.h"
#include "drover/types.h"

namespace drover::sim {

class RecipeWorld {
 public:
  using Time = std::chrono::milliseconds;
  struct Options {
    std::uint64_t seed = 1;
    int servers = 1;
    int clients = 2;
    Time session_timeout{4000};  // granted from 1 to 10 s
    bool reopen = true;          // after an expired session
  };
  // Returns when all clients are connected.
  explicit RecipeWorld(const Options& options);
  // Heals everything, and all clients leave: tasks that still wait end with kClosed.
  ~RecipeWorld();
  RecipeWorld(const RecipeWorld&) = delete;
  RecipeWorld& operator=(const RecipeWorld&) = delete;

  Client& client(std::size_t i);
  // Adds a client and returns its number.
  std::size_t add_client();
  // Drops the world's handle; when all others are gone too, the session is closed.
  void let_go(std::size_t i);

  // Starts the task; the optional holds its result once it has ended.
  template <class T>
  std::shared_ptr<std::optional<T>> start(Task<T> task) {
    auto result = std::make_shared<std::optional<T>>();
    drover::start(std::move(task), [result](T value) { result->emplace(std::move(value)); });
    settle();
    return result;
  }
  // Runs it to its end, which must come within `limit`: the result, or kOperationTimeout.
  template <class T>
  Result<T> get(Task<Result<T>> task, Time limit = Time(60'000)) {
    const auto result = start(std::move(task));
    if (!run_until([&] { return result->has_value(); }, limit)) return fail(Errc::kOperationTimeout);
    return std::move(**result);
  }
  // Runs `work` on the client's executor: the place to destroy tasks that wait.
  void run_on(std::size_t i, std::move_only_function<void()> work);

  // --- time ---
  void run_for(Time time);
  // False: not within `limit`.
  bool run_until(const std::function<bool()>& reached, Time limit = Time(60'000));
  Time now() const;
  // Runs `work` when that time has passed.
  void after(Time time, std::function<void()> work);
  // Call after a request from outside, such as a stop or a destructor. Running does it too.
  void settle();

  // --- faults; an `op` is "create", "delete", "set", "multi", "get", "exists", "children", "sync", ---
  // --- "add_watch", "remove_watch" or, any of them, ""                                            ---
  // The nth answer from here on, to an operation that succeeded: the connection is lost instead of it. For
  // "", the nth answer of any kind.
  void lose_reply(std::size_t i, std::string op, int nth = 1);
  // The same, but before the server gets the request.
  void lose_request(std::size_t i, std::string op, int nth = 1);
  // Runs `then` when the nth request has just been sent: to stop, to destroy, to kill.
  void at_request(std::size_t i, std::string op, int nth, std::function<void()> then);
  // One of the three traps above has not been triggered yet.
  bool has_traps(std::size_t i) const;
  void disarm(std::size_t i);
  // The connection breaks; the client may come back at once.
  void disconnect(std::size_t i);
  // Nothing passes between the client and any server, and no side is told.
  void cut(std::size_t i);
  void heal(std::size_t i);
  void cut_for(std::size_t i, Time time);  // runs for that long
  // Nothing passes between the client's server and the other servers, and no side is told. The observations
  // below need a healed ensemble.
  void cut_off_server_of(std::size_t i);
  // The same, and the client reaches only that server.
  void cut_off_with_server(std::size_t i);
  void heal_all();
  // Starts to end the client's session from elsewhere, as an administrator does.
  void kill_session(std::size_t i);
  // The leader's process ends and restarts; with several servers another one leads by then.
  void restart_leader(Time pause = Time(1000));
  void restart_server(Time pause = Time(1000)) { restart_leader(pause); }
  void change_leader() { restart_leader(); }

  // --- observations of the newest tree that a server shows; if none serves, time passes until one does ---
  bool exists(const std::string& path);
  std::optional<Stat> stat(const std::string& path);
  std::optional<std::string> data(const std::string& path);
  std::vector<std::string> children(const std::string& path);  // sorted
  std::size_t descendants(const std::string& path);            // 0 if it does not exist
  bool has_session(SessionId session);
  // Watches that servers keep.
  std::size_t watches() const;

  // --- observations of a client ---
  std::uint64_t requests(std::size_t i, const std::string& op = "") const;
  std::uint64_t watch_events(std::size_t i) const;  // notifications that have arrived
  std::uint64_t watch_events() const;               // at all clients

 private:
  struct Parts;
  void wait_for_leader();
  void set_cut(std::size_t i, bool cut);

  std::unique_ptr<Parts> parts_;
};

}  // namespace drover::sim
