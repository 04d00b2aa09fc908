// SPDX-License-Identifier: Apache-2.0
//
// Collects the facts for a four-letter word from the running server.
//
// The caller stops the core and holds every slot of the tree's lock, so that the facts are consistent. Facts
// that can have a million entries are collected in steps by runtime/long_facts.
#pragma once

#include <string>
#include <vector>

#include "base/time.h"
#include "config/config.h"
#include "monitor/four_letter_words.h"
#include "replica/front.h"
#include "replica/member.h"
#include "replica/replica.h"
#include "runtime/core.h"
#include "runtime/ensemble_facts.h"
#include "runtime/io_loop.h"
#include "runtime/log_thread.h"
#include "runtime/rate_limit.h"
#include "runtime/snapshot_thread.h"
#include "state/machine.h"

namespace drover::server {

// Facts from the kernel. They can take a while with many files or connections, so they are collected before
// the threads are stopped.
struct KernelFacts {
  std::int64_t open_descriptors = 0;
  std::int64_t data_dir_bytes = 0;
  std::int64_t log_dir_bytes = 0;
  std::vector<EnvironmentEntry> environment;
};
KernelFacts ask_kernel(const ServerConfig& config, const Needs& needs);

struct FactSources {
  const ServerConfig& config;
  const state::Machine& machine;
  const replica::Replica& replica;
  const replica::Member* member;  // null: a standalone server
  LinkLook links;                 // empty: a standalone server
  PortRefusals refusals;
  std::vector<const replica::Front*> fronts;
  replica::FrontStats front_stats;  // of all fronts, as the next two
  replica::FrontTotals front_totals;
  IoLoopStats io;
  const KernelFacts& kernel;
  CoreStats core;
  LogThread::Stats log;
  SnapshotThread::Stats snapshots;
  AdminCounts::Values admin;
  Instant now;
  WallTime wall;
  Instant started;
  std::string asking{};         // "127.0.0.1:54321": the sender of the word; empty: not a client
  std::size_t connections = 0;  // all of them, including the asking one
  std::uint64_t connections_rejected = 0;
  std::uint64_t insecure_admin = 0;  // plain connections to an HTTP port that supports TLS
  std::uint64_t digest_mismatches = 0;
  std::int64_t startup_ms = 0;
  std::uint64_t startup_txns = 0;
  std::int64_t startup_snapshot_ms = 0;
  std::int64_t startup_txns_ms = 0;
  std::int64_t trace_mask = 306;
  Zxid snapshot_at_start{-1};  // the file that recovery started from
  std::int64_t snapshot_at_start_time_s = -1;
  int client_port = -1;
  int secure_port = -1;
};

// Collects everything except ephemeral nodes and watches.
Facts collect_facts(const FactSources& sources, const Needs& needs);

}  // namespace drover::server
