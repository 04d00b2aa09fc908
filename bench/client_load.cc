// SPDX-License-Identifier: Apache-2.0
//
// Measures the cost of the client library: generates load through it and prints one line of JSON.
// bench/client.py compares it with the C client.
//
//   client_load SERVERS get SESSIONS DEPTH SECONDS [io|own]   gets, DEPTH in flight in each session
//   client_load SERVERS lock SESSIONS SECONDS [io|own]        hand-offs of a mutex
//   client_load SERVERS watches COUNT                         time to rearm data watches after a reconnect
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "drover/client.h"
#include "drover/recipes/mutex.h"

namespace drover::bench {
namespace {

using std::chrono::duration;
using std::chrono::seconds;
using Steady = std::chrono::steady_clock;

constexpr int kKeys = 1000;
const std::string kRoot = "/client_load";

std::string key(int i) { return kRoot + "/" + std::to_string(i); }

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto of = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return of(usage.ru_utime) + of(usage.ru_stime);
}

double seconds_since(Steady::time_point begun) { return duration<double>(Steady::now() - begun).count(); }

Client connect(const std::string& servers, Callbacks callbacks) {
  return unwrap(
      sync_wait(Client::connect({.servers = servers, .session_timeout = seconds(30), .callbacks = callbacks},
                                Wait::within(seconds(20)))));
}

void make_nodes(const Client& client, int count) {
  const std::string data(100, 'x');
  auto root = sync_wait(client.create(kRoot));
  if (!root && root.error().code != Errc::kNodeExists) unwrap(std::move(root));
  constexpr int kAtOnce = 1000;
  for (int first = 0; first < count; first += kAtOnce) {
    std::vector<Task<Result<Created>>> creates;
    for (int i = first; i < std::min(count, first + kAtOnce); ++i)
      creates.push_back(client.create(key(i), data));
    sync_wait(when_all(std::move(creates)));
  }
}

// One slot of the pipeline: sends the next request when the last one is answered.
Task<Result<long>> get_on(Client client, int first, Steady::time_point until) {
  long done = 0;
  for (int i = first; Steady::now() < until; i = (i + 1) % kKeys) {
    auto reading = client.get(key(i));
    auto node = co_await std::move(reading);
    if (!node) co_return std::unexpected(node.error());
    if (node->data.size() != 100) co_return fail(Errc::kBadData, key(i));
    ++done;
  }
  co_return done;
}

int get(const std::string& servers, int sessions, int depth, double time, Callbacks callbacks) {
  std::vector<Client> clients;
  for (int i = 0; i < sessions; ++i) clients.push_back(connect(servers, callbacks));
  make_nodes(clients.front(), kKeys);
  const double cpu_before = cpu_seconds();
  const auto begun = Steady::now();
  const auto until = begun + std::chrono::duration_cast<Steady::duration>(duration<double>(time));
  std::vector<Task<Result<long>>> all;
  for (int i = 0; i < sessions * depth; ++i)
    all.push_back(run_on(clients[static_cast<std::size_t>(i / depth)].scheduler(),
                         get_on(clients[static_cast<std::size_t>(i / depth)], i * 37 % kKeys, until)));
  long ops = 0;
  for (auto& each : sync_wait(when_all(std::move(all)))) ops += unwrap(std::move(each));
  const double took = seconds_since(begun);
  const double cpu = cpu_seconds() - cpu_before;
  std::printf("{\"mode\":\"get\",\"ops_s\":%.0f,\"cli_cpu_s\":%.3f,\"ops_per_cli_cpu_s\":%.0f}\n",
              static_cast<double>(ops) / took, cpu, static_cast<double>(ops) / cpu);
  return 0;
}

// One contender. `inside` counts the contenders that believe they hold the lock.
Task<Result<long>> contend(Client client, std::atomic<int>* inside, Steady::time_point until) {
  const recipes::Mutex mutex(client, kRoot + "-lock");
  long held = 0;
  while (Steady::now() < until) {
    auto acquiring = mutex.acquire();
    auto guard = co_await std::move(acquiring);
    if (!guard) co_return std::unexpected(guard.error());
    if (inside->fetch_add(1) != 0) co_return fail(Errc::kBadData, {}, "two hold one lock");
    ++held;
    inside->fetch_sub(1);
    auto releasing = guard->release();
    auto released = co_await std::move(releasing);
    if (!released) co_return std::unexpected(released.error());
  }
  co_return held;
}

int lock(const std::string& servers, int sessions, double time, Callbacks callbacks) {
  std::vector<Client> clients;
  for (int i = 0; i < sessions; ++i) clients.push_back(connect(servers, callbacks));
  std::atomic<int> inside = 0;
  const double cpu_before = cpu_seconds();
  const auto begun = Steady::now();
  const auto until = begun + std::chrono::duration_cast<Steady::duration>(duration<double>(time));
  std::vector<Task<Result<long>>> all;
  for (const Client& client : clients)
    all.push_back(run_on(client.scheduler(), contend(client, &inside, until)));
  long held = 0;
  for (auto& each : sync_wait(when_all(std::move(all)))) held += unwrap(std::move(each));
  const double took = seconds_since(begun);
  std::printf("{\"mode\":\"lock\",\"handoffs_s\":%.0f,\"cli_cpu_s\":%.3f}\n",
              static_cast<double>(held) / took, cpu_seconds() - cpu_before);
  return 0;
}

int watches(const std::string& servers, int count) {
  const Client client = connect(servers, Callbacks::kOwnThread);
  make_nodes(client, count);
  long told = 0;
  Watch watch([&told](const WatchEvent&) { ++told; });
  std::vector<Task<Result<NodeData>>> reads;
  for (int i = 0; i < count; ++i) reads.push_back(client.get(key(i), watch));
  for (auto& each : sync_wait(when_all(std::move(reads)))) unwrap(std::move(each));

  // The reply to a request that is made after the move arrives after all watches are set on the new
  // connection.
  std::atomic<int> connects = 0;
  const auto counting = client.on_state([&connects](const StateEvent& event) {
    if (event.state == ConnectionState::kConnected) ++connects;
    connects.notify_all();
  });
  connects.wait(0);  // the callback gets the current state first
  const auto begun = Steady::now();
  client.move_on();
  connects.wait(1);
  unwrap(sync_wait(client.exists("/", Wait::within(seconds(30)))));
  const double took = seconds_since(begun);
  const Client other = connect(servers, Callbacks::kOwnThread);
  for (const int i : {0, count / 2, count - 1}) unwrap(sync_wait(other.set(key(i), "y")));
  const auto patience = Steady::now() + seconds(10);
  while (told < 3 && Steady::now() < patience) unwrap(sync_wait(client.exists("/")));
  std::printf("{\"mode\":\"watches\",\"count\":%d,\"rearmed_s\":%.3f,\"told\":%ld}\n", count, took, told);
  return told == 3 ? 0 : 1;
}

int run(int argc, char** argv) {
  const std::string_view mode = argc > 2 ? argv[2] : "";
  const bool io = argc > 3 && std::string_view(argv[argc - 1]) == "io";
  const Callbacks callbacks = io ? Callbacks::kIoThread : Callbacks::kOwnThread;
  if (mode == "get" && (argc == 6 || argc == 7))
    return get(argv[1], std::atoi(argv[3]), std::atoi(argv[4]), std::atof(argv[5]), callbacks);
  if (mode == "lock" && (argc == 5 || argc == 6))
    return lock(argv[1], std::atoi(argv[3]), std::atof(argv[4]), callbacks);
  if (mode == "watches" && argc == 4) return watches(argv[1], std::atoi(argv[3]));
  std::fprintf(stderr,
               "usage: client_load SERVERS get SESSIONS DEPTH SECONDS [io|own]\n"
               "       client_load SERVERS lock SESSIONS SECONDS [io|own]\n"
               "       client_load SERVERS watches COUNT\n");
  return 2;
}

}  // namespace
}  // namespace drover::bench

int main(int argc, char** argv) {
  try {
    return drover::bench::run(argc, argv);
  } catch (const drover::Exception& error) {
    std::fprintf(stderr, "client_load: %s\n", error.what());
    return 1;
  }
}
