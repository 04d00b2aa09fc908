// SPDX-License-Identifier: Apache-2.0
//
// A client for ZooKeeper servers, drover's or Apache's. It keeps one session across lost connections.
//
// Blocking:
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
// Every operation takes a Wait. Its deadline or stop token ends the wait, never the session. A request that
// was sent by then completes in the background; the error's maybe_applied() says that it may have been
// applied. Requests are sent and answered in the order in which their tasks are started. Without a connection
// they wait for one.
//
// By default the executor is a thread of its own, so callbacks may take long; but they must not block for
// another callback. It can also be the I/O thread (fastest; callbacks must be short) or your own executor.
//
// A Client is a handle: copies are the same client. When the last one is destroyed, the session is closed in
// the background, and operations in progress end with kClosed.
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
class SaslLogin;
namespace client {
Client make_client(std::shared_ptr<ClientCore> core, std::string prefix);
}

// Files as in ZooKeeper's ssl.keyStore.* and ssl.trustStore.*: JKS, PKCS12 or PEM.
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
  std::chrono::milliseconds session_timeout{10'000};  // requested; the server decides
  std::string name_space = {};                        // "/app": before every path, as with_namespace()
  std::vector<AuthInfo> auth = {};
  std::optional<TlsOptions> tls = {};
  // Log in on every connection, before any request; made by the functions of drover/sasl.h. If the server
  // refuses, the state becomes kAuthFailed, and the event and all errors say why. If a Kerberos ticket cannot
  // be renewed, the client tries again until its session expires.
  std::shared_ptr<const SaslLogin> sasl = {};
  bool read_only_ok = false;  // accept a read-only server
  bool reopen = true;         // open a new session after one has expired
  // Follow reconfigurations: use the client addresses in /zookeeper/config instead of `servers`, and change
  // with them (Curator's EnsembleTracker). Load is rebalanced as in set_servers(). `servers` are tried again
  // if none of the configured ones can be reached. With TLS only secure ports count. Observers count, too.
  //
  // Off by default, because the configuration has the addresses by which servers know each other. Clients
  // behind NAT, port forwarding or a load balancer cannot use them, and certificates may not name them.
  bool follow_ensemble = false;
  RetryPolicy retry =  // for reads
      RetryPolicy::exponential(std::chrono::milliseconds(50), std::chrono::seconds(2), 10);
  Callbacks callbacks = Callbacks::kOwnThread;
  std::shared_ptr<Executor> executor = {};
  std::size_t reply_bytes_max = 16 << 20;
};

class Client {
 public:
  // Returns when there is a session. Bad options are kBadConfig.
  static Task<Result<Client>> connect(Options options, Wait wait = {});
  // Returns at once and connects in the background.
  static Result<Client> open(Options options);

  // --- nodes ---
  Task<Result<Created>> create(std::string path, std::string data = {}, CreateOptions options = {},
                               Wait wait = {}) const;
  Task<Result<void>> remove(std::string path, Version version = Version::kAny, Wait wait = {}) const;
  Task<Result<Stat>> set(std::string path, std::string data, Version version = Version::kAny,
                         Wait wait = {}) const;
  Task<Result<NodeData>> get(std::string path, Wait wait = {}) const;
  Task<Result<NodeData>> get(std::string path, const Watch& watch, Wait wait = {}) const;
  // Empty: the node does not exist.
  Task<Result<std::optional<Stat>>> exists(std::string path, Wait wait = {}) const;
  Task<Result<std::optional<Stat>>> exists(std::string path, const Watch& watch, Wait wait = {}) const;
  Task<Result<Children>> children(std::string path, Wait wait = {}) const;
  Task<Result<Children>> children(std::string path, const Watch& watch, Wait wait = {}) const;
  Task<Result<AclData>> acl(std::string path, Wait wait = {}) const;
  Task<Result<Stat>> set_acl(std::string path, std::vector<Acl> acl, Version version = Version::kAny,
                             Wait wait = {}) const;

  // --- several at once ---
  // All or nothing. The error is that of the first failed element; op_index says which.
  Task<Result<std::vector<OpResult>>> multi(std::vector<Op> ops, Wait wait = {}) const;
  // Elements fail independently.
  Task<Result<std::vector<Result<ReadResult>>>> multi_read(std::vector<ReadOp> ops, Wait wait = {}) const;

  // --- order ---
  // Reads after it see everything that was committed before it began.
  Task<Result<void>> sync(std::string path, Wait wait = {}) const;
  // The same, proved by a quorum: a transaction that checks the root and changes nothing.
  Task<Result<void>> barrier_read_point(Wait wait = {}) const;

  // --- operations that survive a lost reply ---
  // Creates "<parent>/_c_<uuid>-<name>", a unique name, so that after a lost connection the node is found or
  // created again. There is one node or none: if the wait ends early or the task is destroyed, the node is
  // removed in the background. An ephemeral node belongs to the session in which the call began; if that has
  // ended, the result is kSessionExpired. Temporary refusals, such as kThrottledOp, are retried after a
  // while.
  Task<Result<Created>> create_protected(std::string path, std::string data = {}, CreateOptions options = {},
                                         Wait wait = {}) const;
  // Removes the node despite lost connections; a missing node is success. If the wait ends early or the task
  // is destroyed, it continues in the background. If other clients use the same name, a retry may remove
  // theirs. With `czxid`, each try first checks that it is still the same node. A node that replaces it
  // between that check and the removal, with the same version, is removed, too: if that matters, put a
  // check_op() and Op::remove() into one multi(). On a bound() client it ends with the session.
  Task<Result<void>> remove_surely(std::string path, std::optional<Zxid> czxid = {}, Wait wait = {}) const;
  // The same, in the background.
  void ensure_deleted(std::string path, std::optional<Zxid> czxid = {}) const;

  // --- watches ---
  Task<Result<void>> add_watch(std::string path, WatchMode mode, const Watch& watch, Wait wait = {}) const;
  // Removes one scope of the watch from one node. Events that are already on their way still arrive.
  void unwatch(const Watch& watch, std::string_view path, WatchScope scope) const;

  // --- identities and the ensemble ---
  Task<Result<void>> add_auth(AuthInfo auth, Wait wait = {}) const;
  Task<Result<std::vector<Identity>>> who_am_i(Wait wait = {}) const;
  // This session's ephemeral nodes whose paths have this prefix.
  Task<Result<std::vector<std::string>>> ephemerals(std::string prefix = "/", Wait wait = {}) const;
  Task<Result<std::int64_t>> count_descendants(std::string path, Wait wait = {}) const;
  Task<Result<NodeData>> config(Wait wait = {}) const;
  // Changes the members of the ensemble; returns the new configuration. Servers must be configured for it.
  Task<Result<NodeData>> reconfig(ConfigChange change, Wait wait = {}) const;

  // --- the session ---
  SessionId session() const;  // 0: no session yet
  ConnectionState state() const;
  std::chrono::milliseconds session_timeout() const;  // as granted by the server
  // The session exists at least until then; min() if there is none. Replies of any server count, even of a
  // follower that has lost its leader without noticing it.
  // hold_session() is stricter.
  Clock::time_point valid_until() const;
  // Every change of state in order, starting with the current state.
  Stream<StateEvent> states() const;
  // Calls back for each change, on the executor, until the returned object is destroyed.
  class Subscription;
  Subscription on_state(std::function<void(const StateEvent&)> callback) const;
  // While the returned object exists, the session holds something exclusive, such as a lock: only replies
  // that prove a quorum extend valid_until(). The client sends a sync instead of a ping, moves to another
  // server if it is not answered within two thirds of the timeout, and ends the session (kExpired) if no
  // server answers in time.
  // Guards, elections and queue items do this by themselves.
  Subscription hold_session() const;
  // Moves the session to the next server.
  void move_on() const;
  // Replaces the servers: "zk1:2181,zk2". The session continues. If its server is no longer in the list, it
  // moves; otherwise it moves with the probability that spreads all clients evenly over the new list, if all
  // of them get it (ZOOKEEPER-1355). It moves when all requests that were sent are answered; others wait. The
  // chroot cannot change. Malformed text is kBadConfig.
  Result<void> set_servers(std::string_view servers) const;
  // Closes the session and waits for a server's confirmation.
  Task<Result<void>> close(Wait wait = {}) const;

  // --- handles ---
  // The same client with a prefix, such as "/app", before every path.
  Client with_namespace(std::string prefix) const;
  // The same client, limited to the current session. When that has ended, operations fail with
  // kSessionExpired and are not sent, so that work under a lock does not continue without it. Without a
  // session, all of them fail.
  Client bound() const;
  // For a bound() client its session, or -1 if there was none; otherwise 0.
  SessionId bound_session() const { return bound_; }
  // The path with chroot and namespace.
  std::string full_path(std::string_view path) const;

  Scheduler scheduler() const;
  // A random UUID of 36 characters, for names of nodes. Call it on the executor.
  std::string new_uuid() const;

 private:
  struct Handle;
  struct Calls;
  friend Client client::make_client(std::shared_ptr<client::ClientCore> core, std::string prefix);
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
