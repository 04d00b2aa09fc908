// SPDX-License-Identifier: Apache-2.0
#include "cli/common/human_text.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>

#include "base/utf8.h"

namespace drover::cli::observe {
namespace {

constexpr std::int64_t kSecond = 1000, kMinute = 60 * kSecond, kHour = 60 * kMinute, kDay = 24 * kHour;

std::string two_units(std::int64_t ms, std::int64_t unit, std::string_view name, std::int64_t part,
                      std::string_view part_name) {
  const std::int64_t rest = ms % unit / part;
  if (rest == 0) return fmt::format("{} {}", ms / unit, name);
  return fmt::format("{} {} {} {}", ms / unit, name, rest, part_name);
}

std::tm local_time(std::int64_t ms) {
  const std::time_t seconds = ms / kSecond;
  std::tm parts{};
  localtime_r(&seconds, &parts);
  return parts;
}

// C0, DEL and C1: control characters for a terminal.
bool is_control(std::uint32_t c) { return c < 0x20 || (c >= 0x7F && c < 0xA0); }

bool is_shown(DecodedChar c) { return !is_malformed(c) && !is_control(c.code_point); }

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

}  // namespace

std::string duration_text(std::int64_t ms) {
  if (ms < 0) return "0 ms";
  if (ms < kSecond) return fmt::format("{} ms", ms);
  if (ms < kMinute) return fmt::format("{} s", ms / kSecond);
  if (ms < kHour) return two_units(ms, kMinute, "min", kSecond, "s");
  if (ms < kDay) return two_units(ms, kHour, "h", kMinute, "min");
  return two_units(ms, kDay, "d", kHour, "h");
}

std::string time_text(std::int64_t ms, std::int64_t now_ms) {
  const std::tm then = local_time(ms);
  const std::tm now = local_time(now_ms);
  const bool today = then.tm_year == now.tm_year && then.tm_yday == now.tm_yday;
  return today ? fmt::format("{:%H:%M:%S}", then) : fmt::format("{:%Y-%m-%d %H:%M:%S}", then);
}

std::string count_text(double count) {
  if (count < 1000) return fmt::format("{:.0f}", count);
  if (count < 1e6) return fmt::format("{:.1f}k", count / 1e3);
  return fmt::format("{:.2f}M", count / 1e6);
}

bool is_utf8_text(std::string_view bytes) {
  while (!bytes.empty()) {
    const DecodedChar c = decode_utf8(bytes);
    if (!is_shown(c)) return false;
    bytes.remove_prefix(c.length);
  }
  return true;
}

std::string data_text(std::string_view data, std::size_t length_max) {
  if (data.empty()) return {};
  if (!is_utf8_text(data)) return fmt::format("{} bytes", data.size());
  if (width_of(data) <= length_max) return fmt::format("\"{}\"", data);
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < length_max; ++i) bytes += decode_utf8(data.substr(bytes)).length;
  return fmt::format("\"{}…\"", data.substr(0, bytes));
}

std::string safe_text(std::string_view text) {
  std::string safe;
  while (!text.empty()) {
    const DecodedChar c = decode_utf8(text);
    safe += is_shown(c) ? text.substr(0, c.length) : std::string_view("?");
    text.remove_prefix(c.length);
  }
  return safe;
}

std::int64_t wall_clock_ms() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

std::vector<std::string> Table::lines() const {
  std::vector<std::size_t> widths(rows_[0].size(), 0);
  for (std::size_t row = 1; row < rows_.size(); ++row) {
    for (std::size_t i = 0; i < widths.size(); ++i)
      widths[i] = std::max(widths[i], width_of(rows_[row].at(i)));
  }
  for (std::size_t i = 0; i < widths.size(); ++i) {
    if (widths[i] > 0) widths[i] = std::max(widths[i], width_of(rows_[0][i]));
  }
  std::vector<std::string> lines;
  for (const std::vector<std::string>& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      if (widths[i] == 0) continue;
      line += row[i] + std::string(widths[i] - width_of(row[i]) + 2, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace drover::cli::observe
