// SPDX-License-Identifier: Apache-2.0
//
// What the HTTP side may see of the server and ask of it.
//
// Its threads are guests. A look at the tree takes `slot` of the tree's lock for as long as a read does;
// looking at the fronts, or at what facts() collects, stops everybody for a moment, as a four-letter word
// does. Locks in this order: Core::look_at(), then the tree's lock.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "config/config.h"
#include "monitor/four_letter_words.h"
#include "net/socket.h"
#include "replica/front.h"
#include "runtime/core.h"
#include "runtime/log_thread.h"
#include "runtime/rate_limit.h"
#include "runtime/snapshot_thread.h"
#include "runtime/tree_lock.h"
#include "state/machine.h"

namespace drover::server {

struct ServerInside {
  const ServerConfig& config;
  state::Machine& machine;  // read it under TreeLock::Reading(lock, slot)
  TreeLock& lock;
  std::size_t slot;  // one for all threads of the HTTP side: a mutex, so they take turns
  Core& core;
  std::vector<replica::Front*> fronts{};  // under TreeLock::Writing(lock)
  SnapshotThread& snapshots;
  std::function<Facts(const Needs&)> facts;  // without any lock held
  std::function<void()> reset_server_stats;
  std::function<void()> reset_connection_stats;
  std::function<void()> reset_observer_stats;
  std::function<std::int64_t(int percentage)> shed_connections;  // how many were closed
  std::function<void()> stop_serving;  // sends all clients away, for good; returns when they are gone
  std::function<void()> start_anew;    // ends the server, and starts it again; empty: this process cannot
  AdminLimits& limits;
  std::atomic<std::int64_t>& trace_mask;
  std::atomic<std::uint64_t>& insecure_admin;  // connections without TLS to a port that has it
  Instant started{};
  std::function<LogThread::Stats()> log_stats{};
  // A connection to the client protocol in this process, which counts as one from `as`.
  std::function<IoResult<net::Socket>(const net::Address& as)> connect_inside{};
};

}  // namespace drover::server
