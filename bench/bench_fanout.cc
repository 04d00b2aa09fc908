// SPDX-License-Identifier: Apache-2.0
//
// Measures the kernel's cost to send something to 10,000 connections: how soon can the last of 10,000
// watchers get its event? No server on the same machine can be faster.
#include <arpa/inet.h>
#include <benchmark/benchmark.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t kConnections = 9000;  // two descriptors each, below the usual hard limit of 20,000
constexpr std::size_t kEventBytes = 46;     // a watch event with a short path

// Loopback connections: one end for the senders, the other in one epoll instance.
class Connections {
 public:
  explicit Connections(benchmark::State& state) : poll_(epoll_create1(0)) {
    const rlimit limit{2 * kConnections + 100, 2 * kConnections + 100};
    setrlimit(RLIMIT_NOFILE, &limit);
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const name = reinterpret_cast<sockaddr*>(&address);
    bind(listener, name, size);
    listen(listener, 16);
    getsockname(listener, name, &size);
    for (std::size_t i = 0; i < kConnections && ok_; ++i) ok_ = connect_one(listener, address);
    close(listener);
    if (!ok_) state.SkipWithError("not enough descriptors: raise `ulimit -n`");
  }
  ~Connections() {
    for (const int fd : near_) close(fd);
    for (const int fd : far_) close(fd);
    close(poll_);
  }
  Connections(const Connections&) = delete;
  Connections& operator=(const Connections&) = delete;

  bool ok() const { return ok_; }

  void send_from(std::size_t first, std::size_t last) const {
    const std::array<char, kEventBytes> event{};
    for (std::size_t i = first; i < last; ++i) send(near_[i], event.data(), event.size(), MSG_NOSIGNAL);
  }

  void receive_all() const {
    std::array<epoll_event, 512> events;
    std::array<char, 4096> bytes;
    for (std::size_t got = 0; got < kConnections;) {
      const int n = epoll_wait(poll_, events.data(), events.size(), -1);
      for (int i = 0; i < n; ++i)
        recv(events[static_cast<std::size_t>(i)].data.fd, bytes.data(), bytes.size(), 0);
      got += static_cast<std::size_t>(n);
    }
  }

 private:
  bool connect_one(int listener, const sockaddr_in& address) {
    const int far = socket(AF_INET, SOCK_STREAM, 0);
    if (far < 0) return false;
    far_.push_back(far);
    if (connect(far, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return false;
    const int near = accept(listener, nullptr, nullptr);
    if (near < 0) return false;
    near_.push_back(near);
    const int on = 1;
    setsockopt(near, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    epoll_event interest{};
    interest.events = EPOLLIN;
    interest.data.fd = far;
    return epoll_ctl(poll_, EPOLL_CTL_ADD, far, &interest) == 0;
  }

  int poll_;
  bool ok_ = true;
  std::vector<int> near_;
  std::vector<int> far_;
};

// CPU time of sending and then receiving. Their sum divided by the number of cores is a lower bound for every
// way to split the work between threads.
void BM_SendThenReceive(benchmark::State& state) {
  const Connections connections(state);
  if (!connections.ok()) return;
  for (auto _ : state) {
    connections.send_from(0, kConnections);
    connections.receive_all();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kConnections));
}
BENCHMARK(BM_SendThenReceive)->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime()->UseRealTime();

// The realistic case: the argument gives the number of sending threads; one thread receives at the same time.
void BM_SendWhileAnotherReceives(benchmark::State& state) {
  const Connections connections(state);
  if (!connections.ok()) return;
  const auto senders = static_cast<std::size_t>(state.range(0));
  for (auto _ : state) {
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < senders; ++t) {
      threads.emplace_back(
          [&, t] { connections.send_from(t * kConnections / senders, (t + 1) * kConnections / senders); });
    }
    connections.receive_all();
    for (std::thread& thread : threads) thread.join();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kConnections));
}
BENCHMARK(BM_SendWhileAnotherReceives)
    ->Arg(1)
    ->Arg(2)
    ->Unit(benchmark::kMillisecond)
    ->MeasureProcessCPUTime()
    ->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
