// SPDX-License-Identifier: Apache-2.0
#include "cli/common/login.h"

#include <stdlib.h>
#include <sys/stat.h>

#include <array>
#include <utility>

#include "cli/common/password.h"

namespace drover::cli {
namespace {

constexpr std::array kFlags = {
    LoginFlag{"--sasl-user", true}, LoginFlag{"--sasl-password-file", true}, LoginFlag{"--kerberos"},
    LoginFlag{"--keytab", true},    LoginFlag{"--principal", true},
};

using Made = std::expected<LoginMade, std::string>;

const std::string* find(const Properties& properties, std::string_view name) {
  const auto found = properties.find(name);
  return found == properties.end() ? nullptr : &found->second;
}

std::string value(const Properties& properties, std::string_view name, std::string_view otherwise = "") {
  const std::string* found = find(properties, name);
  return found != nullptr ? *found : std::string(otherwise);
}

Made made_of(Result<SaslLoginPtr> login, std::vector<std::string> warnings = {}) {
  if (!login) return std::unexpected(login.error().detail);
  return LoginMade{*std::move(login), std::move(warnings)};
}

std::vector<std::string> warnings_about(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0 || (status.st_mode & S_IROTH) == 0) return {};
  return {path + ": every user of the machine can read it, and it has a password"};
}

SaslService service_of(const Properties& properties) {
  return {.name = value(properties, "zookeeper.sasl.client.username", "zookeeper"),
          .principal = value(properties, "zookeeper.server.principal"),
          .canonicalize_host_name =
              value(properties, "zookeeper.sasl.client.canonicalize.hostname", "true") == "true"};
}

Made with_password(const Properties& flags) {
  const std::string user = value(flags, "--sasl-user");
  const std::string* file = find(flags, "--sasl-password-file");
  auto password =
      file != nullptr ? password_from_file(*file) : password_from_terminal("Password of " + user + ": ");
  if (!password) return std::unexpected(password.error());
  return made_of(sasl_password(user, *std::move(password)),
                 file != nullptr ? warnings_about(*file) : std::vector<std::string>());
}

Made with_kerberos(const Properties& flags, const Properties& properties) {
  return made_of(sasl_kerberos({.principal = value(flags, "--principal"), .keytab = value(flags, "--keytab")},
                               service_of(properties)));
}

Made by_properties(const Properties& properties) {
  const std::string* file = find(properties, "java.security.auth.login.config");
  const std::string* section = find(properties, "zookeeper.sasl.clientconfig");
  if (value(properties, "zookeeper.sasl.client", "true") != "true") return LoginMade{};
  if (file == nullptr && section != nullptr)
    return std::unexpected("zookeeper.sasl.clientconfig needs java.security.auth.login.config");
  if (file == nullptr) return LoginMade{};
  const std::string name = section != nullptr ? *section : "Client";
  auto login = sasl_jaas({.file = *file, .section = name, .section_required = section != nullptr},
                         service_of(properties));
  if (login && !*login) return LoginMade{{}, {*file + ": there is no section Client, so there is no login"}};
  return made_of(std::move(login));
}

std::string problem_with(const Properties& flags) {
  const bool password = flags.contains("--sasl-user");
  const bool kerberos =
      flags.contains("--kerberos") || flags.contains("--keytab") || flags.contains("--principal");
  if (password && kerberos) return "a login is either with --sasl-user or with Kerberos";
  if (!password && flags.contains("--sasl-password-file")) return "--sasl-password-file needs --sasl-user";
  return {};
}

}  // namespace

std::span<const LoginFlag> login_flags() { return kFlags; }

Made make_login(const Properties& flags, const Properties& properties) {
  if (const std::string problem = problem_with(flags); !problem.empty()) return std::unexpected(problem);
  if (const std::string* krb5 = find(properties, "java.security.krb5.conf")) {
    ::setenv("KRB5_CONFIG", krb5->c_str(), 1);
  }
  Made made = flags.contains("--sasl-user") ? with_password(flags)
              : !flags.empty()              ? with_kerberos(flags, properties)
                                            : by_properties(properties);
  if (made && properties.contains("zookeeper.server.realm")) {
    made->warnings.push_back(
        "zookeeper.server.realm has no effect: [domain_realm] of krb5.conf has the realms of servers");
  }
  return made;
}

}  // namespace drover::cli
