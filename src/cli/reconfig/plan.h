// SPDX-License-Identifier: Apache-2.0
//
// Turns an operator's request and the ensemble's state into a list of checks and steps.
//
// Pure. The rule behind the steps: a server votes only after it is synced. A voter that is not synced counts
// for the size of a quorum but cannot help to make one, so three servers with two new voters would stop if
// one of the three failed. Therefore a new server joins as an observer, which changes no quorum, and is
// promoted when it serves.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "drover/ensemble.h"
#include "drover/types.h"

namespace drover::cli::reconfig {

enum class Verb : std::uint8_t { kAdd, kRemove, kReplace, kPromote, kDemote };

struct Request {
  Verb verb{};
  std::vector<EnsembleMember> joining = {};  // of add and replace
  std::vector<std::int64_t> ids = {};        // of the others; of replace: the old one
};

// The findings about one server, which may not be a member yet.
struct Health {
  enum class State : std::uint8_t {
    kUnknown,     // it has no client port that could be asked, or it does not answer words
    kDown,        // no connection
    kNotServing,  // it runs, and has no leader
    kServing,     // it follows a leader, and is synced
    kAlone,       // standalone: not part of an ensemble
  };
  State state = State::kUnknown;
  bool leads = false;
  std::string role = {};                  // "leader", "follower" or "observer"
  bool election_port_open = true;         // as seen from here
  std::optional<std::int64_t> id = {};    // as it says itself
  std::optional<std::int64_t> zxid = {};  // the last one it has applied
  std::string trouble = {};               // why it is down
};

struct Found {
  EnsembleConfig config;
  std::map<std::int64_t, Health> servers = {};         // the members, by id
  std::map<std::int64_t, Health> joining_health = {};  // the joining servers, at their new addresses
};

struct Check {
  enum class Kind : std::uint8_t { kGood, kWarning, kProblem };
  Kind kind{};
  std::string text;
};

// One reconfiguration, and what to wait for after it.
struct Step {
  std::string joining = {};  // as ConfigChange
  std::string leaving = {};
  std::string text;                     // what it does, for people
  std::vector<std::int64_t> wait = {};  // until these serve
  std::string undo = {};                // the command that goes back; empty: nothing simple does
  std::string resume = {};              // the commands that do the steps after it; empty: there are none
};

struct Plan {
  std::vector<Check> checks = {};
  std::vector<Step> steps = {};  // empty: a problem makes it impossible
  EnsembleConfig after = {};     // without a version

  bool has_problem() const;
};

Plan make_plan(const Found& found, const Request& request);

// "server.4=zk4:2888:3888:observer;2181"
std::string line_of(const EnsembleMember& member, bool observer);
std::size_t voters_in(const EnsembleConfig& config);
// "3 voters: 2 make a quorum, 1 may fail"
std::string quorum_text(const EnsembleConfig& config);

}  // namespace drover::cli::reconfig
