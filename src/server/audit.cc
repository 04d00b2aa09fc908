// SPDX-License-Identifier: Apache-2.0
#include "server/audit.h"

#include <pwd.h>
#include <unistd.h>

#include <array>

#include "log/audit_log.h"

namespace drover::server {
namespace {

void write_one(const replica::AuditLine& line) { write_audit_log(line.failure, line.text); }

}  // namespace

IoResult<void> open_audit(const LogSettings& log) {
  if (!log.audit) return {};
  AuditLogOptions options;
  options.level = parse_log_level(log.audit_level).value_or(LogLevel::kInfo);
  options.file_bytes_max = log.file_bytes_max;
  options.files_max = log.files_max;
  if (!log.directory.empty()) options.file = log.directory + "/" + log.audit_file;
  return open_audit_log(options);
}

void audit_start(const ServerConfig& config, bool success) {
  if (!config.log.audit) return;
  const auto result = success ? replica::AuditResult::kSuccess : replica::AuditResult::kFailure;
  write_one(replica::server_audit_line(audit_user(config), "serverStart", result));
}

void audit_stop(const ServerConfig& config) {
  if (!config.log.audit) return;
  write_one(replica::server_audit_line(audit_user(config), "serverStop", replica::AuditResult::kInvoked));
}

void write_audit_lines(const std::vector<replica::AuditLine>& lines) {
  for (const replica::AuditLine& line : lines) write_one(line);
}

std::string audit_user(const ServerConfig& config) {
  const auto& login = config.sasl.login;
  if (login && login->kerberos) return login->kerberos->principal;
  std::array<char, 4096> space{};
  passwd entry{};
  passwd* found = nullptr;
  if (getpwuid_r(geteuid(), &entry, space.data(), space.size(), &found) == 0 && found) return found->pw_name;
  return std::to_string(geteuid());
}

}  // namespace drover::server
