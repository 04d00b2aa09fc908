// SPDX-License-Identifier: Apache-2.0
//
// The table of four-letter words and their output. Checked byte by byte against Java ZooKeeper 3.8.0.
#include <fmt/format.h>

#include <iterator>
#include <utility>

#include "monitor/four_letter_words.h"
#include "monitor/java_text.h"

namespace drover::server {
namespace {

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
    const std::uint64_t average = c.latency_ms.count == 0 ? 0 : c.latency_ms.sum / c.latency_ms.count;
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
  print(out, "Latency min/avg/max: {}/{}/{}\n", facts.latency_ms.min,
        java_double(average_of(facts.latency_ms)), facts.latency_ms.max);
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

std::string watch_summary(const Facts& facts) {
  return fmt::format("{} connections watching {} paths\nTotal watches:{}\n", facts.watching_connections,
                     facts.watched_paths, facts.total_watches);
}

std::string trace_mask(const Facts& facts) { return std::to_string(facts.trace_mask); }

constexpr Word kWords[] = {
    {.name = "conf", .print = conf, .needs = {.directory_sizes = true}, .standard = true},
    {.name = "cons",
     .print = [](const Facts& f) { return connections(f, ConnectionForm::kFull); },
     .needs = {.connections = true}},
    {.name = "crst",
     .print = [](const Facts&) { return std::string("Connection stats reset.\n"); },
     .action = Word::Action::kResetConnectionStats},
    {.name = "dirs",
     .print =
         [](const Facts& f) {
           return fmt::format("datadir_size: {}\nlogdir_size: {}\n", f.data_dir_bytes, f.log_dir_bytes);
         },
     .needs = {.directory_sizes = true},
     .standard = true},
    {.name = "dump", .print = dump, .needs = {.sessions_and_ephemerals = true}},
    {.name = "envi", .print = envi, .needs = {.environment = true}, .standard = true, .not_serving = {}},
    {.name = "gtmk", .print = trace_mask, .not_serving = {}},
    {.name = "hash",
     .print = digests,
     .needs = {.digests = true},
     .not_serving = Word::kNotServing.substr(0, Word::kNotServing.size() - 1)},
    {.name = "isro",
     .print = [](const Facts& f) { return std::string(f.mode == ServerMode::kReadOnly ? "ro" : "rw"); },
     .standard = true,
     .not_serving = "null"},
    {.name = "mntr", .print = mntr, .needs = {.metrics = true}, .standard = true},
    {.name = "ruok",
     .print = [](const Facts&) { return std::string("imok"); },
     .standard = true,
     .not_serving = {}},
    {.name = "srst",
     .print = [](const Facts&) { return std::string("Server stats reset.\n"); },
     .action = Word::Action::kResetServerStats},
    {.name = "srvr", .print = [](const Facts& f) { return srvr(f, ""); }, .standard = true},
    {.name = "stat",
     .print = [](const Facts& f) { return srvr(f, "Clients:\n" + connections(f, ConnectionForm::kBrief)); },
     .needs = {.connections = true}},
    {.name = "stmk", .print = trace_mask, .action = Word::Action::kSetTraceMask, .not_serving = {}},
    {.name = "wchc", .print = watches_by_session, .needs = {.watches = true}},
    {.name = "wchp", .print = watches_by_path, .needs = {.watches = true}},
    {.name = "wchs", .print = watch_summary, .needs = {.watch_counts = true}, .standard = true},
    // IAC IP IAC DM: telnet sends it on close. As a frame length it would be negative.
    {.name = "telnet close",
     .print = [](const Facts&) { return std::string(); },
     .not_serving = {},
     .bytes = "\xff\xf4\xff\xfd"},
};

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

std::span<const Word> four_letter_words() { return kWords; }

}  // namespace drover::server
