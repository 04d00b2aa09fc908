// SPDX-License-Identifier: Apache-2.0
#include "server/server.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <thread>

#include "drover/version.h"
#include "log/log.h"
#include "net/listener.h"
#include "runtime/ensemble_settings.h"
#include "runtime/settings.h"
#include "server/audit.h"
#include "server/client_sasl.h"
#include "server/server_process.h"
#include "zab/membership_text.h"

namespace drover::server {
namespace {

constexpr int kStorageFailureExit = 3;
constexpr int kHaltedExit = 4;
constexpr int kDrainMs = 5000;

std::uint64_t random_seed() {
  std::uint64_t seed = 0;
  if (getrandom(&seed, sizeof seed, 0) != sizeof seed)
    seed = static_cast<std::uint64_t>(read_clock_ns(CLOCK_REALTIME));
  return seed;
}

// On a small machine a hand-over costs more than a second thread gains: docs/performance.md, "Threads".
std::size_t io_thread_count(const ServerConfig& config) {
  if (config.io_threads > 0) return static_cast<std::size_t>(config.io_threads);
  const unsigned cores = std::thread::hardware_concurrency();
  return cores <= 2 ? 1 : cores - 1;
}

// Reserved for files, listeners, links to other servers and HTTP. If the limit is small, a quarter of it.
constexpr std::size_t kOwnDescriptors = 512;

// Java has no limit by default and can run out of descriptors: then it cannot open a log file either.
std::size_t connections_max(const ServerConfig& config) {
  if (config.limits.connections != kConnectionsByDescriptors)
    return static_cast<std::size_t>(config.limits.connections);
  rlimit descriptors{};
  if (getrlimit(RLIMIT_NOFILE, &descriptors) != 0 || descriptors.rlim_cur == RLIM_INFINITY) return 0;
  const std::size_t most = descriptors.rlim_cur;
  return most - std::min(kOwnDescriptors, most / 4);
}

// A write or sync of the log failed: earlier promises can no longer be kept, so the server makes no new ones.
[[noreturn]] void die_of_storage(const IoError& error) {
  log_error("log", "{}: the server stops, because it cannot make writes durable any more; check the disk",
            error.what);
  _exit(kStorageFailureExit);
}

[[noreturn]] void halt_at_once(const std::string& why) {
  log_error("ensemble", "{}", why);
  _exit(kHaltedExit);
}

}  // namespace

ServerProcess::ServerProcess(const ServerConfig& config, Host host)
    : config_(config),
      host_(host),
      io_count_(io_thread_count(config)),
      machine_(state_options(config, HashKey{random_seed(), random_seed()})),
      lock_(io_count_),
      counter_(static_cast<std::size_t>(config.limits.connections_per_ip), connections_max(config)) {}

IoResult<void> ServerProcess::open() {
  TRY(open_sasl());
  TRY(recover());
  TRY(open_log_and_threads());
  make_member();
  if (is_member()) TRY(join_ensemble());
  TRY(open_ports());
  startup_ms_ = monotonic_now() - started_;
  TRY(open_http());  // last: from here on HTTP threads read all of this
  log_what_is_served();
  return {};
}

IoResult<void> ServerProcess::open_sasl() {
  TRY_ASSIGN(sasl_, client_sasl(config_.sasl));
  if (!sasl_) return {};
  if (const auto& kerberos = config_.sasl.login->kerberos) {
    log_info("sasl", "clients log in with Kerberos; this server is {}", escaped(kerberos->principal));
  } else {
    log_info("sasl", "{} users can log in with DIGEST-MD5", config_.sasl.login->users.size());
  }
  return {};
}

void ServerProcess::make_member() {
  memberships_at_start_ = member_start_.memberships;
  replica::MemberConfig config = member_config(config_);
  config.peer.new_history_id = random_seed() | 1;
  core_->make_member(config, std::move(member_start_), receiver_);
}

IoResult<void> ServerProcess::join_ensemble() {
  net::EventLoop& loop = core_loop_ ? *core_loop_ : io_loops_.front()->events();
  TRY_ASSIGN(peers_, EnsembleHost::open(config_,
                                        {.loop = loop,
                                         .core = *core_,
                                         .machine = machine_,
                                         .lock = lock_,
                                         .disk = disk_,
                                         .dirs = data_dir_->dirs(),
                                         .on_members = [this](const auto& now) { want_client_ports(now); }},
                                        memberships_at_start_));
  core_->connect(peers_.get());
  return {};
}

IoResult<void> ServerProcess::open_log_and_threads() {
  std::vector<Core::FrontPort> fronts;
  IoLoopConfig io_config = io_loop_config(config_, io_count_);
  io_config.front.sasl = sasl_.get();
  for (std::size_t i = 0; i < io_count_; ++i) {
    TRY_ASSIGN(auto loop, net::EventLoop::create());
    io_loops_.push_back(std::make_unique<IoLoop>(replica::FrontId{static_cast<std::uint32_t>(i)}, io_config,
                                                 std::move(loop), machine_, lock_, counter_, *this));
    fronts.push_back({&io_loops_.back()->front(), [io = io_loops_.back().get()] { io->wake(); }});
  }
  replica::ReplicaConfig replica = replica_config(config_, wall_now());
  replica.seed = random_seed();
  if (config_.log.audit) replica.audit_user = audit_user(config_);
  core_ = std::make_unique<Core>(replica, machine_, lock_, std::move(fronts));
  if (config_.log.audit) core_->set_audit(write_audit_lines);
  snapshots_ = std::make_unique<SnapshotThread>(
      disk_, data_dir_->dirs(), machine_, lock_, snapshot_options(config_),
      SnapshotThread::Callbacks{
          .finished = [this](const SnapshotResult& done) { snapshot_bytes_ = done.bytes; },
          .may_begin = [this] { return core_->may_snapshot(); },
          .fatal = die_of_storage});
  core_->set_halt(halt_at_once);
  // The core can be woken as soon as the log thread runs.
  if (io_count_ > 1) {
    TRY_ASSIGN(core_loop_, net::EventLoop::create());
    core_->set_waker([this] { core_loop_->wake(); });
  } else {
    core_->set_waker([this] { io_loops_.front()->wake(); });
  }
  for (const auto& io : io_loops_) io->attach(core_.get(), core_loop_ == nullptr);
  start_log_thread();
  return {};
}

void ServerProcess::start_log_thread() {
  LogThreadOptions options = log_thread_options(config_, random_seed(), core_loop_ == nullptr);
  if (membership_files_) options.disk.membership = &*membership_files_;
  log_thread_ = std::make_unique<LogThread>(
      std::move(*journal_), static_cast<host::StateInMemory&>(*this), options,
      LogThread::Callbacks{.done = [this](const zab::DiskAnswer& answer) { core_->post_done(answer); },
                           .disk_full = [this](bool full) { core_->post_disk_full(full); },
                           .want_snapshot = [this] { return core_->may_snapshot() && snapshots_->request(); },
                           .snapshot_bytes = [this] { return snapshot_bytes_.load(); },
                           .fatal = die_of_storage,
                           .pause_snapshots = [this] { snapshots_->pause(); },
                           .resume_snapshots = [this] { snapshots_->resume(); }});
  journal_.reset();
  core_->attach(log_thread_.get());
}

IoResult<void> ServerProcess::open_ports() {
  TRY_ASSIGN(accept_loop_, net::EventLoop::create());
  open_ports_ = {config_.client, config_.secure_client};
  if (is_member()) open_ports_ = client_ports_in(memberships_at_start_.committed(), open_ports_);
  if (open_ports_.secure || config_.client_port_unification) TRY(load_client_tls());
  if (open_ports_.plain) {
    TRY_ASSIGN(plain_, open_port(*open_ports_.plain, plain_kind()));
  }
  if (open_ports_.secure) {
    TRY_ASSIGN(secure_, open_port(*open_ports_.secure, PortKind::kTls));
  }
  if (plain_) client_port_ = plain_->local().port();
  if (secure_) secure_port_ = secure_->local().port();
  return {};
}

IoResult<void> ServerProcess::load_client_tls() {
  TRY_ASSIGN(tls_, net::TlsContextHolder::load(to_tls_options(config_.tls, net::TlsRole::kServer)));
  return {};
}

IoResult<std::unique_ptr<Acceptor>> ServerProcess::open_port(const Endpoint& endpoint, PortKind kind) {
  net::ListenOptions options;
  options.host = endpoint.host;
  options.port = endpoint.port;
  options.backlog = config_.listen_backlog > 0 ? config_.listen_backlog : 4096;
  options.keepalive = config_.features.client_tcp_keep_alive;
  TRY_ASSIGN(auto listener, net::Listener::open(options));
  std::vector<IoLoop*> loops;
  for (const auto& io : io_loops_) loops.push_back(io.get());
  auto acceptor =
      std::make_unique<Acceptor>(*accept_loop_, std::move(listener), kind, tls_.get(), counter_, loops);
  TRY(acceptor->start());
  return acceptor;
}

IoResult<net::Socket> ServerProcess::connect_inside(const net::Address& as) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return std::unexpected(io_error(errno, "cannot make a pair of sockets"));
  net::Socket ours(ends[0]);
  net::Socket theirs(ends[1]);
  fcntl(ours.fd(), F_SETFL, O_NONBLOCK);
  if (counter_.enter(as.ip_text()) != ConnectionCounter::Verdict::kWelcome)
    return std::unexpected(data_error("too many connections"));
  IoLoop::NewConnection connection;
  connection.accepted = {std::move(ours), as};
  io_loops_.front()->add(std::move(connection));
  return theirs;
}

IoResult<void> ServerProcess::open_http() {
  TRY_ASSIGN(auto check_password, password_check(config_.sasl));
  ServerInside inside{.config = config_,
                      .machine = machine_,
                      .lock = lock_,
                      .core = *core_,
                      .snapshots = *snapshots_,
                      .facts = [this](const Needs& needs) { return facts(needs, ""); },
                      .reset_server_stats = [this] { reset_server_stats(); },
                      .reset_connection_stats = [this] { reset_connection_stats(); },
                      .reset_observer_stats = [this] { reset_observer_stats(); },
                      .shed_connections = [this](int percentage) { return shed_connections(percentage); },
                      .stop_serving = [this] { stop_serving(); },
                      .start_anew = {},
                      .limits = limits(),
                      .trace_mask = trace_mask_,
                      .insecure_admin = insecure_admin_,
                      .started = started_,
                      .log_stats = [this] { return log_thread_->stats(); },
                      .check_password = std::move(check_password),
                      .connect_inside = [this](const net::Address& as) { return connect_inside(as); }};
  if (host_.restarts) {
    inside.start_anew = [this] {
      restart_ = true;
      stop();
    };
  }
  for (const auto& io : io_loops_) inside.fronts.push_back(&io->front());
  TRY_ASSIGN(http_, HttpSide::open(std::move(inside)));
  return {};
}

void ServerProcess::log_what_is_served() const {
  if (is_member()) {
    const ServerId me = *config_.ensemble.my_id;
    const Membership& members = memberships_at_start_.committed();
    log_info("server", "drover {} is server {} of an ensemble with {} voters and {} observers", kVersion,
             raw(me), members.voters().size(), members.observers().size());
    if (const PeerSpec* self = memberships_at_start_.find(me))
      log_info("server", "  peers     {}", to_text(*self));
    if (members.version() > 0) log_info("server", "  members   version {:#x}", members.version());
  } else {
    log_info("server", "drover {} is serving, standalone", kVersion);
  }
  if (plain_) {
    log_info("server", "  clients   {}{}", plain_->local().to_text().substr(1),
             config_.client_port_unification ? " (TLS and plain)" : "");
  }
  if (secure_) log_info("server", "  clients   {} (TLS)", secure_->local().to_text().substr(1));
  for (const std::string& line : http_->what_is_served()) log_info("server", "  http      {}", line);
  log_info("server", "  data      {}{}", config_.data_dir,
           config_.data_log_dir == config_.data_dir ? "" : ", log in " + config_.data_log_dir);
  log_info("server", "  state     {} nodes, {} sessions, zxid {:#x}; {} transactions replayed in {} ms",
           machine_.tree.node_count(), machine_.sessions.size(), raw(machine_.last_zxid),
           recovered_.txns_replayed, startup_ms_);
  log_info("server", "  threads   {} for I/O, {}, 1 for the log, 1 for snapshots", io_count_,
           core_loop_ ? "1 for the core" : "which also runs the core");
  if (const std::size_t most = connections_max(config_);
      most != 0 && config_.limits.connections == kConnectionsByDescriptors)
    log_info("server",
             "  limit     {} client connections, by the limit of open files (maxCnxns sets another)", most);
  if (plain_) {
    const net::Address& local = plain_->local();
    log_info("server", "  try       zkCli.sh -server {}",
             local.is_wildcard() ? fmt::format("127.0.0.1:{}", local.port()) : local.to_text().substr(1));
  }
}

void ServerProcess::start_threads() {
  core_->start(monotonic_now());
  for (std::size_t i = 0; i < io_loops_.size(); ++i) {
    threads_.emplace_back([this, i] {
      pthread_setname_np(pthread_self(), ("drover-io" + std::to_string(i)).c_str());
      io_loops_[i]->run();
    });
  }
  if (core_loop_) threads_.emplace_back([this] { run_core_thread(); });
}

void ServerProcess::run_core_thread() {
  pthread_setname_np(pthread_self(), "drover-core");
  const std::int64_t period_ms = tick_period_ms(config_);
  Instant next_tick = core_loop_->refresh_now();
  while (!core_stopping_.load(std::memory_order_acquire)) {
    Instant next = next_tick;
    if (const auto peers = core_->next_time()) next = std::min(next, *peers);
    core_loop_->run_once(static_cast<int>(std::max<std::int64_t>(0, next - monotonic_now())));
    core_->on_time(core_loop_->now());
    core_->run(core_loop_->now());
    if (core_loop_->now() < next_tick) continue;
    core_->tick(core_loop_->now());
    next_tick = core_loop_->now() + period_ms;
  }
}

void ServerProcess::run() {
  start_threads();
  bool snapshot_due = wants_snapshot_at_start();
  Instant next_look = accept_loop_->refresh_now();
  while (!stopping_.load(std::memory_order_acquire)) {
    if (snapshot_due && core_->may_snapshot()) snapshot_due = !snapshots_->request();
    accept_loop_->run_once(1000);
    move_client_ports();
    if (accept_loop_->now() < next_look) continue;
    next_look = accept_loop_->now() + 1000;
    for (Acceptor* acceptor : {plain_.get(), secure_.get()}) {
      if (acceptor) acceptor->resume();
    }
    if (peers_) peers_->reload_changed_tls();
    http_->reload_changed_tls();
    if (!tls_) continue;
    if (auto changed = tls_->poll_for_changes(); !changed) {
      log_error("tls", "cannot reload the key and trust stores, the old ones stay in use: {}",
                changed.error().what);
    } else if (*changed) {
      log_info("tls", "key and trust stores were reloaded");
    }
  }
  log_info("server", "stopping");
  plain_.reset();
  secure_.reset();
  drain();
  shut_down();
  log_info("server", "stopped");
}

// After a crash the log can be long: a new snapshot makes the next start short. Logs that began with an empty
// tree because of snapshot.trust.empty also need one, so that the next start works without that key.
bool ServerProcess::wants_snapshot_at_start() const {
  const bool long_log = recovered_.txns_replayed > static_cast<std::uint64_t>(config_.storage.snap_count) / 2;
  return long_log || (recovered_.txns_replayed > 0 && !recovered_.snapshot);
}

// Waits until pending writes are answered, up to a limit.
void ServerProcess::drain() {
  const Instant give_up = monotonic_now() + kDrainMs;
  while (!core_->idle() && monotonic_now() < give_up) accept_loop_->run_once(5);
}

void ServerProcess::shut_down() {
  // Stop snapshots first, because an HTTP thread may wait for one. HTTP threads end next, because they use
  // everything below.
  if (snapshots_) snapshots_->stop();
  http_.reset();
  for (const auto& io : io_loops_) io->stop();
  core_stopping_.store(true, std::memory_order_release);
  if (core_loop_) core_loop_->wake();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  log_thread_.reset();  // syncs the rest
  snapshots_.reset();
  peers_.reset();
}

IoResult<std::unique_ptr<Server>> Server::start(const ServerConfig& config, Host host) {
  auto server = std::make_unique<ServerProcess>(config, host);
  TRY(server->open());
  return server;
}

}  // namespace drover::server
