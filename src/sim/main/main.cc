// SPDX-License-Identifier: Apache-2.0
//
// drover-sim: whole clusters in one thread, each from a number.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <optional>
#include <string>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include "sim/cluster.h"
#include "sim/script.h"
#include "sim/sweep.h"

namespace {

using drover::sim::Cluster;
using drover::sim::Plan;
using drover::sim::RunOptions;

struct Arguments {
  std::uint64_t first = 1;
  std::uint64_t last = 0;  // none given
  int jobs = 1;
  double hours = 0;
  RunOptions run;
  bool plan_only = false;
  bool stop = false;  // at the first failure
  bool sweep = false;
  std::string script;  // empty: all
  std::string sweep_case;
};

// The seed that runs now, as text: an abort must still be able to say it.
char g_replay[64];

void on_abort(int signal) {
  const auto say = [](const char* text) { (void)!write(STDERR_FILENO, text, std::strlen(text)); };
  say("\nFAILED by a broken invariant; to see it again: ");
  say(g_replay);
  say("\n");
  std::signal(signal, SIG_DFL);
  (void)std::raise(signal);
}

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

int usage() {
  std::fputs(
      "drover-sim: simulates clusters, with faults, from seeds\n"
      "\n"
      "  --seed N [--trace] [--until EVENT]   one run; --trace prints what happens\n"
      "  --seeds A..B [--jobs J]              many\n"
      "  --hours H [--jobs J]                 as many as fit, from a seed of today\n"
      "  --stop                               at the first failure\n"
      "  --plan                               only say what the seeds stand for\n"
      "  --sweep [SCRIPT] [--jobs J]          every crash point of the short scripts\n"
      "  --sweep SCRIPT --case S:disk:N:lose  one of them (disk or send; lose, keep or tear)\n",
      stderr);
  return 2;
}

std::optional<Arguments> parse(int argc, char** argv) {
  Arguments a;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    const auto value = [&] { return i + 1 < argc ? argv[++i] : ""; };
    if (name == "--seed") {
      a.first = a.last = std::strtoull(value(), nullptr, 0);
    } else if (name == "--seeds") {
      const std::string range = value();
      const std::size_t dots = range.find("..");
      if (dots == std::string::npos) return std::nullopt;
      a.first = std::strtoull(range.c_str(), nullptr, 0);
      a.last = std::strtoull(range.c_str() + dots + 2, nullptr, 0);
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
  if (a.jobs < 1 || (a.last < a.first && !a.sweep)) return std::nullopt;
  if (!a.script.empty() && !drover::sim::find_script(a.script)) return std::nullopt;
  if (!a.sweep_case.empty() && a.script.empty()) return std::nullopt;
  return a;
}

// Every `jobs`-th seed; true when all went well.
bool run_seeds(const Arguments& a, int job) {
  std::uint64_t runs = 0;
  std::uint64_t failures = 0;
  std::uint64_t operations = 0;
  double simulated = 0;
  const std::time_t end = std::time(nullptr) + static_cast<std::time_t>(a.hours * 3600);
  for (std::uint64_t seed = a.first + static_cast<std::uint64_t>(job); seed <= a.last;
       seed += static_cast<std::uint64_t>(a.jobs)) {
    if (a.hours > 0 && std::time(nullptr) >= end) break;
    const Plan plan = drover::sim::plan_of(seed);
    std::snprintf(g_replay, sizeof g_replay, "drover-sim --seed %llu", static_cast<unsigned long long>(seed));
    if (a.plan_only) {
      std::printf("%llu: %s\n", static_cast<unsigned long long>(seed), plan.describe().c_str());
      continue;
    }
    Cluster cluster(plan, a.run);
    if (!cluster.run()) {
      ++failures;
      std::printf("FAILED seed %llu at %.3f s: %s\n  %s\n  to see it again: %s --trace\n",
                  static_cast<unsigned long long>(seed),
                  static_cast<double>(cluster.simulated()) / drover::sim::kSecond, cluster.failure().c_str(),
                  plan.describe().c_str(), g_replay);
      std::fflush(stdout);
    }
    ++runs;
    if (failures > 0 && a.stop) break;
    operations += cluster.operations();
    simulated += static_cast<double>(cluster.simulated()) / drover::sim::kSecond;
  }
  const double cpu = cpu_seconds();
  std::printf("%llu runs, %llu failed; %.0f simulated s in %.1f CPU s (%.0f per s); %llu operations\n",
              static_cast<unsigned long long>(runs), static_cast<unsigned long long>(failures), simulated,
              cpu, cpu > 0 ? simulated / cpu : 0, static_cast<unsigned long long>(operations));
  std::fflush(stdout);
  return failures == 0;
}

bool sweep_scripts(const Arguments& a, int job) {
  std::uint64_t cases = 0;
  std::uint64_t failures = 0;
  for (const drover::sim::Script& script : drover::sim::scripts()) {
    if (!a.script.empty() && script.name != a.script) continue;
    std::snprintf(g_replay, sizeof g_replay, "drover-sim --sweep %s", script.name.c_str());
    const auto result = drover::sim::sweep(
        script, static_cast<std::uint64_t>(job), static_cast<std::uint64_t>(a.jobs),
        [&](const drover::sim::SweepCase& each, const std::string& why) {
          std::printf("FAILED %s: %s\n  to see it again: drover-sim --sweep %s --case %s --trace\n",
                      script.name.c_str(), why.c_str(), script.name.c_str(),
                      drover::sim::text_of(each).c_str());
          std::fflush(stdout);
        });
    cases += result.cases;
    failures += result.failures;
    if (failures > 0 && a.stop) break;
  }
  std::printf("%llu crash points, %llu failed, in %.1f CPU s\n", static_cast<unsigned long long>(cases),
              static_cast<unsigned long long>(failures), cpu_seconds());
  std::fflush(stdout);
  return failures == 0;
}

bool run_one_case(const Arguments& a) {
  const std::string why = drover::sim::run_sweep_case(*drover::sim::find_script(a.script),
                                                      drover::sim::parse_sweep_case(a.sweep_case), a.run);
  std::printf("%s\n", why.empty() ? "no rule was broken" : why.c_str());
  return why.empty();
}

bool work(const Arguments& a, int job) {
  if (!a.sweep_case.empty()) return run_one_case(a);
  return a.sweep ? sweep_scripts(a, job) : run_seeds(a, job);
}

}  // namespace

int main(int argc, char** argv) {
  const auto arguments = parse(argc, argv);
  if (!arguments) return usage();
  std::signal(SIGABRT, on_abort);
  std::signal(SIGSEGV, on_abort);
  if (arguments->jobs == 1) return work(*arguments, 0) ? 0 : 1;
  std::vector<pid_t> children;
  for (int job = 0; job < arguments->jobs; ++job) {
    const pid_t child = fork();
    if (child == 0) std::_Exit(work(*arguments, job) ? 0 : 1);
    children.push_back(child);
  }
  bool good = true;
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    good = good && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  return good ? 0 : 1;
}
