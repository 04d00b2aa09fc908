// SPDX-License-Identifier: Apache-2.0
//
// Keys and their order are those of Java ZooKeeper; tests/http compares both.
#include "http/admin_render.h"
#include "zab/membership_text.h"

#include <fmt/format.h>

#include <map>
#include <variant>

namespace drover::server {
namespace {

std::string hex(Zxid zxid) { return fmt::format("{:x}", static_cast<std::uint64_t>(raw(zxid))); }

template <class Id>
std::string decimal_key(Id id) {
  return std::to_string(raw(id));
}

enum class ConnectionForm { kBrief, kFull };

void print_connection(const ConnectionFacts& c, ConnectionForm form, PrettyJson& json) {
  json.begin_object();
  json.field("remote_socket_address", c.remote).field("interest_ops", c.interest_ops);
  json.field("outstanding_requests", c.queued).field("packets_received", c.received);
  json.field("packets_sent", c.sent);
  if (form == ConnectionForm::kFull) {
    const std::uint64_t average = c.latency_ms.count == 0 ? 0 : c.latency_ms.sum / c.latency_ms.count;
    json.field("session_id", raw(c.session)).field("last_operation", c.last_operation);
    json.field("established", c.established.ms).field("session_timeout", c.timeout_ms);
    json.field("last_cxid", c.last_cxid).field("last_zxid", raw(c.last_zxid));
    json.field("last_response_time", c.last_response_ms).field("last_latency", c.last_latency_ms);
    json.field("min_latency", c.latency_ms.min).field("avg_latency", average);
    json.field("max_latency", c.latency_ms.max);
  }
  json.end_object();
}

void print_connection_lists(const Facts& facts, ConnectionForm form, PrettyJson& json) {
  for (const bool secure : {false, true}) {
    json.key(secure ? "secure_connections" : "connections").begin_array();
    for (const ConnectionFacts& c : facts.connections) {
      if (c.secure == secure) print_connection(c, form, json);
    }
    json.end_array();
  }
}

void print_sizes(std::string_view key, std::int64_t last, std::int64_t min, std::int64_t max,
                 PrettyJson& json) {
  json.key(key).begin_object().field("last_buffer_size", last).field("min_buffer_size", min);
  json.field("max_buffer_size", max).end_object();
}

// "host:port" as Java's JSON library prints an address.
std::string address_text(const std::string& host, int port) {
  return host.find(':') == std::string::npos ? fmt::format("{}:{}", host, port)
                                             : fmt::format("[{}]:{}", host, port);
}

using Port = std::uint16_t PeerAddress::*;

void print_addresses(std::string_view key, const PeerSpec& server, Port port, PrettyJson& json) {
  json.key(key).begin_array();
  for (const PeerAddress& address : server.addresses) json.value(address_text(address.host, address.*port));
  json.end_array();
}

// Java's JSON library prints a set of addresses with the results of all its getters. Here no address is
// pinged for it.
void print_address_set(std::string_view key, const PeerSpec& server, Port port, PrettyJson& json) {
  const PeerAddress& first = server.addresses.front();
  const std::string one = address_text(first.host, first.*port);
  json.key(key).begin_object().field("empty", false);
  print_addresses("all_addresses", server, port, json);
  print_addresses("all_reachable_addresses", server, port, json);
  json.field("one", one).field("reachable_address", one).key("wildcard_addresses").begin_array();
  for (const PeerAddress& address : server.addresses) json.value(address_text("0.0.0.0", address.*port));
  json.end_array().key("all_ports").begin_array();
  for (const PeerAddress& address : server.addresses) json.value(int{address.*port});
  json.end_array().key("all_host_strings").begin_array();
  for (const PeerAddress& address : server.addresses) json.value(address.host);
  json.end_array();
  print_addresses("all_reachable_addresses_or_all", server, port, json);
  json.field("reachable_or_one", one).end_object();
}

// A server's client address from the configuration. For this server it is always known.
std::string client_address(const PeerSpec& server, const ServerConfig& config) {
  const bool me = server.id == config.ensemble.my_id;
  const std::optional<Endpoint>& client = me && !server.client ? config.client : server.client;
  return client ? to_text(*client) : "";
}

}  // namespace

void print_configuration(const CommandFacts& f, PrettyJson& json) {
  const ConfFacts c = f.facts.conf.value_or(ConfFacts{});
  json.field("client_port", c.client_port)
      .field("data_dir", c.data_dir)
      .field("data_log_dir", c.data_log_dir);
  json.field("tick_time", c.tick_time_ms).field("max_client_cnxns", c.max_client_cnxns);
  json.field("min_session_timeout", c.min_session_timeout_ms);
  json.field("max_session_timeout", c.max_session_timeout_ms);
  json.field("server_id", raw(c.server_id)).field("client_port_listen_backlog", c.listen_backlog);
}

void print_connections(const CommandFacts& f, PrettyJson& json) {
  print_connection_lists(f.facts, ConnectionForm::kFull, json);
}

void print_dirs(const CommandFacts& f, PrettyJson& json) {
  json.field("datadir_size", f.facts.data_dir_bytes).field("logdir_size", f.facts.log_dir_bytes);
}

void print_dump(const CommandFacts& f, PrettyJson& json) {
  json.key("expiry_time_to_session_ids").begin_object();
  for (const SessionBucket& bucket : f.facts.session_buckets) {
    json.key(std::to_string(bucket.expires.ms)).begin_array();
    for (const SessionId session : bucket.sessions) json.value(raw(session));
    json.end_array();
  }
  json.end_object().key("session_id_to_ephemeral_paths").begin_object();
  for (const SessionPaths& owner : f.facts.ephemerals) {
    json.key(decimal_key(owner.session)).begin_array();
    for (const std::string& path : owner.paths) json.value(path);
    json.end_array();
  }
  json.end_object();
}

void print_environment(const CommandFacts& f, PrettyJson& json) {
  for (const EnvironmentEntry& entry : f.facts.environment) json.field(entry.key, entry.value);
}

void print_trace_mask(const CommandFacts& f, PrettyJson& json) {
  json.field("tracemask", f.facts.trace_mask);
}

void print_digests(const CommandFacts& f, PrettyJson& json) {
  json.key("digests").begin_array();
  for (const DigestFacts& digest : f.facts.digests) {
    json.begin_object().field("zxid", raw(digest.zxid)).field("digest", digest.digest);
    json.field("digest_version", 2).end_object();
  }
  json.end_array();
}

void print_initial_configuration(const CommandFacts& f, PrettyJson& json) {
  json.field("initial_configuration", f.config.file_text);
}

void print_read_only(const CommandFacts& f, PrettyJson& json) {
  json.field("read_only", f.facts.mode == ServerMode::kReadOnly);
}

void print_last_snapshot(const CommandFacts& f, PrettyJson& json) {
  json.field("zxid", hex(f.facts.stats.snapshot_zxid)).field("timestamp", f.facts.stats.snapshot_time_s);
}

void print_leader(const CommandFacts& f, PrettyJson& json) {
  if (!f.facts.ensemble) return;  // answer_of() reports the error
  const EnsembleFacts& e = *f.facts.ensemble;
  json.field("is_leader", f.facts.mode == ServerMode::kLeader).field("leader_id", raw(e.leader));
  const auto& servers = f.members.servers();
  const auto leader = servers.find(e.leader);
  json.field("leader_ip", leader == servers.end() ? "" : leader->second.addresses.front().host);
}

void print_monitor(const CommandFacts& f, PrettyJson& json) {
  json.field("version", f.facts.version).field("server_state", name_of(f.facts.mode));
  if (!f.facts.peer_state.empty()) json.field("peer_state", f.facts.peer_state);
  for (const Metric& metric : f.facts.metrics) {
    for (const MetricLine& line : lines_of(metric)) {
      json.key(line.name);
      std::visit([&](const auto& value) { json.value(value); }, line.value);
    }
  }
}

void print_observers(const CommandFacts& f, PrettyJson& json) {
  const std::vector<EnsembleFacts::Observer> none;
  const auto& observers = f.facts.ensemble ? f.facts.ensemble->observers : none;
  json.field("synced_observers", static_cast<std::int64_t>(observers.size())).key("observers").begin_array();
  for (const EnsembleFacts::Observer& observer : observers) {
    json.begin_object().field("remote_socket_address", observer.remote).field("sid", raw(observer.server));
    json.field("established", observer.established.ms);
    // Here the queue for the network is one block of bytes.
    json.field("queued_packets", std::int64_t{observer.queued_bytes > 0});
    json.field("queued_packets_size", observer.queued_bytes);
    json.field("packets_received", observer.packets_received).field("packets_sent", observer.packets_sent);
    json.field("requests", observer.requests).field("last_zxid", raw(observer.last_zxid));
    json.end_object();
  }
  json.end_array();
}

void print_server_stats(const CommandFacts& f, PrettyJson& json) {
  const Facts& facts = f.facts;
  json.field("version", facts.version).field("read_only", facts.mode == ServerMode::kReadOnly);
  json.key("server_stats").begin_object();
  json.field("packets_sent", facts.packets_sent).field("packets_received", facts.packets_received);
  json.field("fsync_threshold_exceed_count", facts.stats.slow_fsyncs);
  print_sizes("client_response_stats", facts.stats.response_bytes_last, facts.stats.response_bytes_min,
              facts.stats.response_bytes_max, json);
  json.field("data_dir_size", facts.data_dir_bytes).field("log_dir_size", facts.log_dir_bytes);
  json.field("provider_null", false).field("server_state", name_of(facts.mode));
  json.field("last_processed_zxid", raw(facts.last_zxid));
  json.field("outstanding_requests", facts.outstanding_requests);
  json.field("avg_latency", average_of(facts.latency_ms)).field("max_latency", facts.latency_ms.max);
  json.field("min_latency", facts.latency_ms.min);
  json.field("num_alive_client_connections", facts.alive_connections);
  json.field("uptime", facts.stats.uptime_ms).field("auth_failed_count", facts.stats.auth_failures);
  // Spelled as Java's JSON library splits the words. Plain connections to a mixed port are not counted here.
  json.field("non_mtlsremote_conn_count", 0).field("non_mtlslocal_conn_count", 0);
  json.end_object();
  print_sizes("client_response", facts.stats.response_bytes_last, facts.stats.response_bytes_min,
              facts.stats.response_bytes_max, json);
  if (facts.mode == ServerMode::kLeader) {
    print_sizes("proposal_stats", facts.proposal_bytes.last, facts.proposal_bytes.min,
                facts.proposal_bytes.max, json);
  }
  json.field("node_count", facts.node_count);
}

void print_stats(const CommandFacts& f, PrettyJson& json) {
  print_server_stats(f, json);
  print_connection_lists(f.facts, ConnectionForm::kBrief, json);
}

// Java's properties that have a meaning here. Java shows all of them, including the passwords of its key
// stores.
void print_system_properties(const CommandFacts& f, PrettyJson& json) {
  std::map<std::string, std::string> sorted;
  for (const EnvironmentEntry& entry : f.facts.environment) {
    if (entry.key.starts_with("os.") || entry.key.starts_with("user.") || entry.key == "java.io.tmpdir")
      sorted.emplace(entry.key, entry.value);
  }
  for (const auto& [key, value] : sorted) json.field(key, value);
}

void print_voting_view(const CommandFacts& f, PrettyJson& json) {
  json.key("current_config").begin_object();
  if (f.facts.ensemble) {
    for (const auto& [id, server] : f.members.servers()) {
      if (server.type != PeerType::kParticipant) continue;
      json.key(decimal_key(id)).begin_object();
      print_addresses("server_addresses", server, &PeerAddress::quorum_port, json);
      print_addresses("election_addresses", server, &PeerAddress::election_port, json);
      json.field("client_address", client_address(server, f.config)).field("learner_type", "participant");
      json.end_object();
    }
  }
  json.end_object();
}

void print_watch_summary(const CommandFacts& f, PrettyJson& json) {
  json.field("num_connections", f.facts.watching_connections).field("num_paths", f.facts.watched_paths);
  json.field("num_total_watches", f.facts.total_watches);
}

void print_watches(const CommandFacts& f, PrettyJson& json) {
  json.key("session_id_to_watched_paths").begin_object();
  for (const SessionPaths& watcher : f.facts.watches_by_session) {
    json.key(decimal_key(watcher.session)).begin_array();
    for (const std::string& path : watcher.paths) json.value(path);
    json.end_array();
  }
  json.end_object();
}

void print_watches_by_path(const CommandFacts& f, PrettyJson& json) {
  json.key("path_to_session_ids").begin_object();
  for (const PathSessions& watched : f.facts.watches_by_path) {
    json.key(watched.path).begin_array();
    for (const SessionId session : watched.sessions) json.value(raw(session));
    json.end_array();
  }
  json.end_object();
}

void print_zab_state(const CommandFacts& f, PrettyJson& json) {
  if (!f.facts.ensemble) {
    json.field("voting", false).field("zabstate", "");
    return;
  }
  const EnsembleConfig& e = f.config.ensemble;
  // A server that was removed shows what it was.
  const Membership& members = f.members.is_member(*e.my_id) ? f.members : e.members;
  const PeerSpec& self = members.servers().at(*e.my_id);
  json.field("myid", raw(*e.my_id)).field("is_leader", f.facts.mode == ServerMode::kLeader);
  print_address_set("quorum_address", self, &PeerAddress::quorum_port, json);
  print_address_set("election_address", self, &PeerAddress::election_port, json);
  json.field("client_address", client_address(self, f.config));
  json.field("voting", f.facts.ensemble->votes);
  json.field("last_zxid", "0x" + hex(f.facts.last_zxid));
  json.field("zab_epoch", std::int64_t{epoch_of(f.facts.last_zxid)});
  json.field("zab_counter", std::int64_t{counter_of(f.facts.last_zxid)});
  json.field("zabstate", f.facts.ensemble->zab_state);
}

}  // namespace drover::server
