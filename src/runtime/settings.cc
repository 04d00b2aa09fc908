// SPDX-License-Identifier: Apache-2.0
#include "runtime/settings.h"

#include <algorithm>

namespace drover::server {
namespace {

std::size_t positive_or(std::int64_t value, std::size_t otherwise) {
  return value > 0 ? static_cast<std::size_t>(value) : otherwise;
}
constexpr std::size_t kNoLimit = static_cast<std::size_t>(-1) / 2;

// The top byte is the server that created the session, the next five bytes are the time. So ids of different
// servers and of different starts do not collide. A standalone server has number 1, as in Java.
SessionId first_session(WallTime now, std::int64_t server) {
  const auto ms = static_cast<std::uint64_t>(now.ms);
  const std::uint64_t id = ((ms << 24) >> 8) | (static_cast<std::uint64_t>(server) << 56);
  return SessionId{static_cast<std::int64_t>(id)};
}

}  // namespace

std::size_t txn_bytes_max(const ServerConfig& config) {
  return wire::txn_bytes_max(static_cast<std::size_t>(config.limits.jute_max_buffer),
                             static_cast<std::size_t>(config.limits.jute_extra_size));
}

state::Options state_options(const ServerConfig& config, const HashKey& hash_key) {
  state::Options o;
  o.hash_key = hash_key;
  o.extended_types = config.features.extended_types;
  o.emulate_353_ttl = config.features.emulate_353_ttl;
  o.enforce_quota = config.features.enforce_quota;
  o.digest_enabled = config.storage.digest_enabled;
  o.close_session_paths = config.storage.close_session_txn;
  o.reconfig_enabled = config.ensemble.reconfig_enabled;
  o.skip_acl = config.auth.skip_acl;
  o.digest_scheme = config.auth.digest_enabled;
  o.digest_algorithm = config.auth.digest_algorithm;
  o.ensemble_scheme = config.auth.ensemble_provider;
  o.ensemble_names = config.auth.ensemble_names;
  o.x509_scheme = config.secure_client.has_value() || config.client_port_unification;
  o.sasl_scheme = config.sasl.provider;
  o.any_sasl_user = config.sasl.any_user;
  o.sasl_super_users = config.sasl.super_users;
  o.super_digest = config.auth.super_digest.reveal();
  o.x509_super_user = config.auth.x509_super_user;
  o.path_bytes_max = positive_or(config.limits.path_bytes, kNoLimit);
  // An ACL list and the rest of its transaction must fit into one transaction. With the smallest buffers the
  // list gets half of it.
  const auto buffer = static_cast<std::size_t>(std::max(0, config.limits.jute_max_buffer));
  o.acl_bytes_max = std::max(buffer / 2, buffer - std::min<std::size_t>(buffer, 1024));
  o.acl_entries_max = positive_or(config.limits.acl_entries, kNoLimit);
  o.multi_ops_max = positive_or(config.limits.multi_operations, kNoLimit);
  o.txn_bytes_max = txn_bytes_max(config);
  return o;
}

replica::ReplicaConfig replica_config(const ServerConfig& config, WallTime now) {
  replica::ReplicaConfig r;
  r.tick_ms = config.tick_time_ms;
  const bool member = config.ensemble.is_distributed();
  r.first_session = first_session(now, member ? raw(*config.ensemble.my_id) : 1);
  r.standalone = !member;
  if (r.standalone) r.last_counter.reset();
  r.leader_serves = !member || config.ensemble.leader_serves;
  r.local_sessions = member && config.ensemble.local_sessions_enabled;
  r.local_sessions_upgrade = config.ensemble.local_sessions_upgrading_enabled;
  r.container_check_ms = config.features.container_check_interval_ms;
  r.container_max_per_minute = config.features.container_max_per_minute;
  r.container_never_used_ms = config.features.container_max_never_used_ms;
  r.session_rate.per_second = config.limits.sessions_per_second;
  r.session_rate.per_second_per_address = config.limits.sessions_per_second_per_address;
  r.connection_throttle = config.limits.connection_throttle;
  r.request_throttle = config.limits.request_throttle;
  return r;
}

std::int64_t tick_period_ms(const ServerConfig& config) {
  const int wanted = std::min(config.tick_time_ms / 2, config.features.container_check_interval_ms);
  return std::clamp(wanted, 10, 1000);
}

IoLoopConfig io_loop_config(const ServerConfig& config, std::size_t fronts) {
  IoLoopConfig io;
  io.front.frame_bytes_max = config.limits.jute_max_buffer;
  io.front.session_timeout_min_ms = config.min_session_timeout_ms;
  io.front.session_timeout_max_ms = config.max_session_timeout_ms;
  io.front.outstanding_max = positive_or(config.limits.outstanding_per_connection, kNoLimit);
  io.front.outstanding_total_max =
      positive_or(config.limits.outstanding_requests / static_cast<std::int64_t>(fronts), kNoLimit);
  io.front.outstanding_total_bytes_max = client_limits::kOutstandingBytesTotal / fronts;
  if (config.limits.large_request_threshold > 0) {
    io.front.large_request_threshold = config.limits.large_request_threshold;
    io.front.large_requests_max_bytes = config.limits.large_request_max_bytes;
    io.front.large_request_bytes = std::make_shared<std::atomic<std::int64_t>>(0);  // of all fronts
  }
  io.front.staged_total_max_bytes = client_limits::kStagedBytesTotal / fronts;
  io.front.watches.bytes_per_table = client_limits::kWatchBytesTotal / fronts;
  io.front.output_high_water_bytes = static_cast<std::size_t>(config.limits.output_high_water_bytes);
  io.front.output_max_bytes = positive_or(config.limits.output_max_bytes, kNoLimit);
  // With any number of threads, a connection with the maximal output does not fill its thread's share.
  io.front.output_total_max_bytes =
      std::max(static_cast<std::size_t>(config.limits.output_total_bytes) / fronts,
               4 * positive_or(config.limits.output_max_bytes, 0));
  io.front.identities_max = positive_or(config.limits.auth_ids_per_connection, kNoLimit);
  io.front.watches.per_connection = positive_or(config.limits.watches_per_session, kNoLimit);
  io.front.watches.per_table =
      positive_or(config.limits.watches / static_cast<std::int64_t>(fronts), kNoLimit);
  // As in Java, a standalone server prepares every request itself, so it has nothing to gain.
  io.front.eager_acl = config.auth.eager_acl && config.ensemble.is_distributed();
  if (config.auth.enforce_auth) io.front.required_schemes = config.auth.enforce_schemes;
  io.front.allow_sasl_failed_clients = config.sasl.allow_failed_clients;
  io.tick_period_ms = tick_period_ms(config);
  io.first_frame_ms = config.deadlines.first_frame_ms;
  io.started_frame_ms = config.deadlines.started_frame_ms;
  io.tls_handshake_ms = config.tls.handshake_timeout_ms;
  io.x509_super_user = config.auth.x509_super_user;
  io.words = config.words;
  return io;
}

LogThreadOptions log_thread_options(const ServerConfig& config, std::uint64_t seed, bool core_on_io_thread) {
  LogThreadOptions o;
  o.disk.snapshot_after = {.txns = std::max(2, config.storage.snap_count),
                           .bytes = std::max<std::int64_t>(0, config.storage.snap_size_limit_kb) * 1024};
  o.disk.snapshots = snapshot_options(config).writer;
  o.disk.seed = seed;
  o.fsync_warning_ms = config.storage.fsync_warning_threshold_ms;
  o.sync_on_caller = core_on_io_thread;
  return o;
}

SnapshotThreadOptions snapshot_options(const ServerConfig& config) {
  SnapshotThreadOptions o;
  using From = StorageSettings::Compression;
  switch (config.storage.snapshot_compression) {
    case From::kNone: o.writer.compression = storage::Compression::kNone; break;
    case From::kGzip: o.writer.compression = storage::Compression::kGzip; break;
    case From::kSnappy: o.writer.compression = storage::Compression::kSnappy; break;
  }
  o.with_last_processed = config.storage.serialize_last_processed_zxid;
  o.purge.retain = static_cast<std::size_t>(std::max(3, config.storage.purge_snap_retain_count));
  if (config.storage.purge_trigger_mb > 0) {
    o.purge.bytes_max = static_cast<std::uint64_t>(config.storage.purge_trigger_mb) << 20;
  }
  o.purge_interval_ms = config.storage.purge_interval_ms;
  return o;
}

storage::TxnLogOptions txn_log_options(const ServerConfig& config) {
  storage::TxnLogOptions o;
  o.preallocate_bytes =
      static_cast<std::uint64_t>(std::max<std::int64_t>(0, config.storage.prealloc_kb)) * 1024;
  o.size_limit_bytes =
      static_cast<std::uint64_t>(std::max<std::int64_t>(0, config.storage.txn_log_size_limit_kb)) * 1024;
  o.force_sync = config.storage.force_sync;
  return o;
}

storage::RecoveryOptions recovery_options(const ServerConfig& config) {
  return {.trust_empty = config.storage.snapshot_trust_empty,
          .autocreate = config.storage.db_autocreate.value_or(true),
          .repair = true};
}

}  // namespace drover::server
