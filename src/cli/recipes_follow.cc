// SPDX-License-Identifier: Apache-2.0
#include "cli/recipes_follow.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <mutex>

#include "cli/observe_ensemble.h"
#include "cli/observe_text.h"

namespace drover::cli::observe {
namespace {

constexpr std::chrono::milliseconds kLookForSignals{100};
constexpr std::chrono::seconds kRedraw{1};  // ages grow though nothing changes

std::atomic<bool> asked_to_end = false;
void on_signal(int) { asked_to_end = true; }

// "Something has changed", from the client's executor to the thread that shows it.
class Bell {
 public:
  void ring() {
    const std::lock_guard lock(mutex_);
    rung_ = true;
    condition_.notify_all();
  }
  // True: it rang; false: the time is over, or somebody wants to end.
  bool wait(std::chrono::steady_clock::time_point until) {
    std::unique_lock lock(mutex_);
    while (!rung_ && !asked_to_end && std::chrono::steady_clock::now() < until) {
      condition_.wait_for(lock, kLookForSignals);
    }
    return std::exchange(rung_, false);
  }

 private:
  std::mutex mutex_;
  std::condition_variable condition_;
  bool rung_ = false;
};

class Follower {
 public:
  explicit Follower(const Following& what) : what_(what), members_(find_members(what.client, what.servers)) {}

  Result<void> begin() {
    watch_ = Watch([this](const WatchEvent&) { bell_.ring(); });
    for (const std::string& path : watched_paths(what_.path, what_.limits)) {
      auto watched = sync_wait(what_.client.add_watch(path, WatchMode::kPersistentRecursive, watch_));
      if (!watched) return watched;
    }
    // What changes while there is no connection is not told.
    states_ = what_.client.on_state([this](const StateEvent&) { bell_.ring(); });
    return {};
  }

  void go_on() {
    const bool terminal = isatty(STDOUT_FILENO) != 0 && !what_.json;
    bool changed = true;
    while (!asked_to_end) {
      if (changed) look();
      if (terminal) draw();
      changed = bell_.wait(terminal ? std::chrono::steady_clock::now() + kRedraw
                                    : std::chrono::steady_clock::time_point::max());
    }
  }

 private:
  void look() {
    auto view = read_view(what_.client, what_.path, what_.limits);
    if (!view) {
      view_ = View{.path = what_.path, .notes = {view.error().to_text()}};
    } else {
      const SessionAddresses found = find_addresses(members_);
      view_ = *std::move(view);
      fill_addresses(view_, found.addresses);
    }
    const std::string now = boost::json::serialize(json_of(view_));
    if (now == last_) return;
    last_ = now;
    if (what_.json) fmt::print("{}\n", now);
    if (!what_.json && isatty(STDOUT_FILENO) == 0) print_lines("", "\n");
    std::fflush(stdout);
  }
  void draw() {
    fmt::print("\x1b[H\x1b[2J");
    print_lines("", fmt::format("\n{}  Ctrl-C ends it\n", time_text(wall_clock_ms(), wall_clock_ms())));
    std::fflush(stdout);
  }
  void print_lines(std::string_view before, std::string_view behind) {
    fmt::print("{}", before);
    for (const std::string& line : text_of(view_, what_.purpose, wall_clock_ms())) fmt::print("{}\n", line);
    fmt::print("{}", behind);
  }

  const Following& what_;
  std::vector<Member> members_;
  Bell bell_;
  Watch watch_;
  Client::Subscription states_;
  View view_;
  std::string last_;
};

}  // namespace

int follow(const Following& following) {
  struct sigaction action{};
  action.sa_handler = on_signal;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  Follower follower(following);
  if (const auto begun = follower.begin(); !begun) {
    print_error(begun.error());
    return kFailedExit;
  }
  follower.go_on();
  return 0;
}

}  // namespace drover::cli::observe
