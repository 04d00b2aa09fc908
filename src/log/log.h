// SPDX-License-Identifier: Apache-2.0
//
// The server's log: one line per event, for people first and for grep second.
//
//   2026-11-15T08:23:38.123Z INFO  [session] 0x100000d3f370000 expired after 10000 ms
//
// Logs to standard error until open_log() names a file, which is rotated by size. Names from a client or a
// file go through escaped(): a path must not be able to forge a line or to move a cursor. No other folder
// uses spdlog.
#pragma once

#include <fmt/core.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace drover::server {

enum class LogLevel : std::uint8_t { kTrace, kDebug, kInfo, kWarn, kError, kOff };

// "info", "WARN", "warning", …; nothing if it is not a level.
std::optional<LogLevel> parse_log_level(std::string_view name);

struct LogOptions {
  std::string file;  // empty: standard error
  LogLevel level = LogLevel::kInfo;
  std::int64_t file_bytes_max = 256 << 20;
  int files_max = 20;  // older files kept beside the current one
};

// Call it once, before threads start. The directory of the file must exist.
IoResult<void> open_log(const LogOptions& options);

bool log_enabled(LogLevel level);
// Escapes control characters in `message` once more: an event is one line, whatever it contains.
void write_log(LogLevel level, std::string_view component, std::string_view message);

template <class... Arguments>
void log_at(LogLevel level, std::string_view component, fmt::format_string<Arguments...> format,
            Arguments&&... arguments) {
  if (!log_enabled(level)) return;
  write_log(level, component, fmt::format(format, std::forward<Arguments>(arguments)...));
}

template <class... Arguments>
void log_debug(std::string_view component, fmt::format_string<Arguments...> format,
               Arguments&&... arguments) {
  log_at(LogLevel::kDebug, component, format, std::forward<Arguments>(arguments)...);
}
template <class... Arguments>
void log_info(std::string_view component, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  log_at(LogLevel::kInfo, component, format, std::forward<Arguments>(arguments)...);
}
template <class... Arguments>
void log_warn(std::string_view component, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  log_at(LogLevel::kWarn, component, format, std::forward<Arguments>(arguments)...);
}
template <class... Arguments>
void log_error(std::string_view component, fmt::format_string<Arguments...> format,
               Arguments&&... arguments) {
  log_at(LogLevel::kError, component, format, std::forward<Arguments>(arguments)...);
}

// Makes `text` safe for a log line: control characters, quotes, backslashes and bytes that are not UTF-8
// become \xNN (\n, \r, \t by name). Cuts it after `bytes_max` bytes, with "…" for the rest.
std::string escaped(std::string_view text, std::size_t bytes_max = 256);

}  // namespace drover::server
