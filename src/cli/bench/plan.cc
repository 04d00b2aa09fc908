// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <cmath>
#include <random>

#include "cli/common/human_text.h"

namespace drover::cli::observe {
namespace {

namespace json = boost::json;

constexpr std::array<std::string_view, 6> kLoads{"get", "set", "create", "mixed", "lock", "watch"};

struct Point {
  std::string_view name;
  double share;
};
constexpr std::array kPoints{Point{"p50", 0.5},  Point{"p90", 0.9},     Point{"p95", 0.95},
                             Point{"p99", 0.99}, Point{"p99.9", 0.999}, Point{"p99.99", 0.9999}};

double us(double ns) { return std::round(ns / 10) / 100; }

std::string new_root() {
  std::random_device random;
  return fmt::format("/drover-bench-{:08x}{:08x}", random(), random());
}

std::string_view what_is_counted(Load load) {
  switch (load) {
    case Load::kLock: return "hand-overs";
    case Load::kWatch: return "events";
    default: return "requests";
  }
}

double rate_of(const Outcome& outcome) {
  return outcome.seconds <= 0 ? 0 : static_cast<double>(outcome.latencies.count()) / outcome.seconds;
}

}  // namespace

std::string_view name_of(Load load) { return kLoads.at(static_cast<std::size_t>(load)); }

std::vector<Option> bench_options() {
  return with_server_options({{"--sessions", true},
                              {"--in-flight", true},
                              {"--size", true},
                              {"--keys", true},
                              {"--reads", true},
                              {"--seconds", true},
                              {"--warm-up", true},
                              {"--rate", true},
                              {"--json"}});
}

Plan read_plan(Arguments& arguments) {
  Plan plan{.client = client_options(arguments), .root = new_root()};
  const std::string load = arguments.words().empty() ? "mixed" : arguments.words()[0];
  const auto known = std::find(kLoads.begin(), kLoads.end(), load);
  if (known == kLoads.end() || arguments.words().size() > 1) {
    arguments.complain(
        fmt::format("unknown load '{}': expected get, set, create, mixed, lock, watch or clean", load));
  } else {
    plan.load = static_cast<Load>(known - kLoads.begin());
  }
  const bool locks = plan.load == Load::kLock;
  plan.sessions = static_cast<int>(arguments.integer("--sessions", 8, {1, 10'000}));
  plan.in_flight = static_cast<int>(arguments.integer("--in-flight", 16, {1, 10'000}));
  plan.size = static_cast<int>(arguments.integer("--size", 100, {0, 1'000'000}));
  plan.keys = static_cast<int>(arguments.integer("--keys", locks ? 1 : 1000, {1, 10'000'000}));
  plan.reads = arguments.number("--reads", 90, {0, 100});
  plan.seconds = arguments.number("--seconds", 10, {0.1, 1e6});
  plan.warm_up = arguments.number("--warm-up", 1, {0, 1e6});
  plan.rate = arguments.number("--rate", 0, {0, 1e9});
  if (plan.rate > 0 && (locks || plan.load == Load::kWatch)) {
    arguments.complain(fmt::format("--rate is for requests, not for {}", name_of(plan.load)));
  }
  return plan;
}

std::string latency_text(std::int64_t ns) {
  const auto value = static_cast<double>(ns);
  if (value < 1e3) return fmt::format("{} ns", ns);
  if (value < 1e6) return fmt::format("{:.3g} µs", value / 1e3);
  if (value < 1e9) return fmt::format("{:.3g} ms", value / 1e6);
  return fmt::format("{:.3g} s", value / 1e9);
}

std::string text_of(const Plan& plan, const Outcome& outcome) {
  std::string text = fmt::format("{}: {} {} in {:.1f} s, {}/s{}\n", name_of(plan.load),
                                 outcome.latencies.count(), what_is_counted(plan.load), outcome.seconds,
                                 count_text(rate_of(outcome)), outcome.interrupted ? " (interrupted)" : "");
  for (const Point& point : kPoints) {
    text +=
        fmt::format("  {:<7} {:>10}\n", point.name, latency_text(outcome.latencies.quantile(point.share)));
  }
  text += fmt::format("  {:<7} {:>10}\n  {:<7} {:>10}\n", "max", latency_text(outcome.latencies.max()),
                      "mean", latency_text(static_cast<std::int64_t>(outcome.latencies.mean())));
  for (const auto& [what, count] : outcome.errors) text += fmt::format("  errors: {} {}\n", count, what);
  if (plan.rate > 0) {
    text += fmt::format("  rate: {} per second; latencies count from when each request was due\n", plan.rate);
  }
  return text + fmt::format("  CPU of this client: {:.2f} s\n", outcome.cpu_seconds);
}

std::string json_text(const Plan& plan, const Outcome& outcome) {
  json::object latencies, errors;
  for (const Point& point : kPoints) {
    latencies[point.name] = us(static_cast<double>(outcome.latencies.quantile(point.share)));
  }
  latencies["max"] = us(static_cast<double>(outcome.latencies.max()));
  latencies["mean"] = us(outcome.latencies.mean());
  for (const auto& [what, count] : outcome.errors) errors[what] = count;
  const json::object object{{"load", name_of(plan.load)},
                            {"servers", plan.client.servers},
                            {"sessions", plan.sessions},
                            {"in_flight", plan.in_flight},
                            {"size", plan.size},
                            {"keys", plan.keys},
                            {"rate_asked", plan.rate},
                            {"seconds", outcome.seconds},
                            {"interrupted", outcome.interrupted},
                            {"count", outcome.latencies.count()},
                            {"per_second", std::round(rate_of(outcome))},
                            {"latency_us", latencies},
                            {"errors", errors},
                            {"client_cpu_s", outcome.cpu_seconds}};
  return json::serialize(object);
}

}  // namespace drover::cli::observe
