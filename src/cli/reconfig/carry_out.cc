// SPDX-License-Identifier: Apache-2.0
#include "cli/reconfig/carry_out.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <thread>

#include "base/text.h"
#include "cli/common/human_text.h"
#include "cli/common/interrupt.h"
#include "cli/common/options.h"
#include "cli/reconfig/look.h"

namespace drover::cli::reconfig {
namespace {

using Steady = std::chrono::steady_clock;

constexpr std::chrono::seconds kRequestPatience{30};
constexpr std::chrono::milliseconds kLookInterval{200};

template <class... Args>
void tell(fmt::format_string<Args...> format, Args&&... args) {
  fmt::print("{}\n", fmt::format(format, std::forward<Args>(args)...));
  std::fflush(stdout);
}

std::string advice_for(const Error& error) {
  switch (error.code) {
    case Errc::kReconfigDisabled: return "servers need reconfigEnabled=true in their configuration";
    case Errc::kUnimplemented: return "this server does not support it, or is standalone";
    case Errc::kNoAuth:
      return "say who you are with --auth digest:super:PASSWORD; servers know the super user by "
             "-Dzookeeper.DigestAuthenticationProvider.superDigest";
    case Errc::kBadVersion:
      return "somebody else has changed the members meanwhile; look at them and begin again";
    case Errc::kReconfigInProgress: return "another change is in progress; begin again when it is done";
    case Errc::kNewConfigNoQuorum:
      return "the leader sees no quorum of the new voters; a single voter cannot promote an observer: remove "
             "it, "
             "and add it when it is synced";
    default: return {};
  }
}

class Carrier {
 public:
  Carrier(const Client& client, const Found& found, const Plan& plan, std::chrono::milliseconds patience)
      : client_(client), config_(found.config), plan_(plan), patience_(patience) {}

  bool run() {
    for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
      const Step& step = plan_.steps[i];
      tell("step {} of {}: {}", i + 1, plan_.steps.size(), step.text);
      if (!change(step)) return fail(i, false);
      tell("  committed: version {}", hex_text(config_.version));
      if (!wait_for(step)) return fail(i, true);
    }
    tell("Done. {}.", quorum_text(config_));
    return true;
  }

 private:
  bool change(const Step& step) {
    auto changed = sync_wait(
        client_.reconfig({.joining = step.joining, .leaving = step.leaving, .from_version = config_.version},
                         Wait::within(kRequestPatience)));
    if (changed) {
      config_ = parse_ensemble_config(changed->data);
      return true;
    }
    const Error& error = changed.error();
    // The leader may have changed, and the reply with it.
    if (error.maybe_applied() && was_applied(step)) {
      tell("  the reply was lost ({}); the configuration shows that it is done", error.to_text());
      return true;
    }
    const std::string advice = advice_for(error);
    fmt::print(stderr, "drover: {}{}{}\n", error.to_text(), advice.empty() ? "" : ": ", advice);
    return false;
  }

  bool was_applied(const Step& step) {
    const auto now = read_members(client_);
    if (!now || now->version == config_.version) return false;
    const auto joined = parse_ensemble_config(lines_of(step.joining)).members;
    const auto is_there = [&](const EnsembleMember& wanted) {
      return std::any_of(now->members.begin(), now->members.end(), [&](const EnsembleMember& member) {
        return member.id == wanted.id && member.observer == wanted.observer && member.peers == wanted.peers;
      });
    };
    const auto is_gone = [&](std::int64_t id) {
      return std::none_of(now->members.begin(), now->members.end(),
                          [&](const EnsembleMember& member) { return member.id == id; });
    };
    if (!std::all_of(joined.begin(), joined.end(), is_there)) return false;
    for (const EnsembleMember& old : config_.members) {
      const bool leaves = ("," + step.leaving + ",").find(fmt::format(",{},", old.id)) != std::string::npos;
      if (leaves && !is_gone(old.id)) return false;
    }
    config_ = *now;
    return true;
  }
  static std::string lines_of(std::string joining) {
    std::replace(joining.begin(), joining.end(), ',', '\n');
    return joining;
  }

  // Prints each state once.
  bool wait_for(const Step& step) {
    const auto until = Steady::now() + patience_;
    std::map<std::int64_t, std::string> last;
    while (!step.wait.empty()) {
      std::vector<EnsembleMember> members;
      for (const EnsembleMember& member : config_.members) {
        if (std::count(step.wait.begin(), step.wait.end(), member.id) > 0) members.push_back(member);
      }
      bool ready = true;
      for (const auto& [id, health] : look_at(members, false)) {
        const std::string state = state_text(health);
        if (std::exchange(last[id], state) != state) tell("  server.{}: {}", id, state);
        ready = ready && is_ready(health, id);
      }
      if (ready) return true;
      if (Interruptible::is_interrupted()) {
        fmt::print(stderr, "drover: interrupted\n");
        return false;
      }
      if (Steady::now() > until) {
        fmt::print(stderr, "drover: not synced within {} s; --wait SECONDS waits longer\n",
                   std::chrono::duration_cast<std::chrono::seconds>(patience_).count());
        return false;
      }
      std::this_thread::sleep_for(kLookInterval);
    }
    return true;
  }
  // An observer that was promoted starts again as a follower.
  bool is_ready(const Health& health, std::int64_t id) const {
    const bool observer = std::any_of(config_.members.begin(), config_.members.end(),
                                      [&](const EnsembleMember& m) { return m.id == id && m.observer; });
    return health.state == Health::State::kServing && (health.role == "observer") == observer;
  }

  bool fail(std::size_t failed, bool committed) const {
    const auto now = read_members(client_);
    if (!now) {
      fmt::print(stderr, "The present members could not be read: {}. `drover reconfig show` shows them.\n",
                 now.error().to_text());
    } else {
      fmt::print(stderr, "The members are now (version {}; {}):\n", hex_text(now->version),
                 quorum_text(*now));
      for (const EnsembleMember& member : now->members) {
        fmt::print(stderr, "  server.{}={}\n", member.id, observe::safe_text(member.text));
      }
    }
    const std::size_t done = failed + (committed ? 1 : 0);
    if (done == 0) {
      fmt::print(stderr, "Nothing was changed.\n");
      return false;
    }
    const Step& last = plan_.steps[done - 1];
    if (!last.resume.empty()) {
      fmt::print(stderr, "To go on, when server.{} is synced: {}\n", fmt::join(last.wait, ", server."),
                 last.resume);
    }
    if (!last.undo.empty()) fmt::print(stderr, "To go back: {}\n", last.undo);
    return false;
  }

  Client client_;
  EnsembleConfig config_;  // after the last step
  const Plan& plan_;
  std::chrono::milliseconds patience_;
};

}  // namespace

Result<EnsembleConfig> read_members(const Client& client) {
  const auto synced = sync_wait(client.sync("/", Wait::within(kRequestPatience)));
  if (!synced) return std::unexpected(synced.error());
  const auto node = sync_wait(client.config(Wait::within(kRequestPatience)));
  if (!node) return std::unexpected(node.error());
  return parse_ensemble_config(node->data);
}

bool carry_out(const Client& client, const Found& found, const Plan& plan,
               std::chrono::milliseconds patience) {
  const Interruptible interruptible;
  return Carrier(client, found, plan, patience).run();
}

}  // namespace drover::cli::reconfig
