// SPDX-License-Identifier: Apache-2.0
//
// The interface of the server for its HTTP side.
//
// HTTP threads must not disturb the server. A look at the tree holds `slot` of the tree's lock only as long
// as a client's read does. A look at the fronts, or a call of facts(), stops all threads for a moment, as a
// four-letter word does. Lock order: Core::look_at(), then the tree's lock.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
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
  state::Machine& machine;  // read it under TreeLock::Reading(lock, TreeSlot::kHttp)
  TreeLock& lock;
  Core& core;
  std::vector<replica::Front*> fronts{};  // under TreeLock::Writing(lock)
  SnapshotThread& snapshots;
  std::function<Facts(const Needs&)> facts;  // without any lock held
  std::function<void()> reset_server_stats;
  std::function<void()> reset_connection_stats;
  std::function<void()> reset_observer_stats;
  std::function<std::int64_t(int percentage)> shed_connections;  // returns how many were closed
  std::function<void()> stop_serving;  // disconnects all clients for good; returns when they are gone
  std::function<void()> start_anew;    // restarts the server; empty: this process cannot
  AdminLimits& limits;
  std::atomic<std::int64_t>& trace_mask;
  std::atomic<std::uint64_t>& insecure_admin;  // plain connections to a port that supports TLS
  Instant started{};
  std::function<LogThread::Stats()> log_stats{};
  // The SASL id of a user with this password; none: it is wrong. Null: nobody can log in with a password.
  std::function<std::optional<std::string>(std::string_view user, std::string_view password)>
      check_password{};
  // Opens a client connection within this process. It counts as a connection from `as`.
  std::function<IoResult<net::Socket>(const net::Address& as)> connect_inside{};

  // The members in force. Call it without any lock held.
  Membership members() const {
    Membership now = config.ensemble.members;
    core.look_at([&](const replica::Replica&, const replica::Member* member) {
      if (member) now = member->peer().membership();
    });
    return now;
  }
};

}  // namespace drover::server
