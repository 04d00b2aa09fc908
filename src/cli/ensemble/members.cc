// SPDX-License-Identifier: Apache-2.0
#include "cli/ensemble/members.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/number.h"
#include "drover/ensemble.h"

namespace drover::cli::observe {
namespace {

constexpr std::chrono::milliseconds kWordPatience{1500};
constexpr std::chrono::seconds kConfigPatience{5};

std::string_view take_until(std::string_view& text, std::string_view end) {
  const std::size_t at = std::min(text.find(end), text.size());
  const std::string_view taken = text.substr(0, at);
  text.remove_prefix(std::min(at + end.size(), text.size()));
  return taken;
}

}  // namespace

std::vector<Member> members_in(std::string_view config) {
  std::vector<Member> members;
  for (const EnsembleMember& found : parse_ensemble_config(config).members) {
    Member member{.sid = found.id, .host = found.peers[0].host, .observer = found.observer};
    if (found.client) member.address = Address{found.client->host, found.client->port};
    members.push_back(std::move(member));
  }
  return members;
}

std::vector<Member> join_members(std::vector<Member> configured, const std::vector<Address>& given) {
  for (const Address& address : given) {
    const bool known = std::any_of(configured.begin(), configured.end(),
                                   [&](const Member& member) { return member.address == address; });
    if (!known) configured.push_back({.address = address, .host = address.host});
  }
  return configured;
}

std::optional<std::string> read_config(const Client& client, std::chrono::milliseconds patience) {
  auto config = sync_wait(client.config(Wait::within(patience)));
  if (!config) return std::nullopt;
  return std::move(config->data);
}

std::vector<Member> find_members(const Client& client, const std::vector<Address>& given) {
  return join_members(members_in(read_config(client, kConfigPatience).value_or("")), given);
}

void read_connections(std::string_view text, std::map<std::int64_t, std::string>& addresses) {
  while (!text.empty()) {
    std::string_view line = take_until(text, "\n");
    const std::size_t slash = line.find('/');
    const std::size_t sid = line.find(",sid=0x");
    if (slash == std::string_view::npos || sid == std::string_view::npos) continue;
    std::string_view id = line.substr(sid + 7);
    const auto session = parse_number<std::uint64_t>(take_until(id, ","), 16);
    const std::size_t bracket = line.rfind('[', line.find('('));
    if (!session || bracket == std::string_view::npos || bracket <= slash) continue;
    addresses[static_cast<std::int64_t>(*session)] = line.substr(slash + 1, bracket - slash - 1);
  }
}

SessionAddresses find_addresses(const std::vector<Member>& members) {
  std::vector<Question> questions;
  for (const Member& member : members) {
    if (member.address) questions.push_back({*member.address, "cons"});
  }
  SessionAddresses found;
  const std::vector<Answer> answers = ask(questions, kWordPatience);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const std::string server = questions[i].address.to_text();
    switch (answers[i].heard) {
      case Heard::kText: read_connections(answers[i].text, found.addresses); break;
      case Heard::kNotAllowed:
        found.notes.push_back(
            fmt::format("addresses of {}'s clients are not known: {}", server, how_to_allow("cons")));
        break;
      case Heard::kNotServing: break;
      case Heard::kNothing:
        found.notes.push_back(
            fmt::format("addresses of {}'s clients are not known: {}", server, answers[i].text));
        break;
    }
  }
  return found;
}

}  // namespace drover::cli::observe
