// SPDX-License-Identifier: Apache-2.0
#include "sasl/kerberos_name.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "sasl/auth_to_local_rule.h"

namespace drover::sasl {
namespace {

constexpr std::size_t kNameBytesMax = 512;

bool has_control_character(std::string_view text) {
  return std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7f; });
}

std::string id_of(std::string short_name, const KerberosName& name, const KerberosIdOptions& options) {
  if (name.host && !options.remove_host) short_name += "/" + *name.host;
  if (name.realm && !options.remove_realm) short_name += "@" + *name.realm;
  return short_name;
}

}  // namespace

std::expected<KerberosName, std::string> parse_kerberos_name(std::string_view name) {
  if (name.size() > kNameBytesMax) return std::unexpected("a Kerberos name is longer than 512 bytes");
  if (has_control_character(name)) return std::unexpected("a Kerberos name has control characters");
  const std::size_t at = name.find('@');
  if (at == std::string_view::npos) return KerberosName{.service = std::string(name)};
  const std::string_view left = name.substr(0, at);
  const std::string_view realm = name.substr(at + 1);
  const std::size_t slash = left.find('/');
  const bool two_slashes =
      slash != std::string_view::npos && left.find('/', slash + 1) != std::string_view::npos;
  if (two_slashes || realm.find_first_of("/@") != std::string_view::npos) {
    return std::unexpected("malformed Kerberos name");
  }
  KerberosName parsed{.service = std::string(left.substr(0, slash)), .realm = std::string(realm)};
  if (slash != std::string_view::npos) parsed.host = std::string(left.substr(slash + 1));
  return parsed;
}

// ---- auth_to_local -------------------------------------------------------------------------------

// Nothing: DEFAULT.
struct AuthToLocal::Rule {
  std::optional<AuthToLocalRule> rule;
};

AuthToLocal::AuthToLocal(std::string default_realm) : default_realm_(std::move(default_realm)) {}
AuthToLocal::AuthToLocal(AuthToLocal&&) noexcept = default;
AuthToLocal& AuthToLocal::operator=(AuthToLocal&&) noexcept = default;
AuthToLocal::~AuthToLocal() = default;

std::expected<AuthToLocal, std::string> AuthToLocal::parse(std::string_view rules,
                                                           std::string default_realm) {
  constexpr std::size_t kRulesBytesMax = 65536;
  if (rules.size() > kRulesBytesMax) return std::unexpected("auth_to_local is longer than 64 KiB");
  AuthToLocal parsed(std::move(default_realm));
  RuleScanner scanner(rules);
  while (!scanner.at_end()) {
    auto text = scanner.next();
    if (!text) return std::unexpected(text.error());
    Rule rule;
    if (!text->is_default) {
      auto compiled = AuthToLocalRule::compile(*text);
      if (!compiled) return std::unexpected(compiled.error());
      rule.rule = *std::move(compiled);
    }
    parsed.rules_.push_back(std::move(rule));
  }
  return parsed;
}

std::optional<std::string> AuthToLocal::short_name(const KerberosName& name) const {
  if (!name.host && !name.realm) return name.service;
  std::vector<std::string> words = {name.realm.value_or(""), name.service};
  if (name.host) words.push_back(*name.host);
  for (const Rule& rule : rules_) {
    std::optional<std::string> result;
    if (rule.rule) {
      result = rule.rule->apply(words);
    } else if (words[0] == default_realm_) {
      result = name.service;
    }
    if (!result) continue;
    if (result->find_first_of("/@") != std::string::npos) return std::nullopt;
    return result;
  }
  return std::nullopt;
}

// ---- rules of authorization ----------------------------------------------------------------------

AuthorizationRule client_port_rule(AuthToLocal rules, const KerberosIdOptions& options) {
  return [rules = std::make_shared<const AuthToLocal>(std::move(rules)),
          options](const ProvenPeer& peer) -> std::expected<std::string, std::string> {
    const auto name = parse_kerberos_name(peer.authentication_id);
    if (!name) return std::unexpected(name.error());
    const std::optional<std::string> short_name = rules->short_name(*name);
    if (!short_name) {
      if (peer.requested_id == peer.authentication_id) return std::string(peer.authentication_id);
      return std::unexpected("no rule of auth_to_local applies, and it asks for another id");
    }
    std::string id = id_of(*short_name, *name, options);
    if (id.empty()) return std::unexpected("its id would be empty");
    return id;
  };
}

AuthorizationRule quorum_rule(QuorumNames names) {
  return [names = std::move(names)](const ProvenPeer& peer) -> std::expected<std::string, std::string> {
    if (peer.requested_id != peer.authentication_id) return std::unexpected("it asks for another id");
    const auto name = parse_kerberos_name(peer.authentication_id);
    if (!name) return std::unexpected(name.error());
    if (!name->host || !name->realm || name->service.empty())
      return std::unexpected("the principal names no host");
    // Kerberos writes a slash that is a part of a name with a backslash: such a principal has no host.
    if (peer.authentication_id.contains('\\')) return std::unexpected("malformed Kerberos name");
    if (*name->realm != names.realm) return std::unexpected("the principal is of another realm");
    if (!names.is_member(*name->host)) return std::unexpected("the principal's host is not in the ensemble");
    return std::string(peer.authentication_id);
  };
}

}  // namespace drover::sasl
