// SPDX-License-Identifier: Apache-2.0
#include "cli/reconfig/plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace drover::cli::reconfig {
namespace {

using Ids = std::vector<std::int64_t>;
using State = Health::State;

const EnsembleMember* find_member(const EnsembleConfig& config, std::int64_t id) {
  const auto found = std::find_if(config.members.begin(), config.members.end(),
                                  [&](const EnsembleMember& member) { return member.id == id; });
  return found == config.members.end() ? nullptr : &*found;
}

// The configuration after a step.
EnsembleConfig with(EnsembleConfig config, EnsembleMember member, bool observer) {
  member.observer = observer;
  member.text = line_of(member, observer).substr(fmt::format("server.{}=", member.id).size());
  std::erase_if(config.members, [&](const EnsembleMember& other) { return other.id == member.id; });
  config.members.push_back(std::move(member));
  return config;
}
EnsembleConfig without(EnsembleConfig config, std::int64_t id) {
  std::erase_if(config.members, [&](const EnsembleMember& member) { return member.id == id; });
  return config;
}

bool shares_address(const EnsembleMember& a, const EnsembleMember& b) {
  for (const PeerEndpoint& x : a.peers) {
    for (const PeerEndpoint& y : b.peers) {
      const bool ports = x.quorum_port == y.quorum_port || x.election_port == y.election_port ||
                         x.quorum_port == y.election_port || x.election_port == y.quorum_port;
      if (x.host == y.host && ports) return true;
    }
  }
  return a.client && a.client == b.client;
}

std::string names_of(const Ids& ids) { return fmt::format("server.{}", fmt::join(ids, ", server.")); }

// "server.1 a voter", "server.1, server.2 voters"
std::string names_as(const Ids& ids, bool observer) {
  const std::string_view role = observer ? "observer" : "voter";
  if (ids.size() > 1) return fmt::format("{} {}s", names_of(ids), role);
  return fmt::format("{} {} {}", names_of(ids), observer ? "an" : "a", role);
}

class Planner {
 public:
  Planner(const Found& found, const Request& request) : found_(found), request_(request) {}

  Plan make() && {
    check_ensemble();
    check_request();
    if (is_possible_) plan_steps();
    if (!is_possible_) plan_.steps.clear();
    return std::move(plan_);
  }

 private:
  using Kind = Check::Kind;
  void say(Kind kind, std::string text) { plan_.checks.push_back({kind, std::move(text)}); }
  // A problem that --force cannot ignore: there is no step that would make sense.
  void refuse(std::string text) {
    is_possible_ = false;
    say(Kind::kProblem, std::move(text));
  }

  void check_ensemble() {
    if (found_.config.members.empty()) {
      return refuse("/zookeeper/config lists no members: a standalone server cannot be reconfigured");
    }
    if (found_.config.has_groups) {
      return refuse(
          "the ensemble has groups and weights, which take only a whole new configuration: `drover cli "
          "reconfig -file FILE`");
    }
    Ids away;
    for (const EnsembleMember& member : found_.config.members) {
      const State state = state_of(member.id);
      if (!member.observer && state != State::kServing && state != State::kUnknown) away.push_back(member.id);
    }
    if (!away.empty()) say(Kind::kWarning, names_of(away) + " does not serve now");
  }

  State state_of(std::int64_t id) const {
    const auto at = found_.servers.find(id);
    return at == found_.servers.end() ? State::kUnknown : at->second.state;
  }

  void check_request() {
    for (const std::int64_t id : request_.ids) check_known(id);
    for (const EnsembleMember& member : request_.joining) check_joining(member);
  }

  void check_known(std::int64_t id) {
    const EnsembleMember* member = find_member(found_.config, id);
    if (member == nullptr) {
      return refuse(fmt::format("server.{} is not a member; `drover reconfig show` lists them", id));
    }
    if (std::count(request_.ids.begin(), request_.ids.end(), id) > 1) {
      return refuse(fmt::format("server.{} is named twice", id));
    }
    if (request_.verb == Verb::kPromote && !member->observer) {
      return refuse(fmt::format("server.{} is a voter already", id));
    }
    if (request_.verb == Verb::kDemote && member->observer) {
      return refuse(fmt::format("server.{} is an observer already", id));
    }
    if (request_.verb == Verb::kPromote) check_synced(id, found_.servers);
    const auto health = found_.servers.find(id);
    if (health != found_.servers.end() && health->second.leads && request_.verb != Verb::kPromote) {
      say(Kind::kWarning, fmt::format("server.{} leads: writes pause until another server leads", id));
    }
  }

  void check_joining(const EnsembleMember& member) {
    const bool same_id = request_.verb == Verb::kReplace && request_.ids[0] == member.id;
    if (find_member(found_.config, member.id) != nullptr && !same_id) {
      return refuse(
          fmt::format("server.{0} is a member already; `drover reconfig replace {0} ...` changes its address",
                      member.id));
    }
    const auto repeats = [&](const EnsembleMember& other) { return other.id == member.id; };
    if (std::count_if(request_.joining.begin(), request_.joining.end(), repeats) > 1) {
      return refuse(fmt::format("server.{} is named twice", member.id));
    }
    if (!member.client) {
      return refuse(
          fmt::format("server.{0} has no client port, so nobody could use or watch it: server.{0}={1};2181",
                      member.id, member.text));
    }
    for (const std::vector<EnsembleMember>* list : {&found_.config.members, &request_.joining}) {
      for (const EnsembleMember& other : *list) {
        if (other.id == member.id || !shares_address(member, other)) continue;
        const bool leaves = request_.verb == Verb::kReplace && other.id == request_.ids[0];
        if (!leaves) return refuse(fmt::format("server.{} has a port of server.{}", member.id, other.id));
        return refuse(
            fmt::format("server.{0} has a port of server.{1}: keep the id, `drover reconfig replace "
                        "{1} server.{1}=...`",
                        member.id, other.id));
      }
    }
    if (moves_itself(member)) {
      return say(
          Kind::kWarning,
          fmt::format("server.{} runs, and takes its new addresses itself: they must be free on its machine",
                      member.id));
    }
    if (same_id && state_of(member.id) == State::kServing) {
      say(Kind::kProblem,
          fmt::format("server.{} runs at its old address, too; two servers with one id disturb "
                      "each other. Stop the old one",
                      member.id));
    }
    check_synced(member.id, found_.joining_health);
  }

  // A member that serves gets another address, where no server runs yet.
  bool moves_itself(const EnsembleMember& member) const {
    if (request_.verb != Verb::kReplace || request_.ids[0] != member.id) return false;
    const auto at = found_.joining_health.find(member.id);
    const bool is_free = at == found_.joining_health.end() || at->second.state == State::kDown ||
                         member.client == find_member(found_.config, member.id)->client;
    return state_of(member.id) == State::kServing && is_free;
  }

  // Checks a server that will vote.
  void check_synced(std::int64_t id, const std::map<std::int64_t, Health>& where) {
    const auto at = where.find(id);
    const Health health = at == where.end() ? Health{} : at->second;
    if (health.id && *health.id != id) {
      return refuse(fmt::format("the server at the address of server.{} says that its id is {} (myid)", id,
                                *health.id));
    }
    switch (health.state) {
      case State::kServing: say(Kind::kGood, fmt::format("server.{} runs and is synced", id)); break;
      case State::kNotServing:
        say(Kind::kWarning, fmt::format("server.{} runs, but has not found the leader yet", id));
        break;
      case State::kDown:
        say(Kind::kProblem, fmt::format("server.{} does not run: {}. Start it first, with the members in its "
                                        "configuration",
                                        id, health.trouble));
        break;
      case State::kAlone:
        say(Kind::kProblem, fmt::format("server.{} is standalone: start it with the members in its "
                                        "configuration and standaloneEnabled=false",
                                        id));
        break;
      case State::kUnknown:
        say(Kind::kProblem, fmt::format("the state of server.{} is not known: {}", id, health.trouble));
        break;
    }
    if (!health.election_port_open && health.state != State::kDown) {
      say(Kind::kWarning,
          fmt::format("the election port of server.{} cannot be reached from here; other servers need it",
                      id));
    }
  }

  void plan_steps() {
    EnsembleConfig now = found_.config;
    switch (request_.verb) {
      case Verb::kAdd: now = plan_joining(std::move(now), {}); break;
      case Verb::kReplace: now = plan_replacement(std::move(now)); break;
      case Verb::kRemove: now = plan_removal(std::move(now)); break;
      case Verb::kPromote: now = plan_role(std::move(now), false); break;
      case Verb::kDemote: now = plan_role(std::move(now), true); break;
    }
    plan_.after = std::move(now);
    check_after();
  }

  // Joins servers: those that are not synced, or that stay observers, as observers first; then the voters in
  // one reconfiguration. `leaving` leaves with the last one.
  EnsembleConfig plan_joining(EnsembleConfig now, Ids leaving) {
    Ids early, voters;
    std::vector<std::string> early_lines, voter_lines;
    for (const EnsembleMember& member : request_.joining) {
      const auto at = found_.joining_health.find(member.id);
      const bool synced =
          (at != found_.joining_health.end() && at->second.state == State::kServing) || moves_itself(member);
      if (member.observer || !synced) {
        early.push_back(member.id);
        early_lines.push_back(line_of(member, true));
        now = with(std::move(now), member, true);
      }
      if (!member.observer) {
        voters.push_back(member.id);
        voter_lines.push_back(line_of(member, false));
      }
    }
    if (!early.empty()) {
      check_promotion(early, voters);
      plan_.steps.push_back(
          {.joining = fmt::format("{}", fmt::join(early_lines, ",")),
           .text = "add " + names_of(early) + " as an observer, and wait until it is synced",
           .wait = early,
           .undo = remove_command(early),
           .resume = rest_command(early, leaving)});
      check_quorum(now);
    }
    if (voters.empty() && leaving.empty()) return now;
    for (const EnsembleMember& member : request_.joining) {
      if (!member.observer) now = with(std::move(now), member, false);
    }
    for (const std::int64_t id : leaving) now = without(std::move(now), id);
    std::string text = voters.empty() ? "" : "make " + names_as(voters, false);
    if (!leaving.empty()) text += (text.empty() ? "remove " : ", and remove ") + names_of(leaving);
    plan_.steps.push_back({.joining = fmt::format("{}", fmt::join(voter_lines, ",")),
                           .leaving = fmt::format("{}", fmt::join(leaving, ",")),
                           .text = text,
                           .wait = voters,
                           .undo = leaving.empty() ? remove_command(voters) : undo_of_replacement(leaving)});
    check_quorum(now);
    return now;
  }

  // Java's leader does not count an observer as connected when it asks whether the new configuration has a
  // quorum. So the present voters must be one, which a single voter is not.
  void check_promotion(const Ids& early, const Ids& voters) {
    const std::size_t present = voters_in(found_.config);
    const bool promotes = std::any_of(early.begin(), early.end(), [&](std::int64_t id) {
      return std::find(voters.begin(), voters.end(), id) != voters.end();
    });
    if (!promotes || present >= (present + voters.size()) / 2 + 1) return;
    say(Kind::kProblem,
        fmt::format("{} must be synced before it is added, because {} voter{} cannot promote it",
                    names_of(early), present, present == 1 ? "" : "s"));
  }

  static std::string remove_command(const Ids& ids) {
    return fmt::format("drover reconfig remove {}", fmt::join(ids, " "));
  }
  // The commands for what is left to do once the servers that joined early are synced.
  std::string rest_command(const Ids& early, const Ids& leaving) const {
    Ids promoted;
    std::vector<std::string> added, commands;
    for (const EnsembleMember& member : request_.joining) {
      if (member.observer) continue;
      if (std::count(early.begin(), early.end(), member.id) > 0) {
        promoted.push_back(member.id);
      } else {
        added.push_back(fmt::format("'{}'", line_of(member, false)));
      }
    }
    if (!promoted.empty())
      commands.push_back(fmt::format("drover reconfig promote {}", fmt::join(promoted, " ")));
    if (!added.empty()) commands.push_back(fmt::format("drover reconfig add {}", fmt::join(added, " ")));
    if (!leaving.empty()) commands.push_back(remove_command(leaving));
    return fmt::format("{}", fmt::join(commands, " && "));
  }
  std::string undo_of_replacement(const Ids& leaving) const {
    const EnsembleMember* old = find_member(found_.config, leaving[0]);
    return fmt::format("drover reconfig replace {} '{}'", request_.joining[0].id,
                       line_of(*old, old->observer));
  }

  // With the same id, the old server leaves as the new one joins.
  EnsembleConfig plan_replacement(EnsembleConfig now) {
    const bool same_id = request_.joining[0].id == request_.ids[0];
    const std::size_t first = plan_.steps.size();
    now = plan_joining(std::move(now), same_id ? Ids{} : request_.ids);
    if (!same_id) return now;
    for (std::size_t i = first; i < plan_.steps.size(); ++i) {
      plan_.steps[i].undo = undo_of_replacement(request_.ids);
    }
    return now;
  }

  EnsembleConfig plan_removal(EnsembleConfig now) {
    std::vector<std::string> lines;
    for (const std::int64_t id : request_.ids) {
      const EnsembleMember* member = find_member(found_.config, id);
      lines.push_back(fmt::format("'{}'", line_of(*member, member->observer)));
      now = without(std::move(now), id);
    }
    plan_.steps.push_back({.leaving = fmt::format("{}", fmt::join(request_.ids, ",")),
                           .text = "remove " + names_of(request_.ids),
                           .undo = fmt::format("drover reconfig add {}", fmt::join(lines, " "))});
    check_quorum(now);
    return now;
  }

  EnsembleConfig plan_role(EnsembleConfig now, bool observer) {
    std::vector<std::string> lines;
    for (const std::int64_t id : request_.ids) {
      const EnsembleMember member = *find_member(found_.config, id);
      lines.push_back(line_of(member, observer));
      now = with(std::move(now), member, observer);
    }
    plan_.steps.push_back({.joining = fmt::format("{}", fmt::join(lines, ",")),
                           .text = "make " + names_as(request_.ids, observer),
                           .wait = request_.ids,
                           .undo = fmt::format("drover reconfig {} {}", observer ? "promote" : "demote",
                                               fmt::join(request_.ids, " "))});
    check_quorum(now);
    return now;
  }

  // Would the voters that serve now be a quorum?
  void check_quorum(const EnsembleConfig& config) {
    const std::size_t voters = voters_in(config);
    if (voters == 0) return refuse("no voter would be left");
    std::size_t serving = 0;
    for (const EnsembleMember& member : config.members) serving += counts(member) ? 1 : 0;
    const std::size_t quorum = voters / 2 + 1;
    if (serving >= quorum) return;
    say(Kind::kProblem, fmt::format("writes would stop: {} of {} voters would serve, and a quorum is {}",
                                    serving, voters, quorum));
  }
  // A joining voter counts: the plan waits until it is synced. So does a member that does not answer.
  bool counts(const EnsembleMember& member) const {
    if (member.observer) return false;
    if (found_.joining_health.contains(member.id)) return true;
    const State state = state_of(member.id);
    return state == State::kServing || state == State::kUnknown;
  }

  void check_after() {
    const std::size_t voters = voters_in(plan_.after);
    if (voters == voters_in(found_.config) || voters == 0) return;
    if (voters == 1) {
      say(Kind::kWarning, "one voter would be left: servers accept that only with standaloneEnabled=false");
    } else if (voters % 2 == 0) {
      say(Kind::kWarning, fmt::format("{} voters tolerate no more failures than {}", voters, voters - 1));
    }
  }

  const Found& found_;
  const Request& request_;
  Plan plan_;
  bool is_possible_ = true;
};

}  // namespace

bool Plan::has_problem() const {
  return std::any_of(checks.begin(), checks.end(),
                     [](const Check& check) { return check.kind == Check::Kind::kProblem; });
}

Plan make_plan(const Found& found, const Request& request) { return Planner(found, request).make(); }

std::string line_of(const EnsembleMember& member, bool observer) {
  std::vector<std::string> peers;
  for (const PeerEndpoint& peer : member.peers) {
    peers.push_back(
        fmt::format("{}:{}", Endpoint{peer.host, peer.quorum_port}.to_text(), peer.election_port));
  }
  const std::size_t clients = std::min(member.text.find(';'), member.text.size());
  return fmt::format("server.{}={}:{}{}", member.id, fmt::join(peers, "|"),
                     observer ? "observer" : "participant", member.text.substr(clients));
}

std::size_t voters_in(const EnsembleConfig& config) {
  return static_cast<std::size_t>(
      std::count_if(config.members.begin(), config.members.end(),
                    [](const EnsembleMember& member) { return !member.observer; }));
}

std::string quorum_text(const EnsembleConfig& config) {
  if (config.members.empty()) return "no members: this server is standalone";
  const std::size_t voters = voters_in(config);
  if (config.has_groups) return fmt::format("{} voter{} in groups", voters, voters == 1 ? "" : "s");
  const std::size_t quorum = voters / 2 + 1;
  return fmt::format("{} voter{}: {} make a quorum, {} may fail", voters, voters == 1 ? "" : "s", quorum,
                     voters < quorum ? 0 : voters - quorum);
}

}  // namespace drover::cli::reconfig
