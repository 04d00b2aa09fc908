// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/bench.h"

#include <fmt/format.h>

#include <cstdio>

#include "cli/bench/load.h"
#include "cli/common/options.h"
#include "cli/common/screen.h"

namespace drover::cli::observe {
namespace {

constexpr std::size_t kReplyBytesMax = 256 << 20;  // the names of a few million nodes, to remove them
constexpr int kMoreTries = 3;

int remove_leftovers(const Client& client) {
  const auto roots = find_leftovers(client);
  if (!roots) {
    print_error(roots.error());
    return kFailedExit;
  }
  for (const std::string& root : *roots) {
    if (const auto removed = remove_tree(client, root); !removed) {
      print_error(removed.error());
      return kFailedExit;
    }
    fmt::print("removed {}\n", root);
  }
  if (roots->empty()) fmt::print("nothing to remove\n");
  return 0;
}

bool is_lost(const Error& error) { return error == Errc::kConnectionLoss || error == Errc::kSessionExpired; }

// The server may have gone away during the load, and the client's session with it. What was created is still
// there.
Result<void> remove_all(const Client& client, const Plan& plan) {
  auto removed = remove_tree(client, plan.root);
  for (int i = 0; i < kMoreTries && !removed && is_lost(removed.error()); ++i) {
    const auto another = connect(plan.client);
    if (!another) return std::unexpected(another.error());
    removed = remove_tree(*another, plan.root);
    sync_wait(another->close(Wait::within(std::chrono::seconds(2))));
  }
  return removed;
}

// True: nothing is left.
bool clean_up(const Client& client, const Plan& plan) {
  if (is_interrupted()) {
    fmt::print(stderr, "drover bench: removing {}; a second Ctrl-C exits without removing it\n", plan.root);
  }
  const auto removed = remove_all(client, plan);
  if (removed) return true;
  print_error(removed.error());
  fmt::print(stderr, "drover bench: {} may still exist; `drover bench clean` removes it\n", plan.root);
  return false;
}

int measure(const Client& client, const Plan& plan, bool json) {
  catch_signals();
  Outcome outcome;
  const Result<void> done = run_load(client, plan, outcome);
  if (!done) print_error(done.error());
  if (done) fmt::print("{}", json ? json_text(plan, outcome) + "\n" : text_of(plan, outcome));
  std::fflush(stdout);
  const bool clean = clean_up(client, plan);
  const bool worked = done && (outcome.latencies.count() > 0 || outcome.interrupted);
  return clean && worked && !outcome.errors.contains("two clients held one lock") ? 0 : kFailedExit;
}

int bench(const std::vector<std::string>& words) {
  const std::vector<Option> known = bench_options();
  Arguments arguments(known, words);
  const bool cleaning = arguments.words() == std::vector<std::string>{"clean"};
  Plan plan = cleaning ? Plan{.client = client_options(arguments)} : read_plan(arguments);
  if (plan.load == Load::kWatch && plan.sessions < 2)
    arguments.complain("watch needs at least two --sessions");
  if (!arguments.problem().empty()) {
    fmt::print(stderr, "drover bench: {}; see --help\n", arguments.problem());
    return kUsageExit;
  }
  plan.client.reply_bytes_max = kReplyBytesMax;
  const auto client = connect(plan.client);
  if (!client) {
    print_error(client.error());
    return kFailedExit;
  }
  const int status = cleaning ? remove_leftovers(*client) : measure(*client, plan, arguments.has("--json"));
  sync_wait(client->close(Wait::within(std::chrono::seconds(2))));
  return status;
}

}  // namespace
}  // namespace drover::cli::observe

namespace drover::cli {

int run_bench(const std::vector<std::string>& arguments) { return observe::bench(arguments); }

}  // namespace drover::cli
