// SPDX-License-Identifier: Apache-2.0
#include "cli/top/sample.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/number.h"
#include "base/text.h"
#include "cli/common/human_text.h"

namespace drover::cli::observe {
namespace {

namespace json = boost::json;

template <class Number>
std::optional<Number> metric_number(std::string_view text) {
  const bool hex = text.starts_with("0x");
  if (hex) text.remove_prefix(2);
  return parse_number<Number>(text, hex ? 16 : 10);
}

// The rest of the line that begins with `key`.
std::optional<std::string_view> line_of(std::string_view text, std::string_view key) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    if (line.starts_with(key)) return line.substr(key.size());
    at = end + 1;
  }
  return std::nullopt;
}

template <class Number>
std::optional<Number> number_of(std::string_view text, std::string_view key) {
  const auto line = line_of(text, key);
  return line ? metric_number<Number>(*line) : std::nullopt;
}

// "Latency min/avg/max: 0/1.8/16"
void read_latency(std::string_view text, Sample& sample) {
  const auto line = line_of(text, "Latency min/avg/max: ");
  if (!line) return;
  const std::size_t first = line->find('/');
  const std::size_t second = line->find('/', first + 1);
  if (second == std::string_view::npos) return;
  sample.latency_average = metric_number<double>(line->substr(first + 1, second - first - 1));
  sample.latency_max = metric_number<double>(line->substr(second + 1));
}

void read_srvr(std::string_view text, Sample& sample) {
  sample.role = std::string(line_of(text, "Mode: ").value_or("unknown"));
  const std::string_view version = line_of(text, "Zookeeper version: ").value_or("");
  sample.version = std::string(version.substr(0, version.find(',')));
  sample.zxid = number_of<std::int64_t>(text, "Zxid: ");
  sample.connections = number_of<std::int64_t>(text, "Connections: ");
  sample.outstanding = number_of<std::int64_t>(text, "Outstanding: ");
  sample.received = number_of<std::int64_t>(text, "Received: ");
  sample.nodes = number_of<std::int64_t>(text, "Node count: ");
  read_latency(text, sample);
}

Percentiles percentiles_of(std::string_view text, std::string_view metric) {
  const auto of = [&](std::string_view percent) {
    return number_of<double>(text, fmt::format("zk_{}_{}\t", percent, metric));
  };
  return {of("p50"), of("p95"), of("p99"), of("p999")};
}

void read_mntr(std::string_view text, Sample& sample) {
  const auto global = number_of<std::int64_t>(text, "zk_global_sessions\t");
  const auto local = number_of<std::int64_t>(text, "zk_local_sessions\t");
  if (global || local) sample.sessions = global.value_or(0) + local.value_or(0);
  sample.watches = number_of<std::int64_t>(text, "zk_watch_count\t");
  sample.ephemerals = number_of<std::int64_t>(text, "zk_ephemerals_count\t");
  sample.reads = percentiles_of(text, "readlatency");
  sample.updates = percentiles_of(text, "updatelatency");
}

constexpr std::int64_t epoch_of(std::int64_t zxid) { return zxid >> 32; }

const Sample* leader_of(const std::vector<Sample>& samples) {
  const auto leads = [](const Sample& sample) { return sample.role == "leader" && sample.zxid; };
  const auto found = std::find_if(samples.begin(), samples.end(), leads);
  return found == samples.end() ? nullptr : &*found;
}

// Servers are not sampled at exactly the same time: one that seems ahead has no lag.
std::optional<std::int64_t> lag_of(const Sample& sample, const Sample* leader) {
  if (leader == nullptr || !sample.zxid || epoch_of(*sample.zxid) != epoch_of(*leader->zxid))
    return std::nullopt;
  return std::max<std::int64_t>(0, *leader->zxid - *sample.zxid);
}

std::optional<double> rate_of(const Sample& before, const Sample& now) {
  const double seconds = std::chrono::duration<double>(now.at - before.at).count();
  if (!before.received || !now.received || seconds <= 0) return std::nullopt;
  if (*now.received < *before.received)
    return std::nullopt;  // The server was restarted, or its counters were reset.
  return static_cast<double>(*now.received - *before.received) / seconds;
}

void add_notes(Board& board) {
  std::size_t leaders = 0;
  for (const Row& row : board.rows) {
    leaders += row.sample.role == "leader" || row.sample.role == "standalone" ? 1 : 0;
    const std::string name = row.member.address ? row.member.address->to_text() : row.member.host;
    if (!row.member.address) {
      board.notes.push_back(
          fmt::format("server.{} ({}): its client port is not in the configuration; add it to -server",
                      row.member.sid.value_or(0), name));
    } else if (!row.sample.monitor_allowed) {
      board.notes.push_back(
          fmt::format("{}: no sessions, watches and percentiles: {}", name, how_to_allow("mntr")));
    }
    if (row.member.address && !row.sample.trouble.empty()) {
      board.notes.push_back(fmt::format("{}: {}", name, row.sample.trouble));
    }
  }
  if (leaders == 0) board.notes.push_back("no leader: writes wait until a majority of the voters is back");
}

template <class T>
json::value or_null(const std::optional<T>& value) {
  return value ? json::value(*value) : json::value(nullptr);
}

json::object json_of(const Percentiles& p) {
  return {
      {"p50", or_null(p.p50)}, {"p95", or_null(p.p95)}, {"p99", or_null(p.p99)}, {"p999", or_null(p.p999)}};
}

json::object json_of(const Row& row) {
  const Sample& s = row.sample;
  return {{"sid", or_null(row.member.sid)},
          {"address", row.member.address ? json::value(row.member.address->to_text()) : json::value(nullptr)},
          {"role", s.role},
          {"version", s.version},
          {"zxid", s.zxid ? json::value(hex_text(*s.zxid)) : json::value(nullptr)},
          {"epoch", or_null(row.epoch)},
          {"lag", or_null(row.lag)},
          {"sessions", or_null(s.sessions)},
          {"connections", or_null(s.connections)},
          {"watches", or_null(s.watches)},
          {"ephemerals", or_null(s.ephemerals)},
          {"nodes", or_null(s.nodes)},
          {"outstanding", or_null(s.outstanding)},
          {"requests_per_second", or_null(row.requests_per_second)},
          {"latency_average_ms", or_null(s.latency_average)},
          {"latency_max_ms", or_null(s.latency_max)},
          {"read_latency_ms", json_of(s.reads)},
          {"update_latency_ms", json_of(s.updates)},
          {"answer_us", s.took.count()},
          {"trouble", s.trouble}};
}

}  // namespace

Sample read_sample(const Answer& srvr, const Answer& mntr, std::chrono::steady_clock::time_point at) {
  Sample sample{.at = at, .took = srvr.took};
  switch (srvr.heard) {
    case Heard::kText: read_srvr(srvr.text, sample); break;
    case Heard::kNotServing: sample.role = "looking"; break;
    case Heard::kNotAllowed:
      sample.role = "unknown";
      sample.trouble = how_to_allow("srvr");
      break;
    case Heard::kNothing: sample.trouble = srvr.text; break;
  }
  sample.monitor_allowed = mntr.heard != Heard::kNotAllowed;
  if (mntr.heard == Heard::kText) read_mntr(mntr.text, sample);
  return sample;
}

std::optional<std::int64_t> sid_in(const Answer& conf) {
  return conf.heard == Heard::kText ? number_of<std::int64_t>(conf.text, "serverId=") : std::nullopt;
}

Board make_board(const std::vector<Member>& members, const std::vector<Sample>& before,
                 const std::vector<Sample>& now) {
  Board board;
  const Sample* leader = leader_of(now);
  for (std::size_t i = 0; i < members.size(); ++i) {
    Row row{.member = members[i], .sample = now.at(i)};
    if (before.size() == now.size()) row.requests_per_second = rate_of(before[i], now[i]);
    row.lag = lag_of(now[i], leader);
    if (now[i].zxid) row.epoch = epoch_of(*now[i].zxid);
    board.rows.push_back(std::move(row));
  }
  add_notes(board);
  return board;
}

json::object json_of(const Board& board) {
  json::array rows, paths;
  for (const Row& row : board.rows) rows.push_back(json_of(row));
  for (const PathCount& path : board.paths) {
    paths.push_back(json::object{{"path", safe_text(path.path)}, {"changes", path.changes}});
  }
  return {{"members", std::move(rows)},
          {"config_version",
           board.config_version ? json::value(hex_text(*board.config_version)) : json::value(nullptr)},
          {"changes", json::object{{"seconds", board.changes_seconds},
                                   {"total", board.changes},
                                   {"by_path", std::move(paths)},
                                   {"trouble", board.paths_trouble}}},
          {"notes", json::value_from(board.notes)}};
}

}  // namespace drover::cli::observe
