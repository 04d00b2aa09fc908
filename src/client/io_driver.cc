// SPDX-License-Identifier: Apache-2.0
#include "client/io_driver.h"

#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "client/threads.h"
#include "net/dialer.h"
#include "net/event_loop.h"
#include "net/resolver.h"
#include "net/sasl_starter.h"
#include "net/tls_context_holder.h"

namespace drover::client {
namespace {

// The session itself limits the time of a dial and hangs up.
constexpr int kDialTimeoutMs = 3'600'000;
constexpr std::size_t kReadBytes = 64 * 1024;
constexpr int kReadsPerRound = 16;
// How long process exit waits for a server to confirm the end of a session.
constexpr std::int64_t kExitPatienceMs = 500;

class IoThread final : public IoDriver,
                       public std::enable_shared_from_this<IoThread>,
                       private net::EventLoop::Handler {
 public:
  static Made make(const IoDriverOptions& options);

  void start(std::unique_ptr<DrivenMachine> machine, std::shared_ptr<Strand> strand) override;
  // Safe to call from any thread.
  void post(Command* command) override;
  void post(std::move_only_function<void()> work) override;
  void flush() override;
  void retire() override;

 private:
  void run();
  using Lock = std::unique_lock<std::mutex>;
  void wait(Lock& lock);
  void round(Lock& lock);
  bool take_commands(Instant now);
  bool take_work(Lock& lock);
  void carry_out();
  void log_in(const std::string& token);
  void take_step(SaslStep step);
  bool serve();
  void take_servers();
  void queue_output();
  void dial(std::size_t server);
  void on_dialled(IoResult<net::Dialled> dialled);
  void hang_up();
  void lose();
  void on_ready(std::uint32_t events) override;
  void read();
  void write();
  net::IoStatus send_output();
  void watch_stream();
  int timeout_ms() const;
  bool is_own_thread() const { return std::this_thread::get_id() == thread_.load(std::memory_order_relaxed); }

  std::unique_ptr<net::EventLoop> loop_;
  std::unique_ptr<net::TlsContextHolder> tls_;
  std::vector<ServerAddress> servers_;
  std::shared_ptr<const SaslLogin> sasl_;
  std::shared_ptr<Strand> strand_;

  std::mutex mutex_;  // guards the next two
  Chain<Command> commands_;
  std::deque<std::move_only_function<void()>> work_;
  std::atomic<bool> retired_{false};
  std::atomic<bool> exiting_{false};
  std::atomic<std::thread::id> thread_{};

  // Used only by the I/O thread.
  std::unique_ptr<net::Resolver> resolver_;
  std::unique_ptr<net::Dialer> dialer_;
  std::unique_ptr<net::SaslStarter> sasl_starter_;
  // The login of the current connection.
  SaslLogin::Server sasl_server_;
  std::optional<net::SaslStarter::Ticket> sasl_ticket_;
  std::unique_ptr<SaslConversation> conversation_;

  // Used by the thread that is working: the I/O thread, unless it sleeps. See flush().
  std::mutex at_work_;
  bool is_running_ = false;
  std::unique_ptr<DrivenMachine> machine_;
  std::optional<Instant> sleeps_until_;  // empty: until it is woken
  net::Stream stream_;
  std::uint32_t watched_ = 0;  // events registered with the loop
  std::string output_;
  std::size_t written_ = 0;  // bytes of output_ already sent
  std::array<char, kReadBytes> input_;
};

net::TlsOptions tls_options(const TlsFiles& files) {
  net::TlsOptions options;
  options.role = net::TlsRole::kClient;
  options.key_store = {.location = files.key_store, .password = files.key_store_password};
  options.trust_store = {.location = files.trust_store, .password = files.trust_store_password};
  options.hostname_verification = files.verify_host_name;
  return options;
}

IoDriver::Made IoThread::make(const IoDriverOptions& options) {
  const auto made = std::make_shared<IoThread>();
  auto loop = net::EventLoop::create();
  if (!loop) return std::unexpected(loop.error().what);
  made->loop_ = *std::move(loop);
  auto resolver = net::Resolver::create(*made->loop_);
  if (!resolver) return std::unexpected(resolver.error().what);
  made->resolver_ = *std::move(resolver);
  if (options.tls != nullptr) {
    auto tls = net::TlsContextHolder::load(tls_options(*options.tls));
    if (!tls) return std::unexpected(tls.error().what);
    made->tls_ = *std::move(tls);
  }
  if (options.sasl) {
    auto starter = net::SaslStarter::create(*made->loop_);
    if (!starter) return std::unexpected(starter.error().what);
    made->sasl_starter_ = *std::move(starter);
    made->sasl_ = options.sasl;
  }
  made->servers_ = options.servers;
  return made;
}

void IoThread::start(std::unique_ptr<DrivenMachine> machine, std::shared_ptr<Strand> strand) {
  machine_ = std::move(machine);
  strand_ = std::move(strand);
  const auto exit = [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    self->exiting_.store(true);
    self->loop_->wake();
  };
  launch_thread({.name = "drover-io", .body = [self = shared_from_this()] { self->run(); }, .stop = exit});
}

// Commands posted by jobs of the strand wait for the flush() after the jobs, to go out in one packet.
void IoThread::post(Command* command) {
  {
    const std::lock_guard lock(mutex_);
    commands_.push(command);
  }
  if (!strand_->is_current()) flush();
}

// A thread with something to send sends it itself while the loop sleeps: waking another thread would take
// longer than everything else.
void IoThread::flush() {
  if (is_own_thread()) return;  // The loop checks before it sleeps.
  const std::unique_lock lock(at_work_, std::try_to_lock);
  if (!lock || !serve()) loop_->wake();
}

// False: something is left that only the I/O thread can do.
bool IoThread::serve() {
  if (!is_running_) return false;
  if (!take_commands(net::EventLoop::clock())) return true;
  const SessionEffects& wanted = machine_->wanted;
  if (wanted.hang_up || wanted.dial || wanted.sasl) return false;
  strand_->post(machine_->jobs);
  take_servers();
  queue_output();
  machine_->wanted.clear();
  if (!output_.empty() && send_output() != net::IoStatus::kOk) return false;
  const std::optional<Instant> due = machine_->next_time();
  return !machine_->is_over() && (!due || (sleeps_until_ && *sleeps_until_ <= *due));
}

void IoThread::post(std::move_only_function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    work_.push_back(std::move(work));
  }
  if (!is_own_thread()) loop_->wake();
}

void IoThread::retire() {
  retired_.store(true);
  loop_->wake();
}

void IoThread::run() {
  thread_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  std::unique_lock lock(at_work_);
  loop_->refresh_now();
  machine_->start(loop_->now());
  is_running_ = true;
  round(lock);
  bool said_goodbye = false;
  while (!machine_->is_over() || !(retired_.load() || said_goodbye)) {
    wait(lock);
    if (exiting_.load() && !std::exchange(said_goodbye, true)) machine_->close(loop_->now(), kExitPatienceMs);
    if (dialer_) dialer_->on_time(loop_->now());
    const auto due = machine_->next_time();
    if (due && *due <= loop_->now()) machine_->on_time(loop_->now());
    round(lock);
  }
  is_running_ = false;
  hang_up();
  machine_.reset();
}

void IoThread::wait(Lock& lock) {
  const int timeout = timeout_ms();
  sleeps_until_ = timeout < 0 ? std::nullopt : std::optional(loop_->now() + timeout);
  lock.unlock();
  const int ready = loop_->wait(timeout);
  lock.lock();
  loop_->refresh_now();  // Another thread may have used a later time.
  loop_->dispatch(ready);
}

// Jobs that run on this thread may post commands, and commands end in jobs.
void IoThread::round(Lock& lock) {
  do {
    take_commands(loop_->now());
    carry_out();
  } while (take_work(lock));
}

bool IoThread::take_commands(Instant now) {
  Chain<Command> taken;
  {
    const std::lock_guard lock(mutex_);
    taken.append(commands_);
  }
  if (taken.empty()) return false;
  while (Command* command = taken.pop()) machine_->on_command(*command, now);
  return true;
}

bool IoThread::take_work(Lock& at_work) {
  std::deque<std::move_only_function<void()>> taken;
  {
    const std::lock_guard lock(mutex_);
    taken.swap(work_);
  }
  if (taken.empty()) return false;
  at_work.unlock();  // User code may take long.
  for (auto& work : taken) work();
  at_work.lock();
  return true;
}

void IoThread::carry_out() {
  SessionEffects& wanted = machine_->wanted;
  strand_->post(machine_->jobs);
  if (wanted.hang_up) hang_up();
  take_servers();
  if (wanted.dial) dial(*wanted.dial);
  queue_output();
  const auto token = std::exchange(wanted.sasl, std::nullopt);
  wanted.clear();
  if (!output_.empty()) write();
  if (token) log_in(*token);
}

// The first step may ask a KDC; the others only compute.
void IoThread::log_in(const std::string& token) {
  if (!stream_.is_open()) return;
  if (conversation_) {
    take_step(conversation_->step(token));
    return carry_out();
  }
  sasl_ticket_ = sasl_starter_->begin([login = sasl_, server = sasl_server_] { return login->start(server); },
                                      [this](net::SaslStarter::Started started) {
                                        sasl_ticket_.reset();
                                        conversation_ = std::move(started.conversation);
                                        take_step(std::move(started.step));
                                      });
}

// A conversation that has ended has a copy of the password, and is not needed any more.
void IoThread::take_step(SaslStep step) {
  if (step.status != SaslStep::Status::kContinue) conversation_.reset();
  machine_->on_sasl(std::move(step), loop_->now());
}

void IoThread::take_servers() {
  if (machine_->wanted.servers) servers_ = *std::move(machine_->wanted.servers);
}

void IoThread::queue_output() {
  std::string& bytes = machine_->wanted.send;
  if (bytes.empty() || !stream_.is_open()) return;
  if (output_.empty()) {
    output_.swap(bytes);
  } else {
    output_ += bytes;
  }
}

void IoThread::dial(std::size_t server) {
  const ServerAddress& address = servers_[server];
  sasl_server_.host = address.host;
  net::DialOptions options;
  options.to = {{address.host, address.port}};
  options.tls = tls_.get();
  options.timeout_ms = kDialTimeoutMs;
  if (tls_) static_cast<void>(tls_->poll_for_changes());  // If new files are bad, the old ones stay in use.
  dialer_ = std::make_unique<net::Dialer>(
      *loop_, *resolver_, options,
      [this](IoResult<net::Dialled> dialled) { on_dialled(std::move(dialled)); });
}

void IoThread::on_dialled(IoResult<net::Dialled> dialled) {
  dialer_.reset();
  if (!dialled) return machine_->on_disconnected(loop_->now());
  stream_ = std::move(dialled->stream);
  watched_ = stream_.events_for({.read = true, .write = false});
  if (!loop_->add(stream_.fd(), watched_, this)) {
    stream_.close();
    return machine_->on_disconnected(loop_->now());
  }
  sasl_server_.ip = dialled->peer.ip_text();
  machine_->on_peer({dialled->peer.ip_text(), dialled->peer.port()});
  machine_->on_connected(loop_->now());
}

void IoThread::hang_up() {
  dialer_.reset();
  conversation_.reset();
  if (sasl_ticket_) sasl_starter_->cancel(*std::exchange(sasl_ticket_, std::nullopt));
  output_.clear();
  written_ = 0;
  if (!stream_.is_open()) return;
  loop_->remove(stream_.fd(), this);
  stream_.shutdown();
  stream_.close();
}

void IoThread::lose() {
  hang_up();
  machine_->on_disconnected(loop_->now());
}

void IoThread::on_ready(std::uint32_t) {
  if (!output_.empty()) write();
  if (stream_.is_open()) read();
}

// Carries out the machine's effects before its next input.
void IoThread::read() {
  for (int reads = 0; reads < kReadsPerRound || stream_.has_buffered(); ++reads) {
    const net::IoCount got = stream_.read(input_.data(), input_.size());
    if (got.status == net::IoStatus::kAgain) break;
    if (got.status != net::IoStatus::kOk) return lose();
    machine_->on_bytes({input_.data(), got.bytes}, loop_->now());
    if (machine_->wanted.hang_up) return;
    if (got.bytes < input_.size() && !stream_.has_buffered()) break;
  }
  watch_stream();
}

void IoThread::write() {
  const net::IoStatus status = send_output();
  if (status != net::IoStatus::kOk && status != net::IoStatus::kAgain) return lose();
  watch_stream();
}

net::IoStatus IoThread::send_output() {
  while (written_ < output_.size()) {
    const net::IoCount sent = stream_.write(std::string_view(output_).substr(written_));
    if (sent.status != net::IoStatus::kOk) return sent.status;
    written_ += sent.bytes;
  }
  output_.clear();
  written_ = 0;
  return net::IoStatus::kOk;
}

void IoThread::watch_stream() {
  const std::uint32_t events = stream_.events_for({.read = true, .write = !output_.empty()});
  if (events == watched_) return;
  watched_ = events;
  loop_->modify(stream_.fd(), events, this);
}

int IoThread::timeout_ms() const {
  std::optional<Instant> due = machine_->next_time();
  if (dialer_) due = std::min(due.value_or(dialer_->next_time()), dialer_->next_time());
  if (!due) return -1;
  return static_cast<int>(std::clamp<std::int64_t>(*due - loop_->now(), 0, 60'000));
}

}  // namespace

IoDriver::Made IoDriver::create(const IoDriverOptions& options) { return IoThread::make(options); }

}  // namespace drover::client
