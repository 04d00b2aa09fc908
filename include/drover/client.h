// SPDX-License-Identifier: Apache-2.0
//
// A client of ZooKeeper servers, drover's or Apache's: one session, kept through lost connections.
//
// Blocking, in a program that has threads of its own:
//
//   drover::Client client = unwrap(sync_wait(drover::Client::connect({.servers = "zk1,zk2,zk3/app"})));
//   unwrap(sync_wait(client.create("/jobs", "", {.parents = true})));
//   drover::NodeData node = unwrap(sync_wait(client.get("/jobs")));
//
// In coroutines, which all run on the client's executor, one at a time:
//
//   drover::Task<drover::Result<void>> touch(drover::Client client, drover::Wait wait) {
//     auto reading = client.get("/jobs", wait);             // GCC 12: name the task, then await it
//     auto node = co_await std::move(reading);
//     if (!node) co_return std::unexpected(node.error());
//     auto writing = client.set("/jobs", "x", node->stat.version, wait);
//     auto stat = co_await std::move(writing);
//     if (!stat) co_return std::unexpected(stat.error());
//     co_return drover::Result<void>{};
//   }
//
// With callbacks:
//
//   start(client.get("/jobs"), [](drover::Result<drover::NodeData> node) { ... });
//
// Every operation takes a Wait: its deadline or stop token ends the wait, never the session. What was sent by
// then is completed in the background; the error's maybe_applied() says that it may have been done. Requests
// go out in the order in which their tasks are started and are answered in that order. While there is no
// connection they wait for one.
//
// The executor is a thread of its own, so that callbacks may take their time; it must not be blocked for a
// callback to come. It can be the I/O thread (quickest; callbacks must then be short) or the user's own.
//
// A Client is a handle: copies are the same client. When the last one goes, the session is closed in the
// background. Operations under way then end with kClosed.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "drover/error.h"
#include "drover/executor.h"
#include "drover/op.h"
#include "drover/retry.h"
#include "drover/scheduler.h"
#include "drover/stream.h"
#include "drover/task.h"
#include "drover/types.h"
#include "drover/wait.h"
#include "drover/watch.h"

namespace drover {

class Client;
namespace client {
Client make_client(std::shared_ptr<Core> core, std::string prefix);
}

// Files as ZooKeeper's ssl.keyStore.* and ssl.trustStore.* name them: JKS, PKCS12 or PEM.
struct TlsOptions {
  std::string trust_store = {};
  std::string trust_store_password = {};
  std::string key_store = {};  // our own certificate; empty: none
  std::string key_store_password = {};
  bool verify_host_name = true;
};

struct AuthInfo {
  std::string scheme;  // "digest"
  std::string auth;    // "user:password"
};

enum class Callbacks : std::uint8_t {
  kOwnThread,
  kIoThread,
  kExecutor,  // Options::executor
};

struct Options {
  std::string servers;                                // "zk1:2181,zk2,[::1]:2182/chroot"
  std::chrono::milliseconds session_timeout{10'000};  // asked for; the server decides
  std::string name_space = {};                        // "/app": before every path, as with_namespace()
  std::vector<AuthInfo> auth = {};
  std::optional<TlsOptions> tls = {};
  bool read_only_ok = false;  // a server without a quorum is better than none
  bool reopen = true;         // a new session follows one that has expired
  RetryPolicy retry =         // of reads
      RetryPolicy::exponential(std::chrono::milliseconds(50), std::chrono::seconds(2), 10);
  Callbacks callbacks = Callbacks::kOwnThread;
  std::shared_ptr<Executor> executor = {};
  std::size_t reply_bytes_max = 16 << 20;
};

class Client {
 public:
  // Ready to use when it has a session. Bad options are kBadConfig.
  static Task<Result<Client>> connect(Options options, Wait wait = {});
  // At once; connects in the background.
  static Result<Client> open(Options options);

  // --- nodes ---
  Task<Result<Created>> create(std::string path, std::string data = {}, CreateOptions options = {},
                               Wait wait = {}) const;
  Task<Result<void>> remove(std::string path, Version version = Version::kAny, Wait wait = {}) const;
  Task<Result<Stat>> set(std::string path, std::string data, Version version = Version::kAny,
                         Wait wait = {}) const;
  Task<Result<NodeData>> get(std::string path, Wait wait = {}) const;
  Task<Result<NodeData>> get(std::string path, const Watch& watch, Wait wait = {}) const;
  // No Stat: it does not exist.
  Task<Result<std::optional<Stat>>> exists(std::string path, Wait wait = {}) const;
  Task<Result<std::optional<Stat>>> exists(std::string path, const Watch& watch, Wait wait = {}) const;
  Task<Result<Children>> children(std::string path, Wait wait = {}) const;
  Task<Result<Children>> children(std::string path, const Watch& watch, Wait wait = {}) const;
  Task<Result<AclData>> acl(std::string path, Wait wait = {}) const;
  Task<Result<Stat>> set_acl(std::string path, std::vector<Acl> acl, Version version = Version::kAny,
                             Wait wait = {}) const;

  // --- several at once ---
  // All or nothing. The error is the first element's that failed; op_index says which.
  Task<Result<std::vector<OpResult>>> multi(std::vector<Op> ops, Wait wait = {}) const;
  // Each by itself.
  Task<Result<std::vector<Result<ReadResult>>>> multi_read(std::vector<ReadOp> ops, Wait wait = {}) const;

  // --- order ---
  // What was committed before it began is seen by reads that follow it.
  Task<Result<void>> sync(std::string path, Wait wait = {}) const;
  // The same, agreed on by a quorum: a transaction that checks the root and changes nothing.
  Task<Result<void>> barrier_read_point(Wait wait = {}) const;

  // --- what survives a lost answer ---
  // Creates "<parent>/_c_<uuid>-<name>", a name that nobody else uses, so that after a lost connection it can
  // be told whether it was done: the node is found, or made again. One node, or none: when the wait ends
  // before that, or the task is destroyed, the rest is cleaned up in the background. An ephemeral is only
  // ever that of the session it was begun in; kSessionExpired when that is gone. What a server refuses only
  // for now, such as kThrottledOp, is asked again after a while.
  Task<Result<Created>> create_protected(std::string path, std::string data = {}, CreateOptions options = {},
                                         Wait wait = {}) const;
  // Removes the node through lost connections; that it is not there is success. When the wait ends before, or
  // the task is destroyed, it is done in the background. A name that others use too may be theirs by the
  // second try. With `czxid`, each try first looks whether that node is still there. A node that replaces it
  // between that look and the removal, and has the same version, is removed too: where that matters, put a
  // check_op() and Op::remove() into one multi(). On a bound() client it ends with the session.
  Task<Result<void>> remove_surely(std::string path, std::optional<Zxid> czxid = {}, Wait wait = {}) const;
  // The same, all of it in the background.
  void ensure_deleted(std::string path, std::optional<Zxid> czxid = {}) const;

  // --- watches ---
  Task<Result<void>> add_watch(std::string path, WatchMode mode, const Watch& watch, Wait wait = {}) const;
  // Ends a part of the watch: what it was set for at this node in this way. What is on its way still comes.
  void unwatch(const Watch& watch, std::string_view path, WatchScope scope) const;

  // --- who and where ---
  Task<Result<void>> add_auth(AuthInfo auth, Wait wait = {}) const;
  Task<Result<std::vector<Identity>>> who_am_i(Wait wait = {}) const;
  // Paths of this session's ephemerals that begin so.
  Task<Result<std::vector<std::string>>> ephemerals(std::string prefix = "/", Wait wait = {}) const;
  Task<Result<std::int64_t>> count_descendants(std::string path, Wait wait = {}) const;
  Task<Result<NodeData>> config(Wait wait = {}) const;
  // Changes who belongs to the ensemble; the new configuration. Servers allow it only where they are told to.
  Task<Result<NodeData>> reconfig(ConfigChange change, Wait wait = {}) const;

  // --- the session ---
  SessionId session() const;  // 0: none yet
  ConnectionState state() const;
  std::chrono::milliseconds session_timeout() const;  // as the server decided
  // Until then the session is certain to exist, if nothing more is heard; min() when it does not. Any
  // server's answer counts, also that of a follower which has lost its leader without noticing;
  // hold_session() is stricter.
  Clock::time_point valid_until() const;
  // Every change of state in order, beginning with the present one.
  Stream<StateEvent> states() const;
  // Calls back for each, on the executor, until what is returned is destroyed.
  class Subscription;
  Subscription on_state(std::function<void(const StateEvent&)> callback) const;
  // While what is returned exists, the session holds something that nobody else may have, such as a lock:
  // only answers that a quorum stands behind extend valid_until(). The client sends a sync where it would
  // send a ping, moves to another server when it is not answered in two thirds of the timeout, and ends the
  // session (kExpired) when no server answers in time. Guards, elections and queue items do this by
  // themselves.
  Subscription hold_session() const;
  // Leaves this server for the next one; the session goes along.
  void move_on() const;
  // Ends the session and waits until a server has confirmed it.
  Task<Result<void>> close(Wait wait = {}) const;

  // --- handles ---
  // The same client with another view of the tree: "/app" before every path.
  Client with_namespace(std::string prefix) const;
  // The same client for one session only: the present one. When it has ended, operations fail with
  // kSessionExpired and are not sent, so that nothing that began under a lock goes on without it. Before
  // there is a session, they all do.
  Client bound() const;
  // Of bound(): that session, or -1 if there was none; otherwise 0.
  SessionId bound_session() const { return bound_; }
  // The path as the server knows it.
  std::string full_path(std::string_view path) const;

  Scheduler scheduler() const;
  // 36 characters that nobody else has: a random UUID, for names of nodes. On the executor.
  std::string new_uuid() const;

 private:
  struct Handle;
  struct Calls;
  friend Client client::make_client(std::shared_ptr<client::Core> core, std::string prefix);
  Client(std::shared_ptr<Handle> handle, std::string prefix, SessionId bound)
      : handle_(std::move(handle)), prefix_(std::move(prefix)), bound_(bound) {}
  static Task<Result<Client>> wait_until_connected(Client client, Wait wait);

  std::shared_ptr<Handle> handle_;
  std::string prefix_;  // "" or "/app"
  SessionId bound_{};
};

class Client::Subscription {
 public:
  Subscription() = default;
  explicit Subscription(std::function<void()> end) : end_(std::move(end)) {}
  Subscription(Subscription&& other) noexcept : end_(std::exchange(other.end_, nullptr)) {}
  Subscription& operator=(Subscription&& other) noexcept {
    if (this != &other) {
      reset();
      end_ = std::exchange(other.end_, nullptr);
    }
    return *this;
  }
  ~Subscription() { reset(); }
  void reset() {
    if (end_) std::exchange(end_, nullptr)();
  }

 private:
  std::function<void()> end_;
};

}  // namespace drover
