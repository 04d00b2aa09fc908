// SPDX-License-Identifier: Apache-2.0
//
// The implementation of `Server`. server.cc opens and runs it, server_recovery.cc recovers its state,
// client_ports.cc moves its client ports, server_facts.cc reports its facts.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/sasl.h"
#include "host/disk_orders.h"
#include "host/membership_files.h"
#include "host/receive_state.h"
#include "host/start.h"
#include "net/event_loop.h"
#include "runtime/clock.h"
#include "runtime/connection_counter.h"
#include "runtime/core.h"
#include "runtime/ensemble_host.h"
#include "runtime/io_loop.h"
#include "runtime/log_thread.h"
#include "runtime/snapshot_thread.h"
#include "runtime/tree_lock.h"
#include "server/acceptor.h"
#include "server/http_side.h"
#include "server/server.h"
#include "server/word_facts.h"
#include "state/machine.h"
#include "storage/data_dir.h"
#include "storage/journal.h"
#include "storage/posix_disk.h"
#include "storage/recovery.h"

namespace drover::server {

class ServerProcess final : public Server,
                            public IoLoopHost,
                            private host::StateInMemory,
                            private host::StartHooks {
 public:
  ServerProcess(const ServerConfig& config, Host host);
  ~ServerProcess() override { shut_down(); }

  IoResult<void> open();
  void run() override;
  void stop() override {
    stopping_.store(true, std::memory_order_release);
    if (accept_loop_) accept_loop_->wake();
  }
  bool wants_restart() const override { return restart_.load(); }
  int client_port() const override { return client_port_.load(); }
  int secure_port() const override { return secure_port_.load(); }
  int http_port() const override { return http_ ? http_->port() : 0; }

 private:
  bool is_member() const { return config_.ensemble.is_distributed(); }
  IoResult<void> recover();
  void start_log_thread();
  IoResult<void> recover_memberships();
  void make_member();
  IoResult<void> join_ensemble();

  // host::StartHooks
  IoResult<storage::RecoveryReport> replay(storage::Disk& disk, const storage::DataDirs& dirs,
                                           const storage::RecoveryOptions& options,
                                           replica::StateBuilder& builder) override;
  IoResult<std::string> write_first_snapshot() override;
  // host::StateInMemory, called by the log thread
  IoResult<void> write_state(storage::SnapshotWriter& writer) override;
  IoResult<bool> reload_state() override;
  void clear_state() override;

  IoResult<void> open_sasl();
  IoResult<void> open_log_and_threads();
  IoResult<void> open_ports();
  IoResult<std::unique_ptr<Acceptor>> open_port(const Endpoint& endpoint, PortKind kind);
  IoResult<void> load_client_tls();
  PortKind plain_kind() const {
    return config_.client_port_unification ? PortKind::kEither : PortKind::kPlain;
  }

  // --- client ports that follow the members: client_ports.cc ---
  // The client addresses of this server.
  struct ClientPorts {
    std::optional<Endpoint> plain;
    std::optional<Endpoint> secure;
  };
  // `now`, replaced by the client addresses in this server's line of `members`, if there are any.
  ClientPorts client_ports_in(const zab::Membership& members, const ClientPorts& now) const;
  void want_client_ports(const zab::Membership& members);  // on the core's thread
  void move_client_ports();
  void move_client_port(std::unique_ptr<Acceptor>& acceptor, std::optional<Endpoint>& open_at,
                        const Endpoint& wanted, PortKind kind);
  IoResult<void> open_http();
  IoResult<net::Socket> connect_inside(const net::Address& as);
  void start_threads();
  void run_core_thread();
  void log_what_is_served() const;
  bool wants_snapshot_at_start() const;
  AdminLimits& limits() { return host_.limits != nullptr ? *host_.limits : own_limits_; }
  void drain();
  void shut_down();
  std::string answer_word(const Word& word, std::string_view bytes_behind,
                          const std::string& remote) override;
  Facts facts(const Needs& needs, const std::string& remote);
  void reset_server_stats();
  void reset_connection_stats();
  void reset_observer_stats();
  std::int64_t shed_connections(int percentage);
  void stop_serving();

  const ServerConfig config_;
  const Host host_;
  const std::size_t io_count_;
  const Instant started_ = monotonic_now();
  storage::PosixDisk disk_;
  std::optional<storage::DataDir> data_dir_;
  state::Machine machine_;
  TreeLock lock_;
  ConnectionCounter counter_;
  std::unique_ptr<SaslFactory> sasl_;  // null: no client can log in with SASL
  storage::RecoveryReport recovered_;
  replica::MemberStart member_start_;
  std::optional<host::MembershipFiles> membership_files_;  // used by the log thread while it runs
  zab::Memberships memberships_at_start_{zab::Membership{}};
  host::ReceiveState receiver_;
  std::optional<storage::Journal> journal_;  // until the log thread takes it
  std::uint64_t digest_mismatches_ = 0;
  std::int64_t startup_ms_ = 0;
  std::int64_t startup_snapshot_ms_ = 0;
  std::int64_t startup_txns_ms_ = 0;
  std::int64_t snapshot_at_start_time_s_ = -1;
  std::atomic<std::int64_t> trace_mask_{306};
  std::atomic<std::uint64_t> insecure_admin_{0};
  AdminLimits own_limits_;

  std::vector<std::unique_ptr<IoLoop>> io_loops_;
  std::unique_ptr<Core> core_;
  // The log thread requests snapshots, so it ends first. In the other direction only this number is passed.
  std::atomic<std::uint64_t> snapshot_bytes_{0};
  std::unique_ptr<SnapshotThread> snapshots_;
  std::unique_ptr<LogThread> log_thread_;
  std::unique_ptr<net::EventLoop> core_loop_;  // null: an I/O thread hosts the core
  std::unique_ptr<EnsembleHost> peers_;
  std::vector<std::thread> threads_;
  std::atomic<bool> core_stopping_{false};

  std::unique_ptr<net::EventLoop> accept_loop_;
  std::unique_ptr<net::TlsContextHolder> tls_;
  std::unique_ptr<Acceptor> plain_;
  std::unique_ptr<Acceptor> secure_;
  std::atomic<int> client_port_{
      0};  // kept here: the acceptors end before the last four-letter word is answered
  std::atomic<int> secure_port_{0};
  ClientPorts open_ports_;  // used by the main thread
  std::mutex wanted_ports_mutex_;
  std::optional<ClientPorts> wanted_ports_;  // set by the core when a reconfiguration changes our line
  std::unique_ptr<HttpSide> http_;
  std::atomic<bool> restart_{false};
  std::atomic<bool> stopping_{false};
};

}  // namespace drover::server
