// SPDX-License-Identifier: Apache-2.0
//
// Reads the JAAS file, and checks what depends on it.
#include "config/sasl_settings.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>

#include "base/result.h"
#include "config/load.h"
#include "config/quorum_logins.h"
#include "log/log.h"
#include "sasl/jaas.h"
#include "sasl/jaas_file.h"

namespace drover::server {
namespace {

constexpr std::string_view kStandardSection = "Server";

std::unexpected<ConfigError> bad_login(std::string message) {
  return std::unexpected(ConfigError{std::move(message)});
}

void warn_if_others_may_read(LoadedConfig& loaded, const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0 || (status.st_mode & S_IROTH) == 0) return;
  loaded.warnings.push_back(
      fmt::format("{}: every user of the machine can read it, and it has passwords", path));
}

std::expected<sasl::JaasFile, ConfigError> read_jaas(const std::string& path, const FileReader& read) {
  auto text = read(path);
  if (!text) return bad_login("java.security.auth.login.config: " + text.error().what);
  auto file = sasl::parse_jaas(*text, sasl::jvm_property);
  wipe(*text);
  if (!file) return bad_login(fmt::format("{}:{}: {}", path, file.error().line, file.error().message));
  return *std::move(file);
}

bool has_passwords(const sasl::JaasFile& file) {
  return std::ranges::any_of(file, [](const sasl::JaasSection& section) {
    return std::ranges::any_of(section.entries, [](const sasl::JaasEntry& entry) {
      return std::ranges::any_of(entry.options, [](const auto& option) {
        return option.first == "password" || option.first.starts_with("user_");
      });
    });
  });
}

std::expected<void, ConfigError> take_login(SaslSettings& sasl, const std::string& path,
                                            const sasl::JaasSection& section) {
  auto login = sasl::server_login_of(section);
  if (!login) return bad_login(fmt::format("{}:{}: {}", path, login.error().line, login.error().message));
  sasl.source = fmt::format("{}:{}", path, section.line);
  sasl.login = *std::move(login);
  const auto super = sasl.login->users.find("super");
  if (super != sasl.login->users.end() && !sasl.super_password.empty()) super->second = sasl.super_password;
  return {};
}

std::expected<void, ConfigError> load_client_login(LoadedConfig& loaded, const std::string& path,
                                                   const sasl::JaasFile& file) {
  SaslSettings& sasl = loaded.config.sasl;
  const std::string name = sasl.section.value_or(std::string(kStandardSection));
  if (const sasl::JaasSection* section = sasl::find_section(file, name))
    return take_login(sasl, path, *section);
  if (sasl.section)
    return bad_login(fmt::format("{}: sasl.serverconfig: there is no section {}", path, escaped(name, 64)));
  // A file for the other logins of a server is a valid one.
  if (!sasl.quorum.enabled)
    loaded.warnings.push_back(
        fmt::format("{}: there is no section {}, so no client can log in with SASL", path, name));
  return {};
}

std::expected<void, ConfigError> load_logins(LoadedConfig& loaded, const CheckContext& context,
                                             const FileReader& read) {
  const SaslSettings& settings = loaded.config.sasl;
  if (settings.login_config.empty()) {
    if (!settings.section && !settings.quorum.enabled) return {};
    return bad_login(fmt::format("{}: {} needs java.security.auth.login.config", context.source,
                                 settings.section ? "sasl.serverconfig" : "quorum.auth.enableSasl"));
  }
  const std::string path = sasl::jaas_path(settings.login_config);
  TRY_ASSIGN(const sasl::JaasFile file, read_jaas(path, read));
  if (has_passwords(file)) warn_if_others_may_read(loaded, path);
  TRY(load_client_login(loaded, path, file));
  return load_quorum_logins(loaded, {.path = path, .sections = file});
}

}  // namespace

std::expected<void, ConfigError> load_sasl(LoadedConfig& loaded, const CheckContext& context,
                                           const FileReader& read) {
  TRY(check_quorum_sasl(loaded.config.sasl.quorum, context));
  TRY(load_logins(loaded, context, read));
  const SaslSettings& sasl = loaded.config.sasl;
  const auto warn = [&](std::string_view sentence) {
    loaded.warnings.push_back(fmt::format("{}: {}", context.source, sentence));
  };
  if (!sasl.login) return {};
  if (!sasl.provider) {
    warn(
        "clients can log in with SASL, but ACLs cannot name them: "
        "authProvider.1=org.apache.zookeeper.server.auth.SASLAuthenticationProvider is missing");
  }
  if (!sasl.super_password.empty() && !sasl.login->users.contains("super"))
    warn("SASLAuthenticationProvider.superPassword has no effect: the JAAS file has no user_super");
  return {};
}

}  // namespace drover::server
