// SPDX-License-Identifier: Apache-2.0
#include "zab/membership_text.h"

#include <charconv>

#include "base/text.h"

namespace drover::zab {
namespace {

std::optional<std::int64_t> number(std::string_view text, int base = 10) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Removes the part before `separator` from `rest`.
std::string_view next_part(std::string_view& rest, char separator) {
  const std::size_t at = rest.find(separator);
  const std::string_view part = rest.substr(0, at);
  rest.remove_prefix(at == std::string_view::npos ? rest.size() : at + 1);
  return part;
}

bool add_server(Membership& to, ServerId id, std::string_view value) {
  const bool observes = trimmed(value.substr(0, value.find(';'))).ends_with(":observer");
  return (observes ? to.observers : to.voters).insert(id).second;
}

bool add_group(Membership& to, std::int64_t group, std::string_view value) {
  while (!value.empty()) {
    const auto server = number(next_part(value, ':'));
    if (!server) return false;
    to.groups[group].push_back(ServerId{*server});
  }
  return true;
}

bool add_weight(Membership& to, ServerId id, std::string_view value) {
  const auto weight = number(value);
  if (weight) to.weights[id] = *weight;
  return weight.has_value();
}

bool add_line(Membership& to, std::string_view line) {
  const std::string_view key = trimmed(next_part(line, '='));
  const std::string_view value = trimmed(line);
  if (key == "version") {
    const auto version = number(value, 16);
    to.version = version.value_or(0);
    return version.has_value();
  }
  std::string_view rest = key;
  const std::string_view kind = next_part(rest, '.');
  const auto id = number(rest);
  if (kind != "server" && kind != "group" && kind != "weight") return true;
  if (!id) return false;
  if (kind == "server") return add_server(to, ServerId{*id}, value);
  return kind == "group" ? add_group(to, *id, value) : add_weight(to, ServerId{*id}, value);
}

// The members of each group as a set, and every weight: the same however the text is written.
auto decisive_part(const Membership& membership) {
  std::map<std::int64_t, ServerSet> groups;
  std::map<ServerId, std::int64_t> weights;
  for (const auto& [group, servers] : membership.groups) {
    groups[group].insert(servers.begin(), servers.end());
    for (const ServerId server : servers) weights[server] = membership.weight_of(server);
  }
  return std::pair(groups, weights);
}

}  // namespace

std::optional<Membership> parse_membership(std::string_view text) {
  Membership membership;
  while (!text.empty()) {
    if (!add_line(membership, next_part(text, '\n'))) return std::nullopt;
  }
  if (membership.voters.empty() && membership.observers.empty()) return std::nullopt;
  return membership;
}

bool is_same_membership(const Membership& a, const Membership& b) {
  return a.voters == b.voters && a.observers == b.observers && decisive_part(a) == decisive_part(b);
}

}  // namespace drover::zab
