// SPDX-License-Identifier: Apache-2.0
//
// The log, by spdlog.
#include "log/log.h"

#include <fmt/format.h>
#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/rotating_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <memory>

#include "base/utf8.h"

namespace drover::server {
namespace {

constexpr std::array<std::string_view, 6> kLevelNames{"TRACE", "DEBUG", "INFO ", "WARN ", "ERROR", "OFF  "};

spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::kTrace: return spdlog::level::trace;
    case LogLevel::kDebug: return spdlog::level::debug;
    case LogLevel::kInfo: return spdlog::level::info;
    case LogLevel::kWarn: return spdlog::level::warn;
    case LogLevel::kError: return spdlog::level::err;
    case LogLevel::kOff: return spdlog::level::off;
  }
  return spdlog::level::info;
}

std::shared_ptr<spdlog::logger> make_logger(spdlog::sink_ptr sink, LogLevel level) {
  auto logger = std::make_shared<spdlog::logger>("drover", std::move(sink));
  // UTC, because the logs of several servers are read side by side.
  logger->set_formatter(std::make_unique<spdlog::pattern_formatter>("%Y-%m-%dT%H:%M:%S.%eZ %v",
                                                                    spdlog::pattern_time_type::utc));
  logger->set_level(to_spdlog(level));
  // Flush every line: buffered lines are lost in a crash, which is when they are needed.
  logger->flush_on(spdlog::level::trace);
  return logger;
}

// Set by open_log() before threads start; afterwards all threads read it.
std::shared_ptr<spdlog::logger>& current_logger() {
  static std::shared_ptr<spdlog::logger> logger =
      make_logger(std::make_shared<spdlog::sinks::stderr_sink_mt>(), LogLevel::kInfo);
  return logger;
}

bool is_control(std::uint32_t code_point) {
  return code_point < 0x20 || (code_point >= 0x7f && code_point < 0xa0) || code_point == 0x2028 ||
         code_point == 0x2029;
}

void append_hex(std::string& out, std::string_view bytes) {
  for (const char byte : bytes)
    fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned char>(byte));
}

struct EscapeRules {
  bool quotes = true;  // also escape characters that could end or fake a quotation
};

void append_escaped(std::string& out, std::string_view bytes, DecodedChar c, EscapeRules rules) {
  constexpr std::uint32_t kReplacement = 0xfffd;
  constexpr std::string_view kReplacementBytes = "\xef\xbf\xbd";
  if (c.code_point == '\n') {
    out += "\\n";
  } else if (c.code_point == '\r') {
    out += "\\r";
  } else if (c.code_point == '\t') {
    out += "\\t";
  } else if (rules.quotes && (c.code_point == '"' || c.code_point == '\'' || c.code_point == '\\')) {
    append_hex(out, bytes);
  } else if (is_control(c.code_point) || (c.code_point == kReplacement && bytes != kReplacementBytes)) {
    append_hex(out, bytes);
  } else {
    out += bytes;
  }
}

std::string escape_all(std::string_view text, EscapeRules rules) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const DecodedChar c = decode_utf8(text);
    append_escaped(out, text.substr(0, c.length), c, rules);
    text.remove_prefix(c.length);
  }
  return out;
}

}  // namespace

std::optional<LogLevel> parse_log_level(std::string_view name) {
  std::string lower(name);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  if (lower == "trace" || lower == "all") return LogLevel::kTrace;
  if (lower == "debug") return LogLevel::kDebug;
  if (lower == "info") return LogLevel::kInfo;
  if (lower == "warn" || lower == "warning") return LogLevel::kWarn;
  if (lower == "error" || lower == "fatal") return LogLevel::kError;
  if (lower == "off") return LogLevel::kOff;
  return std::nullopt;
}

IoResult<void> open_log(const LogOptions& options) {
  if (options.file.empty()) {
    current_logger() = make_logger(std::make_shared<spdlog::sinks::stderr_sink_mt>(), options.level);
    return {};
  }
  try {
    auto sink = std::make_shared<spdlog::sinks::rotating_file_sink_mt>(
        options.file, static_cast<std::size_t>(options.file_bytes_max),
        static_cast<std::size_t>(options.files_max));
    current_logger() = make_logger(std::move(sink), options.level);
    return {};
  } catch (const spdlog::spdlog_ex& failure) {
    return std::unexpected(data_error(failure.what()));
  }
}

bool log_enabled(LogLevel level) { return current_logger()->should_log(to_spdlog(level)); }

void write_log(LogLevel level, std::string_view component, std::string_view message) {
  const std::string line = fmt::format("{} [{}] {}", kLevelNames[static_cast<std::size_t>(level)], component,
                                       escape_all(message, {.quotes = false}));
  current_logger()->log(to_spdlog(level), spdlog::string_view_t(line));
}

std::string escaped(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return escape_all(text, {});
  // Do not cut inside a character: the rest would look like invalid UTF-8.
  std::size_t end = bytes_max;
  while (end > 0 && bytes_max - end < 4 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return escape_all(text.substr(0, end), {}) + "…";
}

}  // namespace drover::server
