// SPDX-License-Identifier: Apache-2.0
//
// The four-letter words of ZooKeeper's client port: parsing, permission and output.
//
// Text only: the server collects Facts (Word::needs says which), and render() writes exactly the lines that
// Java ZooKeeper writes, because every monitoring tool of the last decade parses them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "monitor/metrics.h"

namespace drover::server {

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
  Extremes latency_ms;
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

// Everything that the words print. Only the parts that Word::needs names must be filled.
struct Facts {
  std::string version;  // "3.9.5-drover-0.1.0, built on …"
  bool serving = true;  // false: most words answer that this server does not serve
  ServerMode mode = ServerMode::kStandalone;
  std::string peer_state;  // ensemble only: "leading - broadcast", …

  // Gauges: cheap, always filled.
  Extremes latency_ms;
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

// A row of the table of words in four_letter_render.cc.
struct Word {
  // Actions of the server before it answers.
  enum class Action : std::uint8_t { kNone, kSetTraceMask, kResetServerStats, kResetConnectionStats };
  static constexpr std::string_view kNotServing =
      "This ZooKeeper instance is not currently serving requests\n";

  std::string_view name;
  std::string (*print)(const Facts&);
  Needs needs{};
  Action action = Action::kNone;
  // Allowed by default: output is bounded and without client addresses, session ids and znode paths.
  bool standard = false;
  // The answer while the server does not serve, as in Java. Nothing: the word answers as always.
  std::optional<std::string_view> not_serving = kNotServing;
  std::string_view bytes = name;  // as the client sends it
};
std::span<const Word> four_letter_words();

// Null: there is no such word.
const Word* word_named(std::string_view name);
// Parses the first four bytes of a new connection. Null if there are fewer bytes or no known word.
const Word* recognise(std::string_view first_bytes);

// `stmk` is followed by eight bytes: the mask, big-endian. Nothing until all of them have arrived.
inline constexpr std::size_t kTraceMaskBytes = 8;
std::optional<std::int64_t> trace_mask_of(std::string_view bytes_behind_word);

// The allowed words. `srvr` is always allowed: zkServer.sh status needs it, as in Java.
class Whitelist {
 public:
  static Whitelist standard();
  // A comma-separated list or `*`, as in 4lw.commands.whitelist. Unknown names are added to `unknown`.
  static Whitelist parse(std::string_view list, std::vector<std::string>* unknown = nullptr);

  // Returns false if there is no such word.
  bool allow(std::string_view name);
  bool allows(std::string_view name) const { return names_.contains(name); }
  friend bool operator==(const Whitelist&, const Whitelist&) = default;

 private:
  std::set<std::string_view> names_;  // of the table
};

// The complete answer; the connection is closed after it. The caller carries out the action first.
std::string render(const Word& word, const Facts& facts);
// The answer to a word that the whitelist does not allow.
std::string refusal(const Word& word);

}  // namespace drover::server
