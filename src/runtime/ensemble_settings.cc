// SPDX-License-Identifier: Apache-2.0
#include "runtime/ensemble_settings.h"

#include <algorithm>

#include "runtime/settings.h"
#include "wire/txn_limits.h"

namespace drover::server {
namespace {

// Java's value. If it were shorter, a server would show its old state at every election.
constexpr std::int64_t kReadOnlyAfterMinMs = 2000;

// Never sent.
constexpr ServerId kStandaloneId{0};

}  // namespace

zab::Membership membership_of(const ServerConfig& config) {
  if (config.ensemble.is_distributed()) return config.ensemble.members;
  zab::Membership alone;
  alone.add({.id = kStandaloneId});
  return alone;
}

zab::WindowLimits window_limits(const ServerConfig& config) {
  if (!config.ensemble.is_distributed()) return {.txns = 0, .bytes = 0};
  return {.txns = static_cast<std::size_t>(config.ensemble.commit_log_count)};
}

// Short ticks do not make machines quicker: the machine alone can delay a leader for a second.
std::int64_t silence_limit_ms(const ServerConfig& config) {
  constexpr std::int64_t kLeastMs = 2000;
  const std::int64_t limit_ms = config.ensemble.leader_silence_limit_ms;
  return limit_ms >= 0 ? limit_ms : std::max<std::int64_t>(config.tick_time_ms, kLeastMs);
}

bool checks_peer_certificates(const ServerConfig& config) {
  const bool standard =
      config.quorum_tls.hostname_verification && config.quorum_tls.client_auth == net::ClientAuth::kNeed;
  return config.ensemble.certificate_check.value_or(standard);
}

replica::MemberConfig member_config(const ServerConfig& config) {
  const EnsembleConfig& e = config.ensemble;
  replica::MemberConfig m;
  if (!e.is_distributed()) {
    m.peer.me = kStandaloneId;
    m.peer.standalone = true;
    return m;
  }
  m.peer.me = *e.my_id;
  m.peer.observer = e.members.servers().at(*e.my_id).type == PeerType::kObserver;
  m.peer.reconfig_enabled = e.reconfig_enabled;
  m.reconfig = {.standalone_enabled = e.standalone_enabled, .multi_address = e.multi_address};
  m.peer.timing = {.tick_ms = config.tick_time_ms,
                   .init_limit_ticks = e.init_limit_ticks,
                   .sync_limit_ticks = e.sync_limit_ticks,
                   .connect_limit_ticks = e.connect_to_learner_master_limit_ticks,
                   .silence_limit_ms = silence_limit_ms(config)};
  m.peer.notification_min_ms = e.notification_interval_min_ms;
  m.peer.notification_max_ms = e.notification_interval_max_ms;
  m.peer.sync = {.force_snapshot = e.force_snapshot_sync,
                 .use_log = e.snapshot_size_factor >= 0,
                 .snaps_max = static_cast<std::size_t>(e.snap_syncs_max),
                 .diffs_max = static_cast<std::size_t>(e.diff_syncs_max)};
  m.peer.wait_for_epoch_ms = e.wait_for_epoch_max_ms;
  if (config.features.read_only_mode)
    m.read_only_after_ms = std::max<std::int64_t>(kReadOnlyAfterMinMs, config.tick_time_ms);
  m.from_learners.data_bytes_max = wire::forwarded_bytes_max(txn_bytes_max(config));
  m.ping_bytes_max = static_cast<std::size_t>(config.limits.jute_max_buffer) + wire::kEnvelopeBytes;
  return m;
}

}  // namespace drover::server
