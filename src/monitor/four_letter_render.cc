// SPDX-License-Identifier: Apache-2.0
//
// The output of each four-letter word. Checked byte by byte against Java ZooKeeper 3.8.0.
#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <utility>

#include "monitor/four_letter_words.h"
#include "monitor/java_text.h"

namespace drover::server {
namespace {

constexpr std::string_view kNotServing = "This ZooKeeper instance is not currently serving requests";

template <class... Arguments>
void print(std::string& out, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  fmt::format_to(std::back_inserter(out), format, std::forward<Arguments>(arguments)...);
}

// Long.toHexString(): a negative number as its 64 bits.
template <class Id>
std::uint64_t hex(Id id) {
  return static_cast<std::uint64_t>(raw(id));
}

std::string conf(const Facts& facts) {
  const ConfFacts c = facts.conf.value_or(ConfFacts{});
  std::string out;
  print(out, "clientPort={}\nsecureClientPort={}\n", c.client_port, c.secure_client_port);
  print(out, "dataDir={}\ndataDirSize={}\n", c.data_dir, facts.data_dir_bytes);
  print(out, "dataLogDir={}\ndataLogSize={}\n", c.data_log_dir, facts.log_dir_bytes);
  print(out, "tickTime={}\nmaxClientCnxns={}\n", c.tick_time_ms, c.max_client_cnxns);
  print(out, "minSessionTimeout={}\nmaxSessionTimeout={}\n", c.min_session_timeout_ms,
        c.max_session_timeout_ms);
  print(out, "clientPortListenBacklog={}\nserverId={}\n", c.listen_backlog, raw(c.server_id));
  if (c.quorum) {
    const auto& q = *c.quorum;
    print(out, "initLimit={}\nsyncLimit={}\n", q.init_limit_ticks, q.sync_limit_ticks);
    print(out, "electionAlg={}\nelectionPort={}\n", q.election_alg, q.election_ports);
    print(out, "quorumPort={}\npeerType={}\n", q.quorum_ports, q.peer_type);
    if (!q.membership.empty()) print(out, "membership: \n{}", q.membership);
  }
  return out;
}

enum class ConnectionForm { kBrief, kFull };

void print_connection(std::string& out, const ConnectionFacts& c, ConnectionForm form) {
  print(out, " /{}[{:x}](queued={},recved={},sent={}", c.remote, c.interest_ops, c.queued, c.received,
        c.sent);
  if (form == ConnectionForm::kFull && c.session != SessionId{0}) {
    print(out, ",sid=0x{:x},lop={},est={},to={}", hex(c.session), c.last_operation, c.established.ms,
          c.timeout_ms);
    if (c.last_cxid >= 0) print(out, ",lcxid=0x{:x}", c.last_cxid);
    const std::int64_t average = c.latency_ms.count == 0 ? 0 : c.latency_ms.sum / c.latency_ms.count;
    print(out, ",lzxid=0x{:x},lresp={},llat={},minlat={},avglat={},maxlat={}", hex(c.last_zxid),
          c.last_response_ms, c.last_latency_ms, c.latency_ms.min, average, c.latency_ms.max);
  }
  out += ")\n";
}

std::string connections(const Facts& facts, ConnectionForm form) {
  std::string out;
  for (const ConnectionFacts& connection : facts.connections) print_connection(out, connection, form);
  return out + "\n";
}

void print_sessions(std::string& out, const std::vector<SessionBucket>& buckets) {
  std::size_t sessions = 0;
  for (const SessionBucket& bucket : buckets) sessions += bucket.sessions.size();
  print(out, "Session Sets ({})/({}):\n", buckets.size(), sessions);
  for (const SessionBucket& bucket : buckets) {
    print(out, "{} expire at {}:\n", bucket.sessions.size(), java_date(bucket.expires));
    for (const SessionId session : bucket.sessions) print(out, "\t0x{:x}\n", hex(session));
  }
}

void print_session_tracker(std::string& out, const Facts& facts) {
  out += "SessionTracker dump:\n";
  if (facts.local_session_buckets) {
    out += "Local ";
    print_sessions(out, *facts.local_session_buckets);
    if (!facts.global_sessions) out += "Global ";
  }
  if (!facts.global_sessions) return print_sessions(out, facts.session_buckets);
  print(out, "Global Sessions({}):\n", facts.global_sessions->size());
  for (const GlobalSession& s : *facts.global_sessions)
    print(out, "0x{:x}\t{}ms\n", hex(s.session), s.timeout_ms);
}

std::string dump(const Facts& facts) {
  std::string out;
  print_session_tracker(out, facts);
  print(out, "ephemeral nodes dump:\nSessions with Ephemerals ({}):\n", facts.ephemerals.size());
  for (const SessionPaths& owner : facts.ephemerals) {
    print(out, "0x{:x}:\n", hex(owner.session));
    for (const std::string& path : owner.paths) print(out, "\t{}\n", path);
  }

  std::size_t entries = 0;
  for (const ConnectionBucket& bucket : facts.connection_buckets) entries += bucket.connections.size();
  print(out, "Connections dump:\nConnections Sets ({})/({}):\n", facts.connection_buckets.size(), entries);
  for (const ConnectionBucket& bucket : facts.connection_buckets) {
    print(out, "{} expire at {}:\n", bucket.connections.size(), java_date(bucket.expires));
    for (const auto& entry : bucket.connections) {
      print(out, "\tip: /{} sessionId: 0x{:x}\n", entry.remote, hex(entry.session));
    }
  }
  return out;
}

std::string envi(const Facts& facts) {
  std::string out = "Environment:\n";
  for (const EnvironmentEntry& entry : facts.environment) print(out, "{}={}\n", entry.key, entry.value);
  return out;
}

std::string digests(const Facts& facts) {
  std::string out;
  for (const DigestFacts& digest : facts.digests) print(out, "{:x}: {}\n", hex(digest.zxid), digest.digest);
  return out;
}

std::string text_of(const MetricLine& line) {
  if (const auto* number = std::get_if<std::int64_t>(&line.value)) return std::to_string(*number);
  if (const auto* number = std::get_if<double>(&line.value)) return java_double(*number);
  return std::get<std::string>(line.value);
}

std::string mntr(const Facts& facts) {
  std::string out;
  print(out, "zk_version\t{}\nzk_server_state\t{}\n", facts.version, name_of(facts.mode));
  if (!facts.peer_state.empty()) print(out, "zk_peer_state\t{}\n", facts.peer_state);
  for (const Metric& metric : facts.metrics) {
    for (const MetricLine& line : lines_of(metric)) print(out, "zk_{}\t{}\n", line.name, text_of(line));
  }
  return out;
}

std::string server_stats(const Facts& facts) {
  std::string out;
  print(out, "Latency min/avg/max: {}/{}/{}\n", facts.latency_ms.min, java_double(facts.latency_ms.average()),
        facts.latency_ms.max);
  print(out, "Received: {}\nSent: {}\nConnections: {}\nOutstanding: {}\n", facts.packets_received,
        facts.packets_sent, facts.alive_connections, facts.outstanding_requests);
  print(out, "Zxid: 0x{:x}\nMode: {}\nNode count: {}\n", hex(facts.last_zxid), name_of(facts.mode),
        facts.node_count);
  if (facts.mode == ServerMode::kLeader) {
    const ProposalSizes& sizes = facts.proposal_bytes;
    print(out, "Proposal sizes last/min/max: {}/{}/{}\n", sizes.last, sizes.min, sizes.max);
  }
  return out;
}

std::string srvr(const Facts& facts, std::string_view clients) {
  std::string out;
  print(out, "Zookeeper version: {}\n", facts.version);
  if (facts.mode == ServerMode::kReadOnly) out += "READ-ONLY mode; serving only read-only clients\n";
  out += clients;
  return out + server_stats(facts);
}

std::string watches_by_session(const Facts& facts) {
  std::string out;
  for (const SessionPaths& watcher : facts.watches_by_session) {
    print(out, "0x{:x}\n", hex(watcher.session));
    for (const std::string& path : watcher.paths) print(out, "\t{}\n", path);
  }
  return out + "\n";
}

std::string watches_by_path(const Facts& facts) {
  std::string out;
  for (const PathSessions& watched : facts.watches_by_path) {
    print(out, "{}\n", watched.path);
    for (const SessionId session : watched.sessions) print(out, "\t0x{:x}\n", hex(session));
  }
  return out + "\n";
}

// Java's behaviour, word by word, while it is not serving. Nothing: the word answers as always.
std::optional<std::string> answer_when_not_serving(Word word) {
  switch (word) {
    case Word::kEnvi:
    case Word::kRuok:
    case Word::kGtmk:
    case Word::kStmk:
    case Word::kTelnetClose: return std::nullopt;
    case Word::kIsro: return "null";
    case Word::kHash: return std::string(kNotServing);
    default: return std::string(kNotServing) + "\n";
  }
}

}  // namespace

std::string_view name_of(ServerMode mode) {
  switch (mode) {
    case ServerMode::kStandalone: return "standalone";
    case ServerMode::kLeader: return "leader";
    case ServerMode::kFollower: return "follower";
    case ServerMode::kObserver: return "observer";
    case ServerMode::kReadOnly: return "read-only";
  }
  return "standalone";
}

double Summary::average() const {
  if (count == 0) return 0;
  return std::round(static_cast<double>(sum) / static_cast<double>(count) * 10'000) / 10'000;
}

namespace {

void append_summary(std::vector<MetricLine>& lines, std::string_view name, const Summary& summary) {
  lines.push_back({fmt::format("avg_{}", name), summary.average()});
  lines.push_back({fmt::format("min_{}", name), summary.min});
  lines.push_back({fmt::format("max_{}", name), summary.max});
  lines.push_back({fmt::format("cnt_{}", name), summary.count});
  lines.push_back({fmt::format("sum_{}", name), summary.sum});
}

struct LineMaker {
  const std::string& name;
  std::vector<MetricLine>& lines;

  void operator()(const Summary& summary) const { append_summary(lines, name, summary); }
  void operator()(const Median& median) const { append_summary(lines, name, median.summary); }
  void operator()(const Percentiles& p) const {
    append_summary(lines, name, p.summary);
    lines.push_back({fmt::format("p50_{}", name), p.p50});
    lines.push_back({fmt::format("p95_{}", name), p.p95});
    lines.push_back({fmt::format("p99_{}", name), p.p99});
    lines.push_back({fmt::format("p999_{}", name), p.p999});
  }
  void operator()(const auto& single) const { lines.push_back({name, single}); }
};

}  // namespace

std::vector<MetricLine> lines_of(const Metric& metric) {
  std::vector<MetricLine> lines;
  std::visit(LineMaker{metric.name, lines}, metric.value);
  return lines;
}

std::string render(Word word, const Facts& facts) {
  if (!facts.serving) {
    if (auto answer = answer_when_not_serving(word)) return *std::move(answer);
  }
  switch (word) {
    case Word::kConf: return conf(facts);
    case Word::kCons: return connections(facts, ConnectionForm::kFull);
    case Word::kCrst: return "Connection stats reset.\n";
    case Word::kDirs:
      return fmt::format("datadir_size: {}\nlogdir_size: {}\n", facts.data_dir_bytes, facts.log_dir_bytes);
    case Word::kDump: return dump(facts);
    case Word::kEnvi: return envi(facts);
    case Word::kGtmk:
    case Word::kStmk: return std::to_string(facts.trace_mask);
    case Word::kHash: return digests(facts);
    case Word::kIsro: return facts.mode == ServerMode::kReadOnly ? "ro" : "rw";
    case Word::kMntr: return mntr(facts);
    case Word::kRuok: return "imok";
    case Word::kSrst: return "Server stats reset.\n";
    case Word::kSrvr: return srvr(facts, "");
    case Word::kStat: return srvr(facts, "Clients:\n" + connections(facts, ConnectionForm::kBrief));
    case Word::kWchc: return watches_by_session(facts);
    case Word::kWchp: return watches_by_path(facts);
    case Word::kWchs:
      return fmt::format("{} connections watching {} paths\nTotal watches:{}\n", facts.watching_connections,
                         facts.watched_paths, facts.total_watches);
    case Word::kTelnetClose: return "";
  }
  return "";
}

std::string refusal(Word word) {
  return fmt::format("{} is not executed because it is not in the whitelist.\n", name_of(word));
}

}  // namespace drover::server
