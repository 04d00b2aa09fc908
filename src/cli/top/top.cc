// SPDX-License-Identifier: Apache-2.0
#include "cli/top/top.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <map>
#include <mutex>
#include <thread>

#include "cli/common/human_text.h"
#include "cli/common/options.h"
#include "cli/common/screen.h"
#include "cli/top/paths.h"
#include "cli/top/screen.h"
#include "cli/top/watch.h"
#include "drover/ensemble.h"

namespace drover::cli::observe {
namespace {

using Steady = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kSamplePatience{1000}, kFirstConfigPatience{3000},
    kNextConfigPatience{300};
constexpr std::chrono::milliseconds kKeyPatience{100};
constexpr std::size_t kPathsShown = 10;
constexpr int kLooksPerSearch = 10;  // Members may come and go.

struct TopOptions {
  bool once = false, json = false, paths = true;
  std::chrono::duration<double> interval{1};
  ScreenOptions screen = {};
};

// Samples all servers repeatedly; used by one thread.
class Sampler {
 public:
  Sampler(Client client, std::vector<Address> given) : client_(std::move(client)), given_(std::move(given)) {}

  Board look() {
    if (looks_++ % kLooksPerSearch == 0) search();
    std::vector<Question> questions;
    for (const Member& member : members_) {
      const Address address = member.address.value_or(Address{});
      if (member.address)
        questions.insert(questions.end(), {{address, "srvr"}, {address, "mntr"}, {address, "conf"}});
    }
    const std::vector<Answer> answers = ask(questions, kSamplePatience);
    const auto now = Steady::now();
    std::vector<Sample> samples;
    std::size_t next = 0;
    for (Member& member : members_) {
      if (!member.address) {
        samples.push_back({.at = now, .role = "unknown"});
        continue;
      }
      samples.push_back(read_sample(answers[next], answers[next + 1], now));
      if (!member.sid) member.sid = sid_in(answers[next + 2]);
      next += 3;
    }
    forget_doubles(samples);
    Board board = make_board(members_, before_, samples);
    if (config_ && !config_->empty()) board.config_version = parse_ensemble_config(*config_).version;
    before_ = std::move(samples);
    return board;
  }

 private:
  // A short timeout: `top` is needed most when no session can be opened.
  void search() {
    const auto config = read_config(client_, members_.empty() ? kFirstConfigPatience : kNextConfigPatience);
    const bool changed = config && config != config_;
    if (!members_.empty() && !changed) return;
    if (config) config_ = config;
    members_ = join_members(members_in(config_.value_or("")), given_);
    before_.clear();
  }
  // A configuration without client ports lists servers whose addresses were given on the command line. Merge
  // their rows when the id is known, or when there are as many addresses without an id as ids without an
  // address.
  void forget_doubles(std::vector<Sample>& samples) {
    erase_if(samples, [&](const Member& member) {
      const auto same = [&](const Member& other) { return other.address && other.sid == member.sid; };
      return !member.address && std::any_of(members_.begin(), members_.end(), same);
    });
    const auto nowhere = [](const Member& member) { return !member.address; };
    const auto nobody = [](const Member& member) { return !member.sid; };
    const auto without_address = std::count_if(members_.begin(), members_.end(), nowhere);
    const auto without_id = std::count_if(members_.begin(), members_.end(), nobody);
    if (without_address == 0 || without_address > without_id) return;
    if (without_address == 1 && without_id == 1) {
      std::find_if(members_.begin(), members_.end(), nobody)->sid =
          std::find_if(members_.begin(), members_.end(), nowhere)->sid;
    }
    erase_if(samples, nowhere);
  }
  template <class Unwanted>
  void erase_if(std::vector<Sample>& samples, Unwanted unwanted) {
    for (std::size_t i = members_.size(); i-- > 0;) {
      if (!unwanted(members_[i])) continue;
      const auto at = static_cast<std::ptrdiff_t>(i);
      members_.erase(members_.begin() + at);
      samples.erase(samples.begin() + at);
      if (i < before_.size()) before_.erase(before_.begin() + at);
    }
  }

  Client client_;
  std::vector<Address> given_;
  std::optional<std::string> config_;
  std::vector<Member> members_;
  std::vector<Sample> before_;
  int looks_ = 0;
};

bool answers_at_all(const Board& board) {
  return std::any_of(board.rows.begin(), board.rows.end(),
                     [](const Row& row) { return row.sample.role != "down"; });
}

class Top {
 public:
  Top(const Client& client, const TopOptions& options, std::vector<Address> given)
      : options_(options), sampler_(client, std::move(given)), paths_(client, options.paths) {}

  // Two samples, because rates need an interval.
  int once() {
    sampler_.look();
    pause();
    const Board board = look();
    if (options_.json) {
      print_json(board);
    } else {
      ScreenOptions plain = options_.screen;
      plain.footer = false;
      plain.width = plain.height = 1000;
      for (const std::string& line : lines_of(board, plain)) fmt::print("{}\n", line);
    }
    if (answers_at_all(board)) return 0;
    fmt::print(stderr,
               "drover: no server answers; choose servers with -server HOST:PORT, or start one with `drover "
               "server`\n");
    return kFailedExit;
  }

  int json_lines() {
    catch_signals();
    for (sampler_.look(); !is_interrupted();) {
      pause();
      if (!is_interrupted()) print_json(look());
    }
    return 0;
  }

  int live() {
    std::jthread sampling([this](const std::stop_token& stop) { sample_on(stop); });
    Screen screen;
    for (;;) {
      draw(screen);
      const auto key = screen.key(kKeyPatience);
      if (key == 'q' || is_interrupted()) return 0;
      if (key) press(*key);
    }
  }

 private:
  Board look() {
    Board board = sampler_.look();
    paths_.fill(board, options_.screen.depth, kPathsShown);
    return board;
  }
  void pause() {
    const auto until = Steady::now() + options_.interval;
    while (Steady::now() < until && !is_interrupted()) {
      std::this_thread::sleep_for(
          std::min<std::chrono::duration<double>>(until - Steady::now(), kKeyPatience));
    }
  }
  static void print_json(const Board& board) {
    fmt::print("{}\n", boost::json::serialize(json_of(board)));
    std::fflush(stdout);
  }

  void sample_on(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      Board board = sampler_.look();
      std::unique_lock lock(mutex_);
      board_ = std::move(board);
      woken_.wait_for(lock, stop, options_.interval, [] { return false; });
    }
  }
  void draw(const Screen& screen) {
    const Screen::Size size = screen.size();
    options_.screen.width = size.width;
    options_.screen.height = size.height;
    Board board;
    {
      const std::lock_guard lock(mutex_);
      board = board_;
    }
    paths_.fill(board, options_.screen.depth, kPathsShown);
    screen.draw(lines_of(std::move(board), options_.screen));
  }
  void press(char key) {
    static const std::map<char, SortBy> kSorts{{'s', SortBy::kServer},  {'r', SortBy::kRequests},
                                               {'l', SortBy::kLatency}, {'c', SortBy::kConnections},
                                               {'w', SortBy::kWatches}, {'z', SortBy::kLag}};
    if (const auto sort = kSorts.find(key); sort != kSorts.end()) options_.screen.sort = sort->second;
    int& depth = options_.screen.depth;
    if (key == '+') depth = std::min(depth + 1, PathCounts::kDepthMax);
    if (key == '-') depth = std::max(depth - 1, 1);
  }

  TopOptions options_;
  Sampler sampler_;
  PathWatch paths_;
  std::mutex mutex_;
  std::condition_variable_any woken_;
  Board board_;
};

int top(const std::vector<std::string>& words) {
  const std::vector<Option> known =
      with_server_options({{"--once"}, {"--json"}, {"--interval", true}, {"--depth", true}, {"--no-paths"}});
  Arguments arguments(known, words);
  TopOptions top{.once = arguments.has("--once"),
                 .json = arguments.has("--json"),
                 .paths = !arguments.has("--no-paths")};
  top.interval = std::chrono::duration<double>(arguments.number("--interval", 1, {0.05, 3600}));
  top.screen.depth = static_cast<int>(arguments.integer("--depth", 2, {1, PathCounts::kDepthMax}));
  Options options = client_options(arguments);
  options.read_only_ok = true;  // `top` must work without a quorum.
  const bool terminal = isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0;
  if (!arguments.words().empty()) arguments.complain(fmt::format("what is '{}'?", arguments.words()[0]));
  if (!top.once && !top.json && !terminal)
    arguments.complain("standard output is not a terminal: use --once or --json");
  if (!arguments.problem().empty()) {
    fmt::print(stderr, "drover top: {}; see --help\n", arguments.problem());
    return kUsageExit;
  }
  const auto client = Client::open(options);
  if (!client) {
    print_error(client.error());
    return kFailedExit;
  }
  Top here(*client, top, addresses_of(options.servers));
  const int status = top.once ? here.once() : top.json ? here.json_lines() : here.live();
  sync_wait(client->close(Wait::within(std::chrono::seconds(1))));
  return status;
}

}  // namespace
}  // namespace drover::cli::observe

namespace drover::cli {

int run_top(const std::vector<std::string>& arguments) { return observe::top(arguments); }

}  // namespace drover::cli
