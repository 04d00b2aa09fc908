// SPDX-License-Identifier: Apache-2.0
#include "sasl/login.h"

#include <algorithm>
#include <string_view>

#include "base/result.h"

namespace drover::sasl {
namespace {

constexpr std::string_view kDigestModule = "org.apache.zookeeper.server.auth.DigestLoginModule";
constexpr std::string_view kKerberosModule = "com.sun.security.auth.module.Krb5LoginModule";
constexpr std::string_view kUserPrefix = "user_";

std::unexpected<JaasError> wrong(int line, std::string message) {
  return std::unexpected(JaasError{line, std::move(message)});
}

bool is_binary(std::string_view text) {
  return std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7f; });
}

const Secret* option(const JaasEntry& entry, const std::string& name) {
  const auto found = entry.options.find(name);
  return found == entry.options.end() ? nullptr : &found->second;
}

bool is_true(const JaasEntry& entry, const std::string& name) {
  const Secret* value = option(entry, name);
  constexpr std::string_view kTrue = "true";
  const auto same = [](char a, char b) { return (a | 0x20) == b; };
  return value && std::ranges::equal(value->reveal(), kTrue, same);
}

// A name or a path, which may be shown.
std::expected<std::string, JaasError> plain(const JaasEntry& entry, const std::string& name) {
  const Secret* value = option(entry, name);
  if (!value) return std::string();
  if (is_binary(value->reveal())) return wrong(entry.line, name + ": has a control character");
  return value->reveal();
}

// Java takes "file:///etc/krb5.keytab" for a key table, too.
std::string path_of(std::string text) {
  constexpr std::string_view kFile = "file:";
  if (text.starts_with(kFile)) text.erase(0, kFile.size());
  while (text.starts_with("//")) text.erase(0, 1);
  return text;
}

std::expected<void, JaasError> add_digest(const JaasEntry& entry, Login& login) {
  for (const auto& [name, value] : entry.options) {
    if (name.starts_with(kUserPrefix)) login.users.insert_or_assign(name.substr(kUserPrefix.size()), value);
  }
  TRY_ASSIGN(const std::string username, plain(entry, "username"));
  if (username.empty()) return {};
  login.username = username;
  if (const Secret* password = option(entry, "password")) login.password = *password;
  return {};
}

std::expected<void, JaasError> add_kerberos(const JaasEntry& entry, Login& login) {
  KerberosLogin kerberos;
  kerberos.use_key_tab = is_true(entry, "useKeyTab");
  kerberos.store_key = is_true(entry, "storeKey");
  kerberos.use_ticket_cache = is_true(entry, "useTicketCache");
  TRY_ASSIGN(kerberos.principal, plain(entry, "principal"));
  TRY_ASSIGN(std::string key_tab, plain(entry, "keyTab"));
  TRY_ASSIGN(std::string ticket_cache, plain(entry, "ticketCache"));
  kerberos.key_tab = path_of(std::move(key_tab));
  kerberos.ticket_cache = path_of(std::move(ticket_cache));
  login.kerberos = std::move(kerberos);
  return {};
}

// Java takes the service and the host for GSSAPI out of the principal, and without them every login fails.
std::expected<void, JaasError> check_acceptor(const KerberosLogin& kerberos, int line) {
  if (!kerberos.use_key_tab || !kerberos.store_key)
    return wrong(line, "a server needs useKeyTab=true and storeKey=true: it accepts logins with a key");
  if (kerberos.key_tab.empty()) return wrong(line, "a server needs keyTab=\"/path/of/its/keytab\"");
  const std::string_view name = std::string_view(kerberos.principal).substr(0, kerberos.principal.find('@'));
  const std::size_t slash = name.find('/');
  if (slash == 0 || slash == name.npos || slash + 1 == name.size() || name.find('/', slash + 1) != name.npos)
    return wrong(line, "principal: expected SERVICE/HOST@REALM");
  return {};
}

}  // namespace

std::expected<Login, JaasError> login_of(const JaasSection& section) {
  Login login;
  if (section.entries.empty())
    return wrong(section.line, "section " + shown(section.name) + " has no login module");
  for (const JaasEntry& entry : section.entries) {
    if (entry.module == kDigestModule) {
      TRY(add_digest(entry, login));
    } else if (entry.module == kKerberosModule) {
      TRY(add_kerberos(entry, login));
    } else {
      return wrong(entry.line, "login module " + shown(entry.module) +
                                   " is a Java class that cannot be loaded; known are " +
                                   std::string(kDigestModule) + " and " + std::string(kKerberosModule));
    }
  }
  return login;
}

std::expected<Login, JaasError> server_login_of(const JaasSection& section) {
  TRY_ASSIGN(Login login, login_of(section));
  if (login.kerberos) {
    TRY(check_acceptor(*login.kerberos, section.line));
  } else if (login.users.empty()) {
    return wrong(section.line,
                 "section " + shown(section.name) + " has no users: expected user_NAME=\"PASSWORD\"");
  }
  return login;
}

std::expected<Login, JaasError> client_login_of(const JaasSection& section) {
  TRY_ASSIGN(Login login, login_of(section));
  if (const auto& kerberos = login.kerberos) {
    if (kerberos->use_key_tab && kerberos->key_tab.empty())
      return wrong(section.line, "useKeyTab=true needs keyTab=\"/path/of/its/keytab\"");
    if (kerberos->use_key_tab && kerberos->principal.empty())
      return wrong(section.line, "useKeyTab=true needs principal=\"NAME@REALM\"");
    if (!kerberos->use_key_tab && !kerberos->use_ticket_cache)
      return wrong(section.line, "nobody can type a password: set useKeyTab=true or useTicketCache=true");
  } else if (login.username.empty() || login.password.empty()) {
    return wrong(section.line,
                 "section " + shown(section.name) +
                     " logs in as nobody: expected username=\"NAME\" and password=\"PASSWORD\"");
  }
  return login;
}

}  // namespace drover::sasl
