// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/load.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <thread>

#include "cli/common/human_text.h"
#include "cli/common/screen.h"

namespace drover::cli::observe {
namespace {

using std::chrono::duration;

constexpr std::size_t kCreatesAtOnce = 500;  // creates in flight
constexpr std::size_t kConnectsAtOnce = 50;
constexpr std::chrono::seconds kSessionPatience{30}, kSetUpPatience{120};
constexpr std::chrono::seconds kGrace{10};  // for answers after the end
constexpr std::chrono::milliseconds kLook{20}, kProgress{500};

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto of = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return of(usage.ru_utime) + of(usage.ru_stime);
}

Steady::duration steady(double time) {
  return std::chrono::duration_cast<Steady::duration>(duration<double>(time));
}

Result<void> create_all(const Client& client, const std::vector<std::string>& paths,
                        const std::string& data) {
  for (std::size_t first = 0; first < paths.size() && !is_interrupted(); first += kCreatesAtOnce) {
    std::vector<Task<Result<Created>>> creates;
    for (std::size_t i = first; i < std::min(paths.size(), first + kCreatesAtOnce); ++i) {
      creates.push_back(client.create(paths[i], data, {}, Wait::within(kSetUpPatience)));
    }
    for (const auto& created : sync_wait(when_all(std::move(creates)))) {
      if (!created) return std::unexpected(created.error());
    }
  }
  return {};
}

Result<void> make_nodes(const Client& client, const Plan& plan) {
  std::vector<std::string> paths;
  if (plan.load == Load::kCreate) {
    for (int i = 0; i < plan.sessions; ++i) paths.push_back(fmt::format("{}/s{}", plan.root, i));
  } else if (plan.load != Load::kLock) {
    const int keys = plan.load == Load::kWatch ? 1 : plan.keys;
    for (int i = 0; i < keys; ++i) paths.push_back(key_path(plan, static_cast<std::uint64_t>(i)));
  }
  const auto root = sync_wait(client.create(plan.root, {}, {}, Wait::within(kSetUpPatience)));
  if (!root) return std::unexpected(root.error());
  return create_all(client, paths, std::string(static_cast<std::size_t>(plan.size), 'x'));
}

Result<std::vector<Client>> connect_all(const Plan& plan) {
  Options options = plan.client;
  options.callbacks = Callbacks::kIoThread;  // The client should cost little: the server is measured.
  std::vector<Client> clients;
  while (clients.size() < static_cast<std::size_t>(plan.sessions) && !is_interrupted()) {
    std::vector<Task<Result<Client>>> connects;
    const std::size_t left = static_cast<std::size_t>(plan.sessions) - clients.size();
    for (std::size_t i = 0; i < std::min(left, kConnectsAtOnce); ++i) {
      connects.push_back(Client::connect(options, Wait::within(kSessionPatience)));
    }
    for (auto& client : sync_wait(when_all(std::move(connects)))) {
      if (!client) return std::unexpected(client.error());
      clients.push_back(*std::move(client));
    }
  }
  return clients;
}

void merge(const BenchSessions& sessions, Outcome& outcome) {
  for (const auto& session : sessions) {
    outcome.latencies.merge(session->latencies());
    for (const auto& [what, count] : session->errors()) outcome.errors[what] += count;
  }
}

// A progress line for a terminal.
class Progress {
 public:
  Progress(const Plan& plan, const BenchSessions& sessions, const Phases& phases)
      : plan_(plan), sessions_(sessions), phases_(phases), shown_(isatty(STDERR_FILENO) != 0) {}
  ~Progress() {
    if (shown_) fmt::print(stderr, "\r\x1b[K");
  }
  void show() {
    const auto now = Steady::now();
    if (!shown_ || now < next_) return;
    next_ = now + kProgress;
    Outcome sofar;
    merge(sessions_, sofar);
    const double past = duration<double>(now - phases_.counts_from()).count();
    if (past < 0) {
      fmt::print(stderr, "\r\x1b[K{}: warming up", name_of(plan_.load));
    } else {
      std::uint64_t errors = 0;
      for (const auto& [what, count] : sofar.errors) errors += count;
      const double per_second = past > 0 ? static_cast<double>(sofar.latencies.count()) / past : 0;
      fmt::print(stderr, "\r\x1b[K{}: {:.0f} of {:.0f} s  {}/s  p50 {}  p99 {}  errors {}",
                 name_of(plan_.load), std::min(past, plan_.seconds), plan_.seconds, count_text(per_second),
                 latency_text(sofar.latencies.quantile(0.5)), latency_text(sofar.latencies.quantile(0.99)),
                 errors);
    }
    std::fflush(stderr);
  }

 private:
  const Plan& plan_;
  const BenchSessions& sessions_;
  const Phases& phases_;
  bool shown_;
  Steady::time_point next_{};
};

int running(const BenchSessions& sessions) {
  int count = 0;
  for (const auto& session : sessions) count += session->running();
  return count;
}

// Requests are sent when they are due, whether earlier ones were answered or not. So a server that stops for
// a second delays all requests that were due in it.
void pace(const BenchSessions& sessions, const Plan& plan, const Phases& phases, Steady::time_point begun) {
  const double interval = 1 / plan.rate;
  for (std::uint64_t i = 0;; ++i) {
    const auto due = begun + steady(static_cast<double>(i) * interval);
    if (phases.are_over(due)) return;
    while (Steady::now() < due) {
      if (phases.are_over(Steady::now())) return;
      std::this_thread::sleep_until(std::min(due, Steady::now() + kLook));
    }
    sessions[i % sessions.size()]->arrive(due);
  }
}

void wait_for_the_end(const BenchSessions& sessions, const Plan& plan, Phases& phases, Outcome& outcome) {
  Progress progress(plan, sessions, phases);
  std::optional<double> cpu_before;  // when it begins to count
  while (running(sessions) > 0 || !phases.are_over(Steady::now())) {
    progress.show();
    if (!cpu_before && Steady::now() >= phases.counts_from()) cpu_before = cpu_seconds();
    if (is_interrupted() && !outcome.interrupted) {
      outcome.interrupted = true;
      phases.end_now();
    }
    if (Steady::now() > phases.until() + kGrace) break;
    std::this_thread::sleep_for(kLook);
  }
  outcome.cpu_seconds = cpu_before ? cpu_seconds() - *cpu_before : 0;
}

Result<void> begin(const BenchSessions& sessions, const Plan& plan) {
  if (plan.load == Load::kWatch) return begin_watches(sessions);
  if (plan.load == Load::kLock) {
    begin_locks(sessions);
  } else if (plan.rate == 0) {
    for (const auto& session : sessions) session->begin_closed();
  }
  return {};
}

void close_all(const BenchSessions& sessions) {
  std::vector<Task<Result<void>>> closes;
  for (const auto& session : sessions)
    closes.push_back(session->client().close(Wait::within(std::chrono::seconds(5))));
  sync_wait(when_all(std::move(closes)));
}

}  // namespace

Result<void> run_load(const Client& control, const Plan& plan, Outcome& outcome) {
  if (const auto made = make_nodes(control, plan); !made) return made;
  auto clients = connect_all(plan);
  if (!clients) return std::unexpected(clients.error());
  if (is_interrupted()) return {};
  const auto begun = Steady::now();
  const auto counts_from = begun + steady(plan.warm_up);
  const auto phases = std::make_shared<Phases>(counts_from, counts_from + steady(plan.seconds));
  BenchSessions sessions;
  for (std::size_t i = 0; i < clients->size(); ++i) {
    sessions.push_back(std::make_shared<BenchSession>((*clients)[i], plan, phases, static_cast<int>(i)));
  }
  if (const auto going = begin(sessions, plan); !going) return going;
  {
    std::jthread pacer;
    if (plan.rate > 0) pacer = std::jthread([&] { pace(sessions, plan, *phases, begun); });
    wait_for_the_end(sessions, plan, *phases, outcome);
  }
  auto end = phases->until();
  for (const auto& session : sessions) end = std::max(end, session->last_end());
  outcome.seconds = std::max(0.0, duration<double>(end - counts_from).count());
  const int unanswered = running(sessions);
  merge(sessions, outcome);
  if (unanswered > 0)
    outcome.errors[fmt::format("without a reply {} s after the end", kGrace.count())] +=
        static_cast<std::uint64_t>(unanswered);
  close_all(sessions);
  return {};
}

}  // namespace drover::cli::observe
