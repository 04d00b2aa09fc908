// SPDX-License-Identifier: Apache-2.0
//
// Translates the configuration to the settings of each part. Only this file knows both.
#pragma once

#include "config/config.h"
#include "replica/replica.h"
#include "runtime/io_loop.h"
#include "runtime/log_thread.h"
#include "runtime/snapshot_thread.h"
#include "state/options.h"
#include "storage/recovery.h"
#include "storage/txn_log_writer.h"

namespace drover::server {

// The largest transaction that this server creates (wire/txn_limits.h).
std::size_t txn_bytes_max(const ServerConfig& config);
state::Options state_options(const ServerConfig& config, const HashKey& hash_key);
replica::ReplicaConfig replica_config(const ServerConfig& config, WallTime now);
IoLoopConfig io_loop_config(const ServerConfig& config, std::size_t fronts);
// The period of the core's checks of sessions, containers and TTL nodes. Half a tick, unless containers and
// TTL nodes must be checked more often.
std::int64_t tick_period_ms(const ServerConfig& config);
LogThreadOptions log_thread_options(const ServerConfig& config, std::uint64_t seed, bool core_on_io_thread);
SnapshotThreadOptions snapshot_options(const ServerConfig& config);
storage::TxnLogOptions txn_log_options(const ServerConfig& config);
storage::RecoveryOptions recovery_options(const ServerConfig& config);

}  // namespace drover::server
