// SPDX-License-Identifier: Apache-2.0
#include "cli/recipes/follow.h"

#include <fmt/format.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdio>
#include <memory>
#include <mutex>

#include "cli/common/human_text.h"
#include "cli/common/screen.h"
#include "cli/ensemble/members.h"

namespace drover::cli::observe {
namespace {

constexpr std::chrono::milliseconds kLookForSignals{100};
constexpr std::chrono::seconds kRedraw{1};  // ages grow even if nothing changes

// Notifies the displaying thread of changes, from the client's executor.
class Bell {
 public:
  void ring(bool watches_are_lost = false) {
    const std::lock_guard lock(mutex_);
    rung_ = true;
    lost_ = lost_ || watches_are_lost;
    condition_.notify_all();
  }
  // The watches ended with their session.
  bool take_lost() {
    const std::lock_guard lock(mutex_);
    return std::exchange(lost_, false);
  }
  // True: something changed; false: timeout, or Ctrl-C.
  bool wait(std::chrono::steady_clock::time_point until) {
    std::unique_lock lock(mutex_);
    while (!rung_ && !is_interrupted() && std::chrono::steady_clock::now() < until) {
      condition_.wait_for(lock, kLookForSignals);
    }
    return std::exchange(rung_, false);
  }

 private:
  std::mutex mutex_;
  std::condition_variable condition_;
  bool rung_ = false;
  bool lost_ = false;
};

class Follower {
 public:
  explicit Follower(const Following& what) : what_(what), members_(find_members(what.client, what.servers)) {}

  Result<void> begin() {
    watch_ =
        Watch([bell = bell_](const WatchEvent& event) { bell->ring(event.type == EventType::kWatchLost); });
    if (auto set = set_watches(); !set) return set;
    // Changes without a connection are not reported.
    states_ = what_.client.on_state([bell = bell_](const StateEvent&) { bell->ring(); });
    return {};
  }

  Result<void> set_watches() {
    for (const std::string& path : watched_paths(what_.path, what_.limits)) {
      auto watched = sync_wait(what_.client.add_watch(path, WatchMode::kPersistentRecursive, watch_));
      if (!watched) return watched;
    }
    return {};
  }

  void go_on() {
    const bool terminal = isatty(STDOUT_FILENO) != 0 && !what_.json;
    bool changed = true;
    while (!is_interrupted()) {
      if (bell_->take_lost() && !set_watches()) bell_->ring(true);
      if (changed) look();
      if (terminal) draw();
      changed = bell_->wait(terminal ? std::chrono::steady_clock::now() + kRedraw
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
  std::shared_ptr<Bell> bell_ = std::make_shared<Bell>();  // A callback may run while this is destroyed.
  Watch watch_;
  Client::Subscription states_;
  View view_;
  std::string last_;
};

}  // namespace

int follow(const Following& following) {
  catch_signals();
  Follower follower(following);
  if (const auto begun = follower.begin(); !begun) {
    print_error(begun.error());
    return kFailedExit;
  }
  follower.go_on();
  return 0;
}

}  // namespace drover::cli::observe
