// SPDX-License-Identifier: Apache-2.0
#include "cli/top/screen.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "cli/common/human_text.h"

namespace drover::cli::observe {
namespace {

constexpr std::string_view kKeys =
    "q quit   sort: s server  r requests  l latency  c connections  w watches  z lag   +/- depth of paths";

template <class T>
std::string text_of(const std::optional<T>& value) {
  return value ? count_text(static_cast<double>(*value)) : "-";
}

std::string ms_text(const std::optional<double>& value) {
  return value ? fmt::format("{:.4g}", *value) : "-";
}

std::string lag_text(const Row& row) {
  if (row.lag) return std::to_string(*row.lag);
  return row.sample.zxid ? "-" : "";
}

std::string zxid_text(const std::optional<std::int64_t>& zxid) { return zxid ? hex_text(*zxid) : ""; }

std::vector<std::string> cells_of(const Row& row) {
  const Sample& s = row.sample;
  std::vector<std::string> cells{row.member.sid ? std::to_string(*row.member.sid) : "",
                                 row.member.address ? row.member.address->to_text() : row.member.host,
                                 s.role};
  if (s.role == "down" || s.role == "looking") {
    cells.resize(16);
    return cells;
  }
  for (std::string& cell : std::vector<std::string>{
           row.epoch ? std::to_string(*row.epoch) : "", zxid_text(s.zxid), lag_text(row),
           text_of(row.requests_per_second), text_of(s.outstanding), text_of(s.sessions),
           text_of(s.connections), text_of(s.watches), ms_text(s.latency_average),
           fmt::format("{}/{}", ms_text(s.reads.p50), ms_text(s.reads.p99)),
           fmt::format("{}/{}", ms_text(s.updates.p50), ms_text(s.updates.p99)), ms_text(s.latency_max),
           fmt::format("{:.1f}", static_cast<double>(s.took.count()) / 1000)}) {
    cells.push_back(std::move(cell));
  }
  return cells;
}

void add_members(const Board& board, std::vector<std::string>& lines) {
  Table table({"sid", "address", "role", "epoch", "zxid", "lag", "req/s", "outst", "sess", "conn", "watch",
               "avg ms", "read 50/99", "write 50/99", "max", "answer ms"});
  for (const Row& row : board.rows) table.add(cells_of(row));
  const std::vector<std::string> rows = table.lines();
  lines.insert(lines.end(), rows.begin(), rows.end());
}

void add_paths(const Board& board, const ScreenOptions& options, std::vector<std::string>& lines) {
  lines.emplace_back();
  if (!board.paths_trouble.empty()) {
    lines.push_back(fmt::format("changes by path: {}", board.paths_trouble));
    return;
  }
  lines.push_back(fmt::format(
      "changes by path, {} in {:.0f} s since the start (reads cannot be seen from outside; depth {})",
      board.changes, board.changes_seconds, options.depth));
  for (const PathCount& path : board.paths) {
    const double share = board.changes == 0
                             ? 0
                             : 100.0 * static_cast<double>(path.changes) / static_cast<double>(board.changes);
    lines.push_back(fmt::format("{:>9}  {:>5.1f} %  {}", path.changes, share, safe_text(path.path)));
  }
}

// Truncates at the width of the screen, between characters.
std::string cut(const std::string& line, std::size_t width) {
  std::size_t characters = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if ((static_cast<unsigned char>(line[i]) & 0xC0) == 0x80) continue;
    if (++characters > width) return line.substr(0, i);
  }
  return line;
}

double key_of(const Row& row, SortBy by) {
  const Sample& s = row.sample;
  switch (by) {
    case SortBy::kServer: return -static_cast<double>(row.member.sid.value_or(INT64_MAX));
    case SortBy::kRequests: return row.requests_per_second.value_or(-1);
    case SortBy::kLatency: return s.latency_average.value_or(-1);
    case SortBy::kConnections: return static_cast<double>(s.connections.value_or(-1));
    case SortBy::kWatches: return static_cast<double>(s.watches.value_or(-1));
    case SortBy::kLag: return static_cast<double>(row.lag.value_or(-1));
  }
  return 0;
}

}  // namespace

void sort_rows(std::vector<Row>& rows, SortBy by) {
  std::stable_sort(rows.begin(), rows.end(),
                   [by](const Row& a, const Row& b) { return key_of(a, by) > key_of(b, by); });
}

std::vector<std::string> lines_of(Board board, const ScreenOptions& options) {
  sort_rows(board.rows, options.sort);
  std::vector<std::string> lines;
  add_members(board, lines);
  if (board.config_version) lines.push_back("configuration version " + hex_text(*board.config_version));
  for (const std::string& note : board.notes) lines.push_back("note: " + note);
  add_paths(board, options, lines);
  const std::size_t room = options.height - (options.footer ? 1 : 0);
  if (lines.size() > room) lines.resize(room);
  if (options.footer) {
    lines.resize(room);
    lines.emplace_back(kKeys);
  }
  for (std::string& line : lines) line = cut(line, options.width);
  return lines;
}

}  // namespace drover::cli::observe
