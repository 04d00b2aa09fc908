// SPDX-License-Identifier: Apache-2.0
#include "log/audit_log.h"

#include <fmt/format.h>
#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/rotating_file_sink.h>

#include <memory>

namespace drover::server {
namespace {

struct AuditOutput {
  bool open = false;
  std::shared_ptr<spdlog::logger> file;  // null: the log
  LogLevel level = LogLevel::kInfo;
};

// Set by open_audit_log() before threads start; afterwards all threads read it.
AuditOutput& output() {
  static AuditOutput instance;
  return instance;
}

}  // namespace

IoResult<void> open_audit_log(const AuditLogOptions& options) {
  output() = {.open = true, .file = nullptr, .level = options.level};
  if (options.file.empty()) return {};
  try {
    auto sink = std::make_shared<spdlog::sinks::rotating_file_sink_mt>(
        options.file, static_cast<std::size_t>(options.file_bytes_max),
        static_cast<std::size_t>(options.files_max));
    auto logger = std::make_shared<spdlog::logger>("audit", std::move(sink));
    logger->set_formatter(std::make_unique<spdlog::pattern_formatter>("%Y-%m-%d %H:%M:%S,%e %v"));
    // Flush every line: it is in the file before its client is answered.
    logger->flush_on(spdlog::level::trace);
    output().file = std::move(logger);
    return {};
  } catch (const spdlog::spdlog_ex& failure) {
    return std::unexpected(data_error(failure.what()));
  }
}

void write_audit_log(bool failure, std::string_view line) {
  const AuditOutput& to = output();
  const LogLevel level = failure ? LogLevel::kError : LogLevel::kInfo;
  if (!to.open || level < to.level) return;
  if (!to.file) {
    if (log_enabled(level)) write_log(level, "audit", line);
    return;
  }
  const std::string text = fmt::format("{} audit.Slf4jAuditLogger: {}", failure ? "ERROR" : "INFO", line);
  to.file->log(spdlog::level::info, spdlog::string_view_t(text));
}

}  // namespace drover::server
