// SPDX-License-Identifier: Apache-2.0
//
// The four-letter words of ZooKeeper's client port: parsing, permission and output.
//
// Text only: the server collects Facts (needs() says which), and render() writes exactly the lines that Java
// ZooKeeper writes, because every monitoring tool of the last decade parses them.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "base/time.h"

namespace drover::server {

enum class Word : std::uint8_t {
  kConf,
  kCons,
  kCrst,
  kDirs,
  kDump,
  kEnvi,
  kGtmk,
  kHash,
  kIsro,
  kMntr,
  kRuok,
  kSrst,
  kSrvr,
  kStat,
  kStmk,
  kWchc,
  kWchp,
  kWchs,
  kTelnetClose,  // telnet sends it when it closes: no answer
};
inline constexpr std::size_t kWordCount = 19;

// Parses the first four bytes of a new connection. Nothing if there are fewer bytes or no known word.
std::optional<Word> recognise(std::string_view first_bytes);
// "conf", …, "telnet close".
std::string_view name_of(Word word);

// `stmk` is followed by eight bytes: the mask, big-endian. Nothing until all of them have arrived.
inline constexpr std::size_t kTraceMaskBytes = 8;
std::optional<std::int64_t> trace_mask_of(std::string_view bytes_behind_word);

// The allowed words. `srvr` is always allowed: zkServer.sh status needs it, as in Java.
class Whitelist {
 public:
  // The default: words with bounded output and without client addresses, session ids and znode paths.
  static Whitelist standard();
  // A comma-separated list or `*`, as in 4lw.commands.whitelist. Unknown names are added to `unknown`.
  static Whitelist parse(std::string_view list, std::vector<std::string>* unknown = nullptr);

  void allow(Word word) { words_.set(static_cast<std::size_t>(word)); }
  bool allows(Word word) const { return words_.test(static_cast<std::size_t>(word)); }
  friend bool operator==(const Whitelist&, const Whitelist&) = default;

 private:
  std::bitset<kWordCount> words_;
};

// Minimum, maximum and mean of whole numbers since the last reset, as Java's AvgMinMaxCounter shows them.
struct Summary {
  std::int64_t count = 0;
  std::int64_t sum = 0;
  std::int64_t min = 0;
  std::int64_t max = 0;

  // Rounded to four decimals. 0 if nothing was counted.
  double average() const;
};

struct Percentiles {
  Summary summary;
  std::int64_t p50 = 0;
  std::int64_t p95 = 0;
  std::int64_t p99 = 0;
  std::int64_t p999 = 0;
};

// A summary without percentiles in `mntr` and with the median in Prometheus: Java's BASIC ones.
struct Median {
  Summary summary;
  std::int64_t p50 = 0;
};

// A measured value under one of Java's names.
struct Metric {
  enum class Kind : std::uint8_t { kGauge, kCounter };  // for numbers: a counter only grows
  std::string name;
  std::variant<std::int64_t, double, std::string, Summary, Median, Percentiles> value;
  Kind kind = Kind::kGauge;
};

// One line of `mntr`: `zk_<name>\t<value>`. A summary has several: avg_ min_ max_ cnt_ sum_ and, with
// percentiles, p50_ p95_ p99_ p999_.
struct MetricLine {
  std::string name;
  std::variant<std::int64_t, double, std::string> value;
};
std::vector<MetricLine> lines_of(const Metric& metric);

struct ConnectionFacts {
  std::string remote;    // "127.0.0.1:60286", "[0:0:0:0:0:0:0:1]:60286"
  int interest_ops = 1;  // 1 reading, 4 writing, 5 both, 0 neither
  std::int64_t queued = 0;
  std::int64_t received = 0;
  std::int64_t sent = 0;
  bool secure = false;
  SessionId session{0};  // 0: none yet; the fields below are then not shown
  std::string last_operation = "NA";
  WallTime established;
  int timeout_ms = 0;
  std::int64_t last_cxid = -1;  // negative: not shown
  Zxid last_zxid{-1};
  std::int64_t last_response_ms = 0;
  std::int64_t last_latency_ms = 0;
  Summary latency_ms;
};

struct SessionBucket {
  WallTime expires;
  std::vector<SessionId> sessions;
};

struct GlobalSession {
  SessionId session;
  int timeout_ms = 0;
};

struct ConnectionBucket {
  struct Entry {
    std::string remote;
    SessionId session;
  };
  WallTime expires;
  std::vector<Entry> connections;
};

struct SessionPaths {
  SessionId session;
  std::vector<std::string> paths;
};

struct PathSessions {
  std::string path;
  std::vector<SessionId> sessions;
};

struct DigestFacts {
  Zxid zxid;
  std::int64_t digest = 0;
};

struct EnvironmentEntry {
  std::string key;
  std::string value;
};

enum class ServerMode { kStandalone, kLeader, kFollower, kObserver, kReadOnly };
std::string_view name_of(ServerMode mode);

// The output of `conf`: the effective settings.
struct ConfFacts {
  int client_port = -1;
  int secure_client_port = -1;
  std::string data_dir;  // absolute, with version-2
  std::string data_log_dir;
  int tick_time_ms = 0;
  int max_client_cnxns = 0;
  int min_session_timeout_ms = 0;
  int max_session_timeout_ms = 0;
  int listen_backlog = -1;
  ServerId server_id{0};

  struct Quorum {
    int init_limit_ticks = 0;
    int sync_limit_ticks = 0;
    int election_alg = 3;
    std::string election_ports;  // joined by |
    std::string quorum_ports;
    int peer_type = 0;       // 0 participant, 1 observer
    std::string membership;  // canonical text; empty without a leader (then not shown)
  };
  std::optional<Quorum> quorum;
};

// Sizes of proposals in bytes; -1: none yet.
struct ProposalSizes {
  std::int64_t last = -1;
  std::int64_t min = -1;
  std::int64_t max = -1;
};

// Facts about a member of an ensemble that only the HTTP port shows.
struct EnsembleFacts {
  struct Observer {
    ServerId server;
    Zxid last_zxid;      // last one sent to it
    std::string remote;  // "/127.0.0.1:54321"
    WallTime established;
    std::int64_t queued_bytes = 0;
    std::int64_t packets_received = 0;
    std::int64_t packets_sent = 0;
    std::int64_t requests = 0;
  };
  ServerId leader{-1};    // -1: unknown
  std::string zab_state;  // "broadcast", …
  bool votes = false;
  std::vector<Observer> observers;  // synced with this leader
};

// Values that srst does not reset, or that only the HTTP port shows.
struct ServerStatFacts {
  std::int64_t uptime_ms = 0;
  std::int64_t auth_failures = 0;
  std::int64_t slow_fsyncs = 0;
  std::int64_t response_bytes_last = -1;  // -1: none yet
  std::int64_t response_bytes_min = -1;
  std::int64_t response_bytes_max = -1;
  Zxid snapshot_zxid{-1};  // of the newest snapshot
  std::int64_t snapshot_time_s = -1;
};

// Everything that the words print. Only the parts that needs() names must be filled.
struct Facts {
  std::string version;  // "3.9.5-drover-0.1.0, built on …"
  bool serving = true;  // false: most words answer that this server does not serve
  ServerMode mode = ServerMode::kStandalone;
  std::string peer_state;  // ensemble only: "leading - broadcast", …

  // Gauges: cheap, always filled.
  Summary latency_ms;
  std::int64_t packets_received = 0;
  std::int64_t packets_sent = 0;
  std::int64_t alive_connections = 0;
  std::int64_t outstanding_requests = 0;
  Zxid last_zxid{0};
  std::int64_t node_count = 0;
  std::int64_t trace_mask = 306;  // ZooTrace's default; nothing here traces by mask
  ProposalSizes proposal_bytes;   // shown by a leader
  ServerStatFacts stats;
  std::optional<EnsembleFacts> ensemble;

  std::optional<ConfFacts> conf;
  std::int64_t data_dir_bytes = 0;
  std::int64_t log_dir_bytes = 0;
  std::vector<EnvironmentEntry> environment;
  std::vector<Metric> metrics;  // printed after zk_server_state, in this order
  std::vector<ConnectionFacts> connections;
  std::vector<SessionBucket> session_buckets;                       // if this server expires global sessions
  std::optional<std::vector<SessionBucket>> local_session_buckets;  // if this server may have local ones
  std::optional<std::vector<GlobalSession>> global_sessions;        // on a learner, instead of the buckets
  std::vector<SessionPaths> ephemerals;
  std::vector<ConnectionBucket> connection_buckets;
  std::vector<DigestFacts> digests;
  std::int64_t watching_connections = 0;  // data watches, as in Java
  std::int64_t watched_paths = 0;
  std::int64_t total_watches = 0;
  std::vector<SessionPaths> watches_by_session;
  std::vector<PathSessions> watches_by_path;
};

// Which parts of Facts a word prints, so that `ruok` does not cost a walk over all sessions.
struct Needs {
  bool directory_sizes = false;
  bool environment = false;
  bool metrics = false;
  bool connections = false;
  bool sessions_and_ephemerals = false;
  bool digests = false;
  bool watch_counts = false;
  bool watches = false;
};
Needs needs(Word word);

// The complete answer; the connection is closed after it. crst, srst and stmk only print what was done: the
// caller does it.
std::string render(Word word, const Facts& facts);
// The answer to a word that the whitelist does not allow.
std::string refusal(Word word);

}  // namespace drover::server
