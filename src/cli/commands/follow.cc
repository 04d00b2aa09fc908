// SPDX-License-Identifier: Apache-2.0
//
// `watch`: prints the changes of a subtree until Ctrl-C.
#include <chrono>
#include <condition_variable>
#include <ctime>
#include <deque>
#include <mutex>

#include <fmt/format.h>

#include "cli/commands/commands.h"
#include "cli/common/human_text.h"
#include "cli/common/interrupt.h"
#include "cli/common/text.h"

namespace drover::cli {
namespace {

// A signal handler cannot notify a condition variable, so check for it this often.
constexpr std::chrono::milliseconds kLook{100};

struct Change {
  std::int64_t time_ms = 0;
  std::string what;  // "NodeCreated", or a state of the connection
  std::string path;
};

// Queue from the client's thread to the main thread.
class Changes {
 public:
  void push(std::string_view what, std::string path) {
    using namespace std::chrono;
    const auto now = duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
    const std::lock_guard lock(mutex_);
    queue_.push_back({now, std::string(what), std::move(path)});
    ready_.notify_one();
  }
  std::optional<Change> next() {
    std::unique_lock lock(mutex_);
    while (queue_.empty()) {
      if (Interruptible::is_interrupted()) return std::nullopt;
      ready_.wait_for(lock, kLook);
    }
    Change change = std::move(queue_.front());
    queue_.pop_front();
    return change;
  }

 private:
  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<Change> queue_;
};

std::string clock_text(std::int64_t ms) {
  const std::time_t seconds = ms / 1000;
  std::tm parts{};
  ::localtime_r(&seconds, &parts);
  return fmt::format("{:02}:{:02}:{:02}.{:03}", parts.tm_hour, parts.tm_min, parts.tm_sec, ms % 1000);
}

std::string colour_of(const std::string& what) {
  if (what == "NodeCreated") return "32";
  return what == "NodeDeleted" ? "31" : "33";
}

void print(Context& context, const Change& change) {
  std::optional<NodeData> node;
  if (change.what == "NodeCreated" || change.what == "NodeDataChanged") {
    if (auto read = Context::ask(context.client().get(change.path, context.wait()))) node = *std::move(read);
  }
  if (context.json) {
    JsonObject object;
    object.number("time", change.time_ms).text("event", change.what).text("path", change.path);
    if (node) object.data(*node);
    context.print(object);
  } else {
    std::string line = fmt::format("{} {} {}", clock_text(change.time_ms),
                                   context.output.coloured(change.what, colour_of(change.what)), change.path);
    if (node && !node->data.empty()) line += " " + observe::safe_text(json_string(node->data));
    context.print(line);
  }
  context.output.flush();
}

std::string_view name_of(ConnectionState state) {
  switch (state) {
    case ConnectionState::kSuspended: return "Disconnected";
    case ConnectionState::kConnected:
    case ConnectionState::kReadOnly: return "Reconnected";
    default: return "SessionEnded";
  }
}

}  // namespace

Outcome follow_tree(Context& context, const Flags& flags) {
  const std::string& path = flags.arguments()[0];
  CLI_TRY(check_path(path));
  std::optional<std::int64_t> left;
  if (flags.has("n")) {
    left = parse_long(flags.value("n"));
    if (!left || *left < 1) return fail_with("-n takes the number of changes to wait for");
  }
  // Shared with callbacks, which may run once more after the watch has ended.
  const auto changes = std::make_shared<Changes>();
  const Interruptible interruptible;
  const Watch watch(
      [changes](const WatchEvent& event) { changes->push(event_name(event.type), event.path); });
  CLI_TRY(
      Context::ask(context.client().add_watch(path, WatchMode::kPersistentRecursive, watch, context.wait())));
  bool first = true;  // The current state is not a change.
  const auto states = context.client().on_state([changes, first](const StateEvent& event) mutable {
    if (!std::exchange(first, false)) changes->push(name_of(event.state), "");
  });
  if (!context.json && context.output.is_error_terminal()) {
    context.output.err_line("(following " + path + "; Ctrl-C ends it)");
  }
  while (const auto change = changes->next()) {
    if (change->what == "SessionEnded") return fail_with(Error{Errc::kSessionExpired});
    // Changes in between were not reported.
    print(context, change->what == "Reconnected"
                       ? Change{change->time_ms, "Reconnected", "(changes may have been missed)"}
                       : *change);
    if (context.output.is_broken()) return {};
    if (left && !change->path.empty() && --*left == 0) return {};
  }
  return {};
}

}  // namespace drover::cli
