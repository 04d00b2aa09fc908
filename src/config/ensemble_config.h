// SPDX-License-Identifier: Apache-2.0
//
// Settings of a member of an ensemble. The members themselves are a zab::Membership.
#pragma once

#include <optional>
#include <string>

#include "base/ids.h"
#include "net/peer_origins.h"
#include "zab/membership.h"

namespace drover::server {

using zab::Endpoint;
using zab::Membership;
using zab::PeerAddress;
using zab::PeerSpec;
using zab::PeerType;

// Settings that matter only in an ensemble.
struct EnsembleConfig {
  Membership members;
  std::optional<ServerId> my_id;    // from the myid file
  std::string dynamic_config_file;  // empty: members came from the static file
  int init_limit_ticks = 0;
  int sync_limit_ticks = 0;
  int connect_to_learner_master_limit_ticks = 0;  // 0: init_limit_ticks
  PeerType peer_type = PeerType::kParticipant;
  bool standalone_enabled = true;
  bool reconfig_enabled = false;
  bool quorum_listen_on_all_ips = false;
  bool local_sessions_enabled = false;
  bool local_sessions_upgrading_enabled = false;
  bool leader_serves = true;
  bool ssl_quorum = false;
  bool port_unification = false;
  bool ssl_quorum_reload_cert_files = false;
  bool multi_address = false;
  // Must servers connect from their configured addresses? (net/peer_origins.h)
  net::OriginCheck origin_check = net::OriginCheck::kLearned;
  // quorum.peerCertificateCheck: must a certificate name the server that its owner claims to be? See
  // checks_peer_certificates().
  std::optional<bool> certificate_check;
  int leader_silence_limit_ms = -1;       // -1: a tick, at least two seconds; 0: only syncLimit applies
  int connect_timeout_ms = 5000;          // cnxTimeout: opening an election link
  int quorum_connection_timeout_ms = -1;  // -1: tickTime * syncLimit
  int notification_interval_min_ms = 200;
  int notification_interval_max_ms = 60000;
  int wait_for_epoch_max_ms = -1;      // -1: init_limit_ticks
  int election_port_bind_retries = 3;  // 0: forever
  bool force_snapshot_sync = false;
  int commit_log_count = 500;
  double snapshot_size_factor = 0.33;  // negative: no DIFF from the log files; 0: whatever their size is
  int snap_syncs_max = 10;
  int diff_syncs_max = 100;

  // ZooKeeper's rule for "run the quorum code": a single voter is a standalone server unless
  // standaloneEnabled is false.
  bool is_distributed() const {
    return members.voters().size() > 1 || (!standalone_enabled && !members.voters().empty());
  }
};

}  // namespace drover::server
