// SPDX-License-Identifier: Apache-2.0
//
// drover-sim: whole clusters in one thread, each from a seed.
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <new>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/cluster.h"
#include "sim/script.h"
#include "sim/sweep.h"

namespace {

using drover::sim::Cluster;
using drover::sim::Plan;
using drover::sim::RunOptions;
using drover::sim::Script;
using drover::sim::SweepCase;
using drover::sim::Tally;

struct Arguments {
  std::uint64_t first = 1;
  std::uint64_t last = 0;             // 0: none given
  std::vector<std::uint64_t> listed;  // additional seeds, run first
  std::string failures;               // the file that remembers failing seeds; empty: none
  int jobs = 1;
  double hours = 0;
  RunOptions run;
  bool plan_only = false;
  bool stop = false;       // at the first failure
  bool tally = false;      // print what happened
  bool all_kinds = false;  // fail if something never happened
  bool sweep = false;
  std::string script;  // empty: all
  std::string sweep_case;
};

// The results of one of the parallel processes. In shared memory, so that they survive the process.
struct Work {
  std::uint64_t runs = 0;
  std::uint64_t failures = 0;
  std::uint64_t operations = 0;
  double simulated = 0;
  double cpu = 0;
  Tally tally;
};
std::span<Work> g_work;
std::atomic<bool>* g_enough =
    nullptr;  // set when a run has failed and one failure suffices, or on an interrupt

// The current run, as text: an abort must still be able to print it.
char g_replay[96];
char g_seed[32];                        // empty: no seed runs
const char* g_failures_file = nullptr;  // null: failures are not remembered

// Also called during an abort.
void remember_failure(const char* why) {
  if (!g_failures_file || g_seed[0] == '\0') return;
  const int file = open(g_failures_file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file < 0) return;
  const auto say = [&](const char* text, std::size_t size) { (void)!write(file, text, size); };
  say(g_seed, std::strlen(g_seed));
  say("  ", 2);
  say(why, std::strcspn(why, "\n"));
  say("\n", 1);
  close(file);
}

void on_abort(int signal) {
  const auto say = [](const char* text) { (void)!write(STDERR_FILENO, text, std::strlen(text)); };
  say("\nFAILED by a broken invariant; to see it again: ");
  say(g_replay);
  say("\n");
  remember_failure("an abort");
  *g_enough = true;
  std::signal(signal, SIG_DFL);
  (void)std::raise(signal);
}

// The first interrupt ends the run early and prints the results so far. The second one kills the process,
// even in a seed that never ends.
void on_interrupt(int signal) {
  *g_enough = true;
  std::signal(signal, SIG_DFL);
}

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

unsigned long long number(std::uint64_t n) { return n; }

int usage() {
  std::fputs(
      "drover-sim: simulates clusters, with faults, from seeds\n"
      "\n"
      "  --seed N [--trace] [--until EVENT]   one run; --trace prints what happens\n"
      "  --seeds A..B [--jobs J]              many\n"
      "  --hours H [--jobs J]                 as many as fit, from a seed of today\n"
      "  --list FILE                          the seeds in FILE, one on a line, before any others; what\n"
      "                                       follows a number is for people, and so are lines with #\n"
      "  --failures FILE                      add the seeds that fail to FILE, which --list can read\n"
      "  --tally                              say in the end how often each kind of thing happened\n"
      "  --all-kinds                          fail unless every kind of thing happened\n"
      "  --stop                               at the first failure\n"
      "  --plan                               only say what the seeds stand for\n"
      "  --sweep [SCRIPT] [--jobs J]          every crash point of the short scripts\n"
      "  --sweep SCRIPT --case S:disk:N:lose  one of them (disk or send; lose, keep or tear)\n",
      stderr);
  return 2;
}

bool parse_range(const std::string& range, Arguments& a) {
  const std::size_t dots = range.find("..");
  if (dots == std::string::npos) return false;
  a.first = std::strtoull(range.c_str(), nullptr, 0);
  a.last = std::strtoull(range.c_str() + dots + 2, nullptr, 0);
  return true;
}

bool read_list(const std::string& path, std::vector<std::uint64_t>& seeds) {
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    std::uint64_t seed = 0;
    if (std::istringstream(line.substr(0, line.find('#'))) >> seed) seeds.push_back(seed);
  }
  if (!file.eof()) std::fprintf(stderr, "drover-sim: %s cannot be read\n", path.c_str());
  return file.eof();
}

std::optional<Arguments> parse(int argc, char** argv) {
  Arguments a;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    const auto value = [&] { return i + 1 < argc ? argv[++i] : ""; };
    if (name == "--seed") {
      a.first = a.last = std::strtoull(value(), nullptr, 0);
    } else if (name == "--seeds") {
      if (!parse_range(value(), a)) return std::nullopt;
    } else if (name == "--list") {
      if (!read_list(value(), a.listed)) return std::nullopt;
    } else if (name == "--failures") {
      a.failures = value();
    } else if (name == "--jobs") {
      a.jobs = std::atoi(value());
    } else if (name == "--hours") {
      a.hours = std::atof(value());
    } else if (name == "--trace") {
      a.run.trace = true;
    } else if (name == "--until") {
      a.run.until = std::strtoull(value(), nullptr, 0);
    } else if (name == "--stop") {
      a.stop = true;
    } else if (name == "--tally") {
      a.tally = true;
    } else if (name == "--all-kinds") {
      a.all_kinds = true;
    } else if (name == "--sweep") {
      a.sweep = true;
      if (i + 1 < argc && argv[i + 1][0] != '-') a.script = argv[++i];
    } else if (name == "--case") {
      a.sweep_case = value();
    } else if (name == "--plan") {
      a.plan_only = true;
    } else {
      return std::nullopt;
    }
  }
  if (a.hours > 0) {
    a.first = static_cast<std::uint64_t>(std::time(nullptr)) * 1000;
    a.last = UINT64_MAX;
  }
  if (a.jobs < 1 || a.jobs > 1000 || (a.last < a.first && a.listed.empty() && !a.sweep)) return std::nullopt;
  if (!a.script.empty() && !drover::sim::find_script(a.script)) return std::nullopt;
  if (!a.sweep_case.empty() && a.script.empty()) return std::nullopt;
  return a;
}

// --- seeds ---

void run_seed(const Arguments& a, std::uint64_t seed, Work& work) {
  const Plan plan = drover::sim::plan_of(seed);
  std::snprintf(g_replay, sizeof g_replay, "drover-sim --seed %llu", number(seed));
  std::snprintf(g_seed, sizeof g_seed, "%llu", number(seed));
  if (a.plan_only) {
    std::printf("%llu: %s\n", number(seed), plan.describe().c_str());
    return;
  }
  RunOptions options = a.run;
  options.tally = &work.tally;
  Cluster cluster(plan, options);
  const bool good = cluster.run();
  const double simulated = static_cast<double>(cluster.simulated()) / drover::sim::kSecond;
  ++work.runs;
  work.operations += cluster.operations();
  work.simulated += simulated;
  if (good) return;
  ++work.failures;
  std::printf("FAILED seed %llu at %.3f s: %s\n  %s\n  to see it again: %s --trace\n", number(seed),
              simulated, cluster.failure().c_str(), plan.describe().c_str(), g_replay);
  std::fflush(stdout);
  remember_failure(cluster.failure().c_str());
}

// The n-th requested seed, from 0 on; nullopt: there are no more.
std::optional<std::uint64_t> seed_of(const Arguments& a, std::uint64_t n) {
  if (n < a.listed.size()) return a.listed[n];
  const std::uint64_t behind = n - a.listed.size();
  if (a.last < a.first || behind > a.last - a.first) return std::nullopt;
  return a.first + behind;
}

// Every `jobs`-th seed.
void run_seeds(const Arguments& a, int job, Work& work) {
  const std::time_t end = std::time(nullptr) + static_cast<std::time_t>(a.hours * 3600);
  for (auto n = static_cast<std::uint64_t>(job); !*g_enough; n += static_cast<std::uint64_t>(a.jobs)) {
    const auto seed = seed_of(a, n);
    if (!seed || (a.hours > 0 && std::time(nullptr) >= end)) break;
    run_seed(a, *seed, work);
    work.cpu = cpu_seconds();
    if (work.failures > 0 && a.stop) *g_enough = true;
  }
}

// --- crash points ---

void run_case(const Script& script, const SweepCase& each, Work& work) {
  const std::string name = drover::sim::text_of(each);
  std::snprintf(g_replay, sizeof g_replay, "drover-sim --sweep %s --case %s", script.name.c_str(),
                name.c_str());
  RunOptions options;
  options.tally = &work.tally;
  const std::string why = drover::sim::run_sweep_case(script, each, options);
  ++work.runs;
  work.cpu = cpu_seconds();
  if (why.empty()) return;
  ++work.failures;
  std::printf("FAILED %s: %s\n  to see it again: %s --trace\n", script.name.c_str(), why.c_str(), g_replay);
  std::fflush(stdout);
}

void sweep(const Arguments& a, int job, Work& work) {
  for (const Script& script : drover::sim::scripts()) {
    if (!a.script.empty() && script.name != a.script) continue;
    std::snprintf(g_replay, sizeof g_replay, "drover-sim --sweep %s", script.name.c_str());
    const std::vector<SweepCase> cases = drover::sim::sweep_cases(script);
    for (auto i = static_cast<std::size_t>(job); i < cases.size() && !*g_enough;
         i += static_cast<std::size_t>(a.jobs)) {
      run_case(script, cases[i], work);
      if (work.failures > 0 && a.stop) *g_enough = true;
    }
  }
}

bool run_one_case(const Arguments& a) {
  const std::string why = drover::sim::run_sweep_case(*drover::sim::find_script(a.script),
                                                      drover::sim::parse_sweep_case(a.sweep_case), a.run);
  std::printf("%s\n", why.empty() ? "no rule was broken" : why.c_str());
  return why.empty();
}

// --- in parallel ---

void share_memory(int jobs) {
  const std::size_t bytes = sizeof(Work) * static_cast<std::size_t>(jobs) + sizeof(std::atomic<bool>);
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) std::abort();
  auto* first = static_cast<Work*>(memory);
  for (int i = 0; i < jobs; ++i) new (first + i) Work;
  g_work = {first, static_cast<std::size_t>(jobs)};
  g_enough = new (first + jobs) std::atomic<bool>(false);
}

void work(const Arguments& a, int job) {
  Work& mine = g_work[static_cast<std::size_t>(job)];
  if (a.sweep) {
    sweep(a, job, mine);
  } else {
    run_seeds(a, job, mine);
  }
}

// False if a process did not finish.
bool work_side_by_side(const Arguments& a) {
  std::vector<pid_t> children;
  for (int job = 0; job < a.jobs; ++job) {
    const pid_t child = fork();
    if (child == 0) {
      work(a, job);
      std::fflush(stdout);
      std::_Exit(0);
    }
    children.push_back(child);
  }
  bool good = true;
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    good = good && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  return good;
}

bool report(const Arguments& a) {
  Work all;
  for (const Work& each : g_work) {
    all.runs += each.runs;
    all.failures += each.failures;
    all.operations += each.operations;
    all.simulated += each.simulated;
    all.cpu += each.cpu;
    all.tally.add(each.tally);
  }
  if (a.plan_only) return true;
  if (a.tally) std::printf("%s\n", all.tally.text().c_str());
  if (a.sweep) {
    std::printf("%llu crash points, %llu failed, in %.1f CPU s\n", number(all.runs), number(all.failures),
                all.cpu);
  } else {
    std::printf("%llu runs, %llu failed; %.0f simulated s in %.1f CPU s (%.0f per s); %llu operations\n",
                number(all.runs), number(all.failures), all.simulated, all.cpu,
                all.cpu > 0 ? all.simulated / all.cpu : 0, number(all.operations));
  }
  if (all.failures > 0 && !a.failures.empty() && !a.sweep)
    std::printf("the seeds that failed are remembered in %s\n", a.failures.c_str());
  const std::string missing = a.all_kinds ? all.tally.missing() : "";
  if (!missing.empty()) std::printf("FAILED: this never happened: %s\n", missing.c_str());
  return all.failures == 0 && missing.empty();
}

}  // namespace

int main(int argc, char** argv) {
  const auto arguments = parse(argc, argv);
  if (!arguments) return usage();
  share_memory(arguments->jobs);
  if (!arguments->failures.empty()) g_failures_file = arguments->failures.c_str();
  std::signal(SIGABRT, on_abort);
  std::signal(SIGSEGV, on_abort);
  std::signal(SIGINT, on_interrupt);
  std::signal(SIGTERM, on_interrupt);
  if (!arguments->sweep_case.empty()) return run_one_case(*arguments) ? 0 : 1;
  bool good = true;
  if (arguments->jobs == 1) {
    work(*arguments, 0);
  } else {
    good = work_side_by_side(*arguments);
  }
  return report(*arguments) && good ? 0 : 1;
}
