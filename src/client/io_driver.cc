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
#include "net/tls_context_holder.h"

namespace drover::client {
namespace {

// The session counts the time of a dial itself, and hangs up.
constexpr int kDialTimeoutMs = 3'600'000;
constexpr std::size_t kReadBytes = 64 * 1024;
constexpr int kReadsPerRound = 16;
// How long the end of the process waits for a server to confirm the end of a session.
constexpr std::int64_t kExitPatienceMs = 500;

class IoThread final : public IoDriver,
                       public std::enable_shared_from_this<IoThread>,
                       private net::EventLoop::Handler {
 public:
  static Made make(const IoDriverOptions& options);

  void start(std::unique_ptr<Machine> machine, std::shared_ptr<Strand> strand) override;
  // From any thread.
  void post(Command* command) override;
  void post(std::move_only_function<void()> work) override;
  void flush() override { loop_->wake(); }
  void retire() override;

 private:
  void run();
  void round();
  bool take_commands();
  bool take_work();
  void carry_out();
  void dial(std::size_t server);
  void on_dialled(IoResult<net::Dialled> dialled);
  void hang_up();
  void lose();
  void on_ready(std::uint32_t events) override;
  void read();
  void write();
  void watch_stream();
  int timeout_ms() const;
  bool is_own_thread() const { return std::this_thread::get_id() == thread_.load(std::memory_order_relaxed); }

  std::unique_ptr<net::EventLoop> loop_;
  std::unique_ptr<net::TlsContextHolder> tls_;
  std::vector<ServerAddress> servers_;
  std::unique_ptr<Machine> machine_;
  std::shared_ptr<Strand> strand_;

  std::mutex mutex_;  // of these two
  Chain<Command> commands_;
  std::deque<std::move_only_function<void()>> work_;
  std::atomic<bool> retired_{false};
  std::atomic<bool> exiting_{false};
  std::atomic<std::thread::id> thread_{};

  // The thread's own.
  std::unique_ptr<net::Resolver> resolver_;
  std::unique_ptr<net::Dialer> dialer_;
  net::Stream stream_;
  std::uint32_t watched_ = 0;  // the stream's events as the loop knows them
  std::string output_;
  std::size_t written_ = 0;  // of output_
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
  made->servers_ = options.servers;
  return made;
}

void IoThread::start(std::unique_ptr<Machine> machine, std::shared_ptr<Strand> strand) {
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

// What jobs of the strand post waits for the flush() behind them, to go out in one packet.
void IoThread::post(Command* command) {
  {
    const std::lock_guard lock(mutex_);
    commands_.push(command);
  }
  if (!strand_->is_current()) loop_->wake();
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
  loop_->refresh_now();
  machine_->start(loop_->now());
  round();
  bool said_goodbye = false;
  while (!machine_->is_over() || !(retired_.load() || said_goodbye)) {
    loop_->run_once(timeout_ms());
    if (exiting_.load() && !std::exchange(said_goodbye, true)) machine_->close(loop_->now(), kExitPatienceMs);
    if (dialer_) dialer_->on_time(loop_->now());
    const auto due = machine_->next_time();
    if (due && *due <= loop_->now()) machine_->on_time(loop_->now());
    round();
  }
  hang_up();
  machine_.reset();
}

// Jobs that run on this thread may post commands, and commands end in jobs.
void IoThread::round() {
  do {
    take_commands();
    carry_out();
  } while (take_work());
}

bool IoThread::take_commands() {
  Chain<Command> taken;
  {
    const std::lock_guard lock(mutex_);
    taken.append(commands_);
  }
  if (taken.empty()) return false;
  const Instant now = loop_->now();
  while (Command* command = taken.pop()) machine_->on_command(*command, now);
  return true;
}

bool IoThread::take_work() {
  std::deque<std::move_only_function<void()>> taken;
  {
    const std::lock_guard lock(mutex_);
    taken.swap(work_);
  }
  for (auto& work : taken) work();
  return !taken.empty();
}

void IoThread::carry_out() {
  Effects& wanted = machine_->wanted;
  strand_->post(machine_->jobs);
  if (wanted.hang_up) hang_up();
  if (wanted.dial) dial(*wanted.dial);
  if (!wanted.send.empty() && stream_.is_open()) {
    if (output_.empty()) {
      output_.swap(wanted.send);
    } else {
      output_ += wanted.send;
    }
    write();
  }
  wanted.clear();
}

void IoThread::dial(std::size_t server) {
  const ServerAddress& address = servers_[server];
  net::DialOptions options;
  options.to = {{address.host, address.port}};
  options.tls = tls_.get();
  options.timeout_ms = kDialTimeoutMs;
  if (tls_) static_cast<void>(tls_->poll_for_changes());  // Bad new files: the old ones go on.
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
  machine_->on_connected(loop_->now());
}

void IoThread::hang_up() {
  dialer_.reset();
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

// What the machine wants of the world comes before it is told more.
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
  while (written_ < output_.size()) {
    const net::IoCount sent = stream_.write(std::string_view(output_).substr(written_));
    if (sent.status == net::IoStatus::kAgain) return watch_stream();
    if (sent.status != net::IoStatus::kOk) return lose();
    written_ += sent.bytes;
  }
  output_.clear();
  written_ = 0;
  watch_stream();
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
