// SPDX-License-Identifier: Apache-2.0
#include "server/word_facts.h"

#include <dirent.h>
#include <pwd.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "drover/version.h"
#include "server/metrics.h"

namespace drover::server {
namespace {

std::int64_t directory_bytes(const std::string& directory) {
  std::int64_t bytes = 0;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(directory + "/version-2", ignored)) {
    const auto size = entry.file_size(ignored);
    if (!ignored) bytes += static_cast<std::int64_t>(size);
  }
  return bytes;
}

std::int64_t open_descriptors() {
  std::int64_t count = 0;
  if (DIR* d = opendir("/proc/self/fd")) {
    while (readdir(d)) ++count;
    closedir(d);
  }
  return std::max<std::int64_t>(0, count - 3);  // ".", ".." and the directory itself
}

std::string absolute(const std::string& path) {
  std::error_code ignored;
  const auto full = std::filesystem::absolute(path, ignored);
  return full.lexically_normal().string();
}

ConfFacts conf_of(const FactSources& s) {
  ConfFacts f;
  f.client_port = s.client_port;
  f.secure_client_port = s.secure_port;
  f.data_dir = absolute(s.config.data_dir + "/version-2");
  f.data_log_dir = absolute(s.config.data_log_dir + "/version-2");
  f.tick_time_ms = s.config.tick_time_ms;
  f.max_client_cnxns = s.config.limits.connections_per_ip;
  f.min_session_timeout_ms = s.config.min_session_timeout_ms;
  f.max_session_timeout_ms = s.config.max_session_timeout_ms;
  f.listen_backlog = s.config.listen_backlog;
  f.server_id = s.member ? *s.config.ensemble.my_id : ServerId{0};
  if (s.member) f.quorum = quorum_of(s.config.ensemble, s.member->peer().memberships());
  if (s.replica.service() == replica::Service::kReadOnly) f.quorum->membership.clear();
  return f;
}

// The keys that tools look for. There is no JVM, and its keys say so.
std::vector<EnvironmentEntry> environment() {
  utsname system{};
  uname(&system);
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  const passwd* user = getpwuid(getuid());
  std::error_code ignored;
  const std::string memory =
      std::to_string(static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE) >> 20) + "MB";
  return {{"zookeeper.version", std::string(kFullVersion)},
          {"host.name", host},
          {"java.version", "none"},
          {"java.vendor", "none"},
          {"java.home", ""},
          {"java.class.path", ""},
          {"java.library.path", ""},
          {"java.io.tmpdir", "/tmp"},
          {"java.compiler", "<NA>"},
          {"os.name", system.sysname},
          {"os.arch", std::string_view(system.machine) == "x86_64" ? "amd64" : system.machine},
          {"os.version", system.release},
          {"user.name", user ? user->pw_name : ""},
          {"user.home", user ? user->pw_dir : ""},
          {"user.dir", std::filesystem::current_path(ignored).string()},
          {"os.memory.free", memory},
          {"os.memory.max", memory},
          {"os.memory.total", memory}};
}

std::vector<ConnectionFacts> connections_of(const FactSources& s) {
  std::vector<ConnectionFacts> out;
  // The connection that sent the word is listed too.
  if (!s.asking.empty()) {
    ConnectionFacts asking;
    asking.remote = s.asking;
    asking.interest_ops = 0;
    asking.received = 1;
    out.push_back(asking);
  }
  const auto wall_of = [&](Instant t) { return WallTime{s.wall.ms - (s.now - t)}; };
  for (const replica::Front* front : s.fronts) {
    front->for_each_connection([&](const replica::Front::ConnFacts& c) {
      ConnectionFacts f;
      f.remote = c.remote;
      f.interest_ops = c.reading ? 1 : 0;
      f.queued = static_cast<std::int64_t>(c.queued);
      f.received = static_cast<std::int64_t>(c.received);
      f.sent = static_cast<std::int64_t>(c.sent);
      f.secure = c.secure;
      f.session = c.session;
      f.last_operation = c.sent > 0 ? std::string(wire::short_name_of(c.last_op)) : "NA";
      f.established = wall_of(c.opened);
      f.timeout_ms = c.timeout_ms;
      f.last_cxid = c.last_xid;
      f.last_zxid = c.last_zxid;
      f.last_response_ms = c.last_reply.ms;
      f.last_latency_ms = c.last_latency_ms;
      f.latency_ms = {c.latency_count, c.latency_sum_ms, c.min_latency_ms, c.max_latency_ms};
      out.push_back(std::move(f));
    });
  }
  return out;
}

// As the session tracker of the role shows them: a learner expires only its local sessions.
void add_tracked_sessions(const FactSources& s, Facts& facts) {
  using replica::Service;
  const Service service = s.replica.service();
  std::vector<SessionBucket> local;
  for (const auto& [deadline, sessions] : s.replica.expiry().by_deadline()) {
    const WallTime at{s.wall.ms + (deadline - s.now.ms)};
    SessionBucket mine{at, {}};
    SessionBucket global{at, {}};
    for (const SessionId session : sessions)
      (s.replica.is_local(session) ? mine : global).sessions.push_back(session);
    if (!mine.sessions.empty()) local.push_back(std::move(mine));
    if (!global.sessions.empty()) facts.session_buckets.push_back(std::move(global));
  }
  const bool has_local =
      (s.member && s.config.ensemble.local_sessions_enabled) || service == Service::kReadOnly;
  if (has_local) facts.local_session_buckets = std::move(local);
  if (service != Service::kLearning && service != Service::kReadOnly) return;
  facts.global_sessions.emplace();
  for (const auto& [session, timeout_ms] : s.machine.sessions)
    facts.global_sessions->push_back({session, timeout_ms});
  std::ranges::sort(*facts.global_sessions, {}, &GlobalSession::session);
}

void add_sessions(const FactSources& s, Facts& facts) {
  add_tracked_sessions(s, facts);
  ConnectionBucket connected{WallTime{s.wall.ms}, {}};
  for (const ConnectionFacts& c : connections_of(s)) connected.connections.push_back({c.remote, c.session});
  if (!connected.connections.empty()) facts.connection_buckets.push_back(std::move(connected));
}

ServerStatFacts server_stats(const FactSources& s) {
  const replica::FrontStats& total = s.front_stats;
  ServerStatFacts stats;
  stats.uptime_ms = s.now - s.started;
  stats.auth_failures = static_cast<std::int64_t>(total.auth_failures);
  stats.slow_fsyncs = static_cast<std::int64_t>(s.log.slow_syncs);
  if (total.response_bytes.count > 0) {
    stats.response_bytes_last = static_cast<std::int64_t>(total.last_response_bytes);
    stats.response_bytes_min = static_cast<std::int64_t>(total.response_bytes.min);
    stats.response_bytes_max = static_cast<std::int64_t>(total.response_bytes.max);
  }
  const bool wrote_one = s.snapshots.snapshots > 0;
  stats.snapshot_zxid = wrote_one ? s.snapshots.last_zxid : s.snapshot_at_start;
  stats.snapshot_time_s = wrote_one ? s.snapshots.last_time_ms / 1000 : s.snapshot_at_start_time_s;
  return stats;
}

}  // namespace

KernelFacts ask_kernel(const ServerConfig& config, const Needs& needs) {
  KernelFacts facts;
  if (needs.metrics) facts.open_descriptors = open_descriptors();
  if (needs.directory_sizes) {
    facts.data_dir_bytes = directory_bytes(config.data_dir);
    facts.log_dir_bytes = directory_bytes(config.data_log_dir);
  }
  if (needs.environment) facts.environment = environment();
  return facts;
}

Facts collect_facts(const FactSources& s, const Needs& needs) {
  Facts facts;
  facts.version = std::string(kFullVersion);
  facts.latency_ms = s.front_stats.latency_ms;
  facts.packets_received = static_cast<std::int64_t>(s.front_stats.received);
  facts.packets_sent = static_cast<std::int64_t>(s.front_stats.sent);
  facts.alive_connections = static_cast<std::int64_t>(s.connections);
  for (const replica::Front* front : s.fronts) {
    facts.outstanding_requests += static_cast<std::int64_t>(front->outstanding());
  }
  facts.last_zxid = s.machine.last_zxid;
  facts.node_count = static_cast<std::int64_t>(s.machine.tree.node_count());
  facts.trace_mask = s.trace_mask;
  facts.stats = server_stats(s);
  if (s.member) {
    add_role(*s.member, facts);
    facts.ensemble = ensemble_facts(*s.member, s.links, s.now, s.wall);
  }
  facts.conf = conf_of(s);
  facts.data_dir_bytes = s.kernel.data_dir_bytes;
  facts.log_dir_bytes = s.kernel.log_dir_bytes;
  facts.environment = s.kernel.environment;
  if (needs.connections) facts.connections = connections_of(s);
  if (needs.sessions_and_ephemerals) add_sessions(s, facts);
  if (needs.digests) {
    for (const auto& [zxid, digest] : s.machine.digest_log) {
      facts.digests.push_back({zxid, static_cast<std::int64_t>(digest)});
    }
  }
  if (needs.metrics) facts.metrics = collect_metrics(s, facts);
  return facts;
}

}  // namespace drover::server
