// SPDX-License-Identifier: Apache-2.0
#include "recipes/barriers/generation.h"

#include <algorithm>
#include <memory>
#include <set>

#include "base/child_path.h"
#include "base/number.h"
#include "layouts/sequence.h"

namespace drover::recipes {
namespace {

constexpr std::string_view kMember = "m-";
constexpr std::string_view kBroken = "broken";

struct GenerationMember {
  std::int32_t sequence = 0;
  std::string path;
};

std::string parties_text(int parties) { return "{\"parties\":" + std::to_string(parties) + "}"; }

std::string text_of(const std::vector<GenerationMember>& members, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) text += ' ';
    text += std::to_string(members[i].sequence);
  }
  return text;
}

std::vector<std::int32_t> numbers_in(std::string_view text) {
  std::vector<std::int32_t> numbers;
  while (!text.empty()) {
    const std::size_t space = std::min(text.find(' '), text.size());
    if (const auto number = parse_number<std::int64_t>(text.substr(0, space))) {
      numbers.push_back(static_cast<std::int32_t>(*number));
    }
    text.remove_prefix(std::min(space + 1, text.size()));
  }
  return numbers;
}

// The first party stores the expected number; all others must expect the same.
Task<Result<void>> agree_on_parties(Client client, Gathering gathering, Wait wait) {
  const std::string text = parties_text(gathering.parties);
  CreateOptions options;
  options.parents = true;
  for (;;) {
    auto reading = until_answered(client, [&] { return client.get(gathering.path, wait); });
    const Result<NodeData> node = co_await std::move(reading);
    if (!node && node.error() != Errc::kNoNode) co_return std::unexpected(node.error());
    if (node && node->data == text) break;
    if (node && !node->data.empty()) {
      co_return fail(Errc::kBadData, gathering.path,
                     "this barrier has another number of parties: " + node->data);
    }
    if (node) {
      auto writing = client.set(gathering.path, text, node->stat.version, wait);
      const Result<Stat> written = co_await std::move(writing);
      if (written || written.error() == Errc::kBadVersion) continue;
      if (!is_recoverable(written.error())) co_return std::unexpected(written.error());
      CO_TRY(pause_before_retry(client, written.error(), wait));
      continue;
    }
    auto creating = client.create(gathering.path, text, options, wait);
    const Result<Created> created = co_await std::move(creating);
    if (created || created.error() == Errc::kNodeExists) continue;
    if (!is_recoverable(created.error())) co_return std::unexpected(created.error());
    CO_TRY(pause_before_retry(client, created.error(), wait));
  }
  auto creating = until_answered(
      client, [&] { return client.create(child_path(gathering.path, "current"), "0", {}, wait); });
  const Result<Created> created = co_await std::move(creating);
  if (!created && created.error() != Errc::kNodeExists) co_return std::unexpected(created.error());
  co_return Result<void>{};
}

// One arrival at one round.
struct Arrival {
  Client client;
  Gathering gathering;
  Wait wait;
  std::int64_t generation = 0;
  Version current_version{};
  Round round;
  Signal changed;
  Watch watch;                 // of what decides
  Watch members_watch;         // of those who may break it
  std::set<std::string> seen;  // at the last look

  Arrival(Client c, Gathering g, Wait w)
      : client(std::move(c)),
        gathering(std::move(g)),
        wait(std::move(w)),
        changed(client.scheduler()),
        watch(changed.watch()),
        members_watch(changed.watch()) {}
  std::string open_path() const { return child_path(round.directory, "open"); }
  std::string current_path() const { return child_path(gathering.path, "current"); }
};

enum class Standing : std::uint8_t { kWaits, kIn, kElsewhere };

Task<Result<std::int64_t>> read_current(std::shared_ptr<Arrival> a) {
  CO_TRY_ASSIGN(const NodeData node, until_answered(a->client, [&] {
                  return a->client.get(a->current_path(), for_steps(a->client, a->wait));
                }));
  const auto generation = parse_number<std::int64_t>(node.data);
  if (!generation) co_return fail(Errc::kBadData, a->current_path());
  a->current_version = node.stat.version;
  co_return *generation;
}

// A missing node has no children.
Task<Result<std::vector<std::string>>> children_of(std::shared_ptr<Arrival> a, std::string path) {
  auto listing =
      until_answered(a->client, [&] { return a->client.children(path, for_steps(a->client, a->wait)); });
  Result<Children> children = co_await std::move(listing);
  if (!children && children.error() == Errc::kNoNode) co_return std::vector<std::string>{};
  if (!children) co_return std::unexpected(children.error());
  co_return std::move(children->names);
}

Task<Result<void>> forget_if_ours(std::shared_ptr<Arrival> a, std::string path) {
  auto reading =
      until_answered(a->client, [&] { return a->client.get(path, for_steps(a->client, a->wait)); });
  const Result<NodeData> node = co_await std::move(reading);
  if (!node && node.error() != Errc::kNoNode) co_return std::unexpected(node.error());
  if (!node || node->data != a->gathering.party) co_return Result<void>{};
  auto removing = remove_former_life(a->client, path, for_steps(a->client, a->wait));
  co_return co_await std::move(removing);
}

// In the gathering round it would be counted; in an earlier one others wait for it to leave.
Task<Result<void>> forget_former_lives(std::shared_ptr<Arrival> a) {
  CO_TRY_ASSIGN(const std::vector<std::string> rounds, children_of(a, a->gathering.path));
  for (const std::string& round : rounds) {
    if (!round.starts_with("g-")) continue;
    const std::string directory = child_path(a->gathering.path, round);
    CO_TRY_ASSIGN(const std::vector<std::string> names, children_of(a, directory));
    for (const std::string& name : names) {
      if (layouts::sequence_of(name, kMember)) CO_TRY(forget_if_ours(a, child_path(directory, name)));
    }
  }
  co_return Result<void>{};
}

Task<Result<void>> join(std::shared_ptr<Arrival> a) {
  if (!a->gathering.party.empty()) CO_TRY(forget_former_lives(a));
  CO_TRY_ASSIGN(a->generation, read_current(a));
  a->round.directory = child_path(a->gathering.path, "g-" + std::to_string(a->generation));
  CreateOptions options;
  options.mode = CreateMode::kEphemeralSequential;
  options.parents = true;
  CO_TRY_ASSIGN(const Created own,
                a->client.create_protected(child_path(a->round.directory, kMember), a->gathering.party,
                                           options, for_steps(a->client, a->wait)));
  a->round.own = OwnNode(a->client, own.path);
  const auto sequence = layouts::sequence_of(own.path, kMember);
  if (!sequence) co_return fail(Errc::kBadData, own.path);
  a->round.sequence = *sequence;
  co_return Result<void>{};
}

// Reads from `open` whether our round began. Our node is newer than what we read. So if `open` does not exist
// although `current` has moved on, that round is over, and our node is in a recreated directory.
Task<Result<Standing>> look_whether_open(std::shared_ptr<Arrival> a) {
  for (bool moved_on = false;;) {
    CO_TRY_ASSIGN(const std::optional<Stat> open, until_answered(a->client, [&] {
                    return a->client.exists(a->open_path(), a->watch, for_steps(a->client, a->wait));
                  }));
    if (open) break;
    if (moved_on) co_return Standing::kElsewhere;
    CO_TRY_ASSIGN(const std::int64_t current, read_current(a));
    if (current == a->generation) co_return Standing::kWaits;
    moved_on = true;
  }
  CO_TRY_ASSIGN(const NodeData open, until_answered(a->client, [&] {
                  return a->client.get(a->open_path(), for_steps(a->client, a->wait));
                }));
  if (open.data == kBroken) co_return fail(Errc::kBrokenBarrier, a->gathering.path);
  a->round.members = numbers_in(open.data);
  co_return a->round.index() >= 0 ? Standing::kIn : Standing::kElsewhere;
}

Task<Result<std::vector<GenerationMember>>> list_members(std::shared_ptr<Arrival> a, bool watched) {
  CO_TRY_ASSIGN(const Children children, until_answered(a->client, [&] {
                  return watched ? a->client.children(a->round.directory, a->members_watch,
                                                      for_steps(a->client, a->wait))
                                 : a->client.children(a->round.directory, for_steps(a->client, a->wait));
                }));
  std::vector<GenerationMember> members;
  for (const std::string& name : children.names) {
    if (const auto sequence = layouts::sequence_of(name, kMember)) {
      members.push_back({*sequence, child_path(a->round.directory, name)});
    }
  }
  std::ranges::sort(members, [](const GenerationMember& x, const GenerationMember& y) {
    return layouts::comes_before(x.sequence, y.sequence);
  });
  co_return members;
}

// Others may open it at the same time, or a member may leave: then it is checked again.
Task<Result<void>> decide(std::shared_ptr<Arrival> a, std::vector<Op> ops, std::string what) {
  ops.push_back(Op::create(a->open_path(), std::move(what)));
  ops.push_back(Op::set(a->current_path(), std::to_string(a->generation + 1), a->current_version));
  auto deciding = a->client.multi(std::move(ops), for_steps(a->client, a->wait));
  const Result<std::vector<OpResult>> decided = co_await std::move(deciding);
  if (decided) co_return Result<void>{};
  const Error& error = decided.error();
  const bool overtaken = error == Errc::kNoNode || error == Errc::kNodeExists || error == Errc::kBadVersion;
  if (overtaken) co_return Result<void>{};
  if (!is_recoverable(error)) co_return std::unexpected(error);
  auto pausing = pause_before_retry(a->client, error, for_steps(a->client, a->wait));
  co_return co_await std::move(pausing);
}

Task<Result<void>> open_round(std::shared_ptr<Arrival> a, std::vector<GenerationMember> members) {
  const auto parties = static_cast<std::size_t>(a->gathering.parties);
  std::vector<Op> ops;
  for (std::size_t i = 0; i < parties; ++i) ops.push_back(Op::check(members[i].path));
  auto deciding = decide(a, std::move(ops), text_of(members, parties));
  co_return co_await std::move(deciding);
}

// A member that we saw has left.
bool is_one_missing(Arrival& a, const std::vector<GenerationMember>& members) {
  std::set<std::string> names;
  for (const GenerationMember& member : members) names.insert(member.path);
  const bool missing = !std::ranges::includes(names, a.seen);
  a.seen = std::move(names);
  return missing;
}

// Each watches its predecessor, and the first lists all: a party that leaves is noticed by one other.
Task<Result<bool>> has_lost_one(std::shared_ptr<Arrival> a, std::vector<GenerationMember> members) {
  if (is_one_missing(*a, members)) co_return true;
  const auto self = std::ranges::find(members, a->round.sequence, &GenerationMember::sequence);
  if (self == members.begin()) {
    CO_TRY_ASSIGN(const std::vector<GenerationMember> now, list_members(a, true));
    co_return is_one_missing(*a, now);
  }
  const std::string before = std::prev(self)->path;
  auto watching = until_answered(
      a->client, [&] { return a->client.get(before, a->members_watch, for_steps(a->client, a->wait)); });
  const Result<NodeData> node = co_await std::move(watching);
  if (!node && node.error() != Errc::kNoNode) co_return std::unexpected(node.error());
  co_return !node;
}

// True: something changed, so check again.
Task<Result<bool>> act_on_members(std::shared_ptr<Arrival> a) {
  CO_TRY_ASSIGN(const std::vector<GenerationMember> members, list_members(a, false));
  if (std::ranges::find(members, a->round.sequence, &GenerationMember::sequence) == members.end()) {
    co_return fail(Errc::kBrokenBarrier, a->round.own.path(), "the node of this party was removed");
  }
  if (members.size() >= static_cast<std::size_t>(a->gathering.parties)) {
    CO_TRY(open_round(a, members));
    co_return true;
  }
  if (!a->gathering.breaks) co_return false;
  CO_TRY_ASSIGN(const bool lost, has_lost_one(a, members));
  if (lost) CO_TRY(decide(a, {}, std::string(kBroken)));
  co_return lost;
}

Task<Result<Standing>> stand_until_decided(std::shared_ptr<Arrival> a) {
  for (;;) {
    CO_TRY_ASSIGN(const Standing standing, look_whether_open(a));
    if (standing != Standing::kWaits) co_return standing;
    CO_TRY_ASSIGN(const bool acted, act_on_members(a));
    if (acted) continue;
    auto waiting = a->changed.wait(a->wait);
    Result<void> woken = co_await std::move(waiting);
    if (!woken) {
      woken.error().applied = Applied::kMaybe;
      co_return std::unexpected(woken.error());
    }
  }
}

}  // namespace

int Round::index() const {
  const auto at = std::ranges::find(members, sequence);
  return at == members.end() ? -1 : static_cast<int>(at - members.begin());
}

bool Round::has_member(std::string_view name) const {
  const auto number = layouts::sequence_of(name, kMember);
  return number && std::ranges::find(members, *number) != members.end();
}

Task<Result<Round>> gather(Client client, Gathering gathering, Wait wait) {
  auto there = client.scheduler().enter();
  co_await there;
  if (gathering.parties < 1)
    co_return fail(Errc::kBadArguments, gathering.path, "a barrier needs at least one party");
  CO_TRY_ASSIGN(const Client bound, bind_to_session(client, for_steps(client, wait)));
  CO_TRY(agree_on_parties(bound, gathering, for_steps(client, wait)));
  for (;;) {
    const auto arrival = std::make_shared<Arrival>(bound, gathering, wait);
    CO_TRY(join(arrival));
    CO_TRY_ASSIGN(const Standing standing, stand_until_decided(arrival));
    if (standing == Standing::kIn) co_return std::move(arrival->round);
    arrival->round.own.remove_later();
  }
}

Task<Result<void>> remove_former_life(Client client, std::string path, Wait wait) {
  CO_TRY_ASSIGN(const std::optional<Stat> stat,
                until_answered(client, [&] { return client.exists(path, wait); }));
  if (!stat || stat->ephemeral_owner == client.bound_session()) co_return Result<void>{};
  auto removing = client.remove_surely(path, stat->czxid, wait);
  co_return co_await std::move(removing);
}

Task<Result<void>> retire_round(Client client, std::string directory, Wait wait) {
  auto listing = until_answered(client, [&] { return client.children(directory, wait); });
  const Result<Children> children = co_await std::move(listing);
  if (!children && children.error() == Errc::kNoNode) co_return Result<void>{};
  if (!children) co_return std::unexpected(children.error());
  if (children->names != std::vector<std::string>{"open"}) co_return Result<void>{};
  CO_TRY(client.remove_surely(child_path(directory, "open"), std::nullopt, wait));
  auto removing = client.remove(directory, Version::kAny, wait);
  const Result<void> removed = co_await std::move(removing);  // or its container goes by itself
  co_return Result<void>{};
}

Task<Result<void>> retire_rounds_before(Client client, std::string directory, Wait wait) {
  const std::size_t slash = directory.rfind('/');
  const std::string path = directory.substr(0, slash);
  const auto own = parse_number<std::int64_t>(std::string_view(directory).substr(slash + 3));
  CO_TRY_ASSIGN(const Children children, until_answered(client, [&] { return client.children(path, wait); }));
  for (const std::string& name : children.names) {
    const auto number =
        name.starts_with("g-") ? parse_number<std::int64_t>(std::string_view(name).substr(2)) : std::nullopt;
    if (own && number && *number < *own) CO_TRY(retire_round(client, child_path(path, name), wait));
  }
  co_return Result<void>{};
}

Task<Result<void>> leave_together(Client client, std::string directory, OwnNode own,
                                  std::function<bool(std::string_view)> is_member, Wait wait) {
  Signal changed(client.scheduler());
  const Watch watch = changed.watch();
  for (;;) {
    auto listing =
        until_answered(client, [&] { return client.children(directory, for_steps(client, wait)); });
    const Result<Children> children = co_await std::move(listing);
    if (!children && children.error() != Errc::kNoNode) co_return std::unexpected(children.error());
    std::vector<std::string> members;
    if (children) std::ranges::copy_if(children->names, std::back_inserter(members), is_member);
    std::ranges::sort(members);  // Any order will do that is the same for all.
    if (members.empty()) co_return Result<void>{};

    const bool lowest = child_path(directory, members.front()) == own.path();
    if (own && (!lowest || members.size() == 1)) {
      CO_TRY(client.remove_surely(own.path(), std::nullopt, for_steps(client, wait)));
      own.release();
      continue;
    }
    const std::string other = child_path(directory, lowest ? members.back() : members.front());
    auto watching = until_answered(client, [&] { return client.get(other, watch, for_steps(client, wait)); });
    const Result<NodeData> node = co_await std::move(watching);
    if (!node && node.error() == Errc::kNoNode) continue;
    if (!node) co_return std::unexpected(node.error());
    CO_TRY(changed.wait(wait));
  }
}

}  // namespace drover::recipes
