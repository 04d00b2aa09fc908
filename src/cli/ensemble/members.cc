// SPDX-License-Identifier: Apache-2.0
#include "cli/ensemble/members.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace drover::cli::observe {
namespace {

constexpr std::chrono::milliseconds kWordPatience{1500};
constexpr std::chrono::seconds kConfigPatience{5};

template <class Number>
std::optional<Number> number_in(std::string_view text, int base = 10) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return number;
}

std::string_view take_until(std::string_view& text, std::string_view end) {
  const std::size_t at = std::min(text.find(end), text.size());
  const std::string_view taken = text.substr(0, at);
  text.remove_prefix(std::min(at + end.size(), text.size()));
  return taken;
}

// "zk1:2888:3888:participant" or "[::1]:2888:3888"; the first of several addresses separated by bars.
std::string host_in(std::string_view quorum) {
  if (quorum.starts_with('[')) return std::string(quorum.substr(1, quorum.find(']') - 1));
  return std::string(quorum.substr(0, quorum.find(':')));
}

bool is_wildcard(std::string_view host) { return host.empty() || host == "0.0.0.0" || host == "::"; }

std::optional<Address> client_address(std::string_view text, const std::string& host) {
  if (text.empty()) return std::nullopt;
  const auto port_only = number_in<std::uint16_t>(text);
  if (port_only) return Address{host, *port_only};
  const std::vector<Address> addresses = addresses_of(text);
  if (addresses.empty()) return std::nullopt;
  return is_wildcard(addresses[0].host) ? Address{host, addresses[0].port} : addresses[0];
}

std::optional<Member> member_in(std::string_view line) {
  constexpr std::string_view kServer = "server.";
  if (!line.starts_with(kServer)) return std::nullopt;
  line.remove_prefix(kServer.size());
  const auto sid = number_in<std::int64_t>(take_until(line, "="));
  if (!sid) return std::nullopt;
  const std::string_view quorum = take_until(line, ";");
  const std::string host = host_in(quorum);
  return Member{sid, client_address(line, host), host, quorum.ends_with(":observer")};
}

}  // namespace

std::vector<Member> members_in(std::string_view config) {
  std::vector<Member> members;
  while (!config.empty()) {
    if (auto member = member_in(take_until(config, "\n"))) members.push_back(*std::move(member));
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
    const auto session = number_in<std::uint64_t>(take_until(id, ","), 16);
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
