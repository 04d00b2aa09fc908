// SPDX-License-Identifier: Apache-2.0
//
// The configuration of `drover server`: zoo.cfg, -D properties and the short command line forms, in one
// struct.
//
// ServerConfig holds plain values with defaults and does no I/O. load_config() fills it. Only load_config()
// knows the spelling of the keys; docs/configuration.md describes every key.
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/client_limits.h"
#include "base/result.h"
#include "base/secret.h"
#include "base/throttles.h"
#include "config/ensemble_config.h"
#include "config/http_settings.h"
#include "config/sasl_settings.h"
#include "config/tls_settings.h"
#include "monitor/four_letter_words.h"

namespace drover::server {

// Settings of the transaction log and the snapshots.
struct StorageSettings {
  int snap_count = 100'000;                     // transactions between two snapshots
  std::int64_t snap_size_limit_kb = 4'194'304;  // or this much log; 0 or less: no limit
  std::int64_t prealloc_kb = 65'536;
  std::int64_t txn_log_size_limit_kb = -1;  // start a new log file after this size; negative: never
  bool force_sync = true;
  int fsync_warning_threshold_ms = 1000;
  enum class Compression { kNone, kGzip, kSnappy };
  Compression snapshot_compression = Compression::kNone;
  bool snapshot_trust_empty = false;
  bool data_dir_autocreate = true;
  // Is an empty directory a new database? Unset: yes for a standalone server; in an ensemble only if all
  // other servers are empty too.
  std::optional<bool> db_autocreate;
  bool digest_enabled = true;
  bool serialize_last_processed_zxid = true;
  bool close_session_txn = true;

  int purge_snap_retain_count = 3;
  std::int64_t purge_interval_ms = 3'600'000;  // 0: never
  std::int64_t purge_trigger_mb = 4096;        // purge early when the files exceed this size; 0: off
};

// The limit is the process's limit of open files, minus the files that the server itself needs.
inline constexpr int kConnectionsByDescriptors = -1;

// Limits on the resources that one client, or all clients together, can use. 0 means no limit, except where
// noted.
struct Limits {
  int jute_max_buffer = client_limits::kFrameBytes;  // bytes of a request frame; never 0
  int jute_extra_size = 0xfffff;                     // extra bytes of a transaction in the log; never 0
  int connections_per_ip = 60;
  int connections = kConnectionsByDescriptors;
  int sessions_per_second = 10'000;  // a token bucket of one second; each new session is a write
  int sessions_per_second_per_address = 1000;
  // For the whole server; above it busy connections are not read. Each connection has its own limit in bytes,
  // so this limits only the number of requests. Java's 1000 would stop the pipelines of two dozen
  // asynchronous clients while the log could take many more requests in one sync.
  int outstanding_requests = client_limits::kOutstandingTotal;
  int outstanding_per_connection = client_limits::kOutstanding;  // above it this connection is not read
  std::int64_t output_high_water_bytes =
      client_limits::kOutputHighWaterBytes;  // above it requests are not read; never 0
  std::int64_t output_max_bytes =
      client_limits::kOutputBytes;  // above it close, if more than one reply or event waits
  std::int64_t output_total_bytes = client_limits::kOutputBytesTotal;  // close slow readers; never 0
  int watches = client_limits::kWatchesTotal;
  int watches_per_session = client_limits::kWatches;
  int multi_operations = client_limits::kMultiOperations;
  int path_bytes = client_limits::kPathBytes;
  int acl_entries = 1024;
  int auth_ids_per_connection = client_limits::kIdentities;
  ConnectionThrottleLimits connection_throttle;
  RequestThrottleLimits request_throttle;
  int large_request_threshold = -1;         // bytes from which a request counts as large; -1: none does
  int large_request_max_bytes = 100 << 20;  // of all large requests in progress
};

// Timeouts of a connection without a session. A TLS handshake has its own timeout (TlsSettings). The client
// chooses the timeout of a session.
struct Deadlines {
  int first_frame_ms = 10'000;
  int started_frame_ms = 30'000;
};

// Switches of behaviour that clients can see.
struct Features {
  bool read_only_mode = false;  // serve reads in an ensemble without a quorum
  bool extended_types = false;  // TTL nodes
  bool emulate_353_ttl = false;
  bool enforce_quota = false;
  int container_check_interval_ms = 60'000;
  int container_max_per_minute = 10'000;
  std::int64_t container_max_never_used_ms = 0;  // 0: keep containers that were never used
  bool client_tcp_keep_alive = false;
};

struct AuthSettings {
  bool skip_acl = false;
  bool digest_enabled = true;
  std::string digest_algorithm = "SHA1";
  Secret super_digest;  // "super:<base64>"; empty: no super user
  std::string x509_super_user;
  bool eager_acl = false;          // members refuse writes by their own state
  bool use_forwarded_for = false;  // X-Forwarded-For names the client of an HTTP request
  bool enforce_auth = false;
  std::vector<std::string> enforce_schemes;
  bool ensemble_provider = false;
  std::vector<std::string> ensemble_names;
};

struct LogSettings {
  std::string directory;  // empty: standard error
  std::string file = "drover.log";
  std::string level = "info";  // trace debug info warn error off
  std::int64_t file_bytes_max = 256 << 20;
  int files_max = 20;

  // The audit log. Its file has the same limits.
  bool audit = false;
  std::string audit_file = "zookeeper_audit.log";
  std::string audit_level = "info";  // error: only failures
};

struct ServerConfig {
  std::string data_dir = "drover-data";
  std::string data_log_dir = "drover-data";  // never empty
  std::optional<Endpoint> client = Endpoint{"127.0.0.1", 2181};
  std::optional<Endpoint> secure_client;
  bool client_port_unification = false;  // TLS and plain on the client port
  int listen_backlog = -1;               // 0 or less: the kernel's default

  int tick_time_ms = 3000;
  int min_session_timeout_ms = 6000;
  int max_session_timeout_ms = 60'000;
  int io_threads = 0;  // 0: chosen by the number of CPUs

  StorageSettings storage;
  Limits limits;
  Deadlines deadlines;
  Features features;
  AuthSettings auth;
  SaslSettings sasl;
  TlsSettings tls;                                 // clients
  TlsSettings quorum_tls = quorum_tls_defaults();  // other servers
  Whitelist words = Whitelist::standard();
  LogSettings log;
  AdminSettings admin;
  MetricsSettings metrics;
  EnsembleConfig ensemble;
  // Absolute and without symbolic links: a reconfiguration rewrites this file. Empty without a file.
  std::string file_path;
  std::string file_text;  // the keys of the file, one `key=value` on each line, without secrets
};

// One line for the operator; never contains a secret. The process exits with code 2.
struct ConfigError {
  std::string message;
};

struct LoadedConfig {
  ServerConfig config;
  std::string file;                   // as named on the command line; empty without one
  std::vector<std::string> warnings;  // one line each, in the order of the sources
};

// Reads a file. Fails if the file is larger than any real configuration.
using FileReader = std::function<IoResult<std::string>(const std::string& path)>;
IoResult<std::string> read_config_file(const std::string& path);

// `arguments` are those after `drover server`:
//
//   (none)                                  standalone on 127.0.0.1:2181, data in ./drover-data
//   zoo.cfg                                 as ZooKeeper reads it
//   PORT DATADIR [TICKTIME [MAXCNXNS]]      ZooKeeper's short form
//
// Each form takes any number of -Dkey=value (also -Dzookeeper.key=value), which override the file, and
// --jvm-flags=STRING for a whole JVMFLAGS variable.
std::expected<LoadedConfig, ConfigError> load_config(std::span<const std::string> arguments,
                                                     const FileReader& read = read_config_file);

// The -D items of a JVMFLAGS string, split as a shell splits it (quotes and backslashes). Other items are for
// a JVM and are dropped.
std::vector<std::string> parse_jvm_flags(std::string_view flags);

}  // namespace drover::server
