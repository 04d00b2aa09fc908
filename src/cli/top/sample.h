// SPDX-License-Identifier: Apache-2.0
//
// Parses what servers report, and computes rates from two samples.
//
// Pure: text and times in, a board out. `srvr` is allowed by default on every server and has the role, the
// zxid and the average latency; `mntr` adds sessions, watches and percentiles.
#pragma once

#include <boost/json.hpp>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/ensemble/four_letter_words.h"
#include "cli/ensemble/members.h"

namespace drover::cli::observe {

struct Percentiles {
  std::optional<double> p50 = {}, p95 = {}, p99 = {}, p999 = {};
};

// One server at one moment. Missing values were not reported.
struct Sample {
  std::chrono::steady_clock::time_point at = {};
  std::chrono::microseconds took{0};  // to answer `srvr`
  std::string role = "down";          // "leader", "follower", ...; "looking": up, and without a leader
  std::string trouble = {};           // why it is down
  bool monitor_allowed = true;        // `mntr`
  std::string version = {};
  std::optional<std::int64_t> zxid = {};
  std::optional<std::int64_t> sessions = {}, connections = {}, watches = {}, ephemerals = {}, nodes = {};
  std::optional<std::int64_t> outstanding = {}, received = {};
  std::optional<double> latency_average = {}, latency_max = {};  // ms, since it started or was reset
  Percentiles reads = {}, updates = {};                          // ms
};

Sample read_sample(const Answer& srvr, const Answer& mntr, std::chrono::steady_clock::time_point at);
std::optional<std::int64_t> sid_in(const Answer& conf);

struct Row {
  Member member;
  Sample sample;
  std::optional<double> requests_per_second = {};
  std::optional<std::int64_t> lag = {};  // transactions behind the leader; none: another epoch, or no leader
  std::optional<std::int64_t> epoch = {};
};

struct PathCount {
  std::string path;
  std::uint64_t changes = 0;
};

struct Board {
  std::vector<Row> rows = {};
  std::optional<std::int64_t> config_version = {};  // of /zookeeper/config
  std::vector<PathCount> paths = {};                // most changes first
  std::uint64_t changes = 0;                        // total
  double changes_seconds = 0;                       // duration of counting
  std::string paths_trouble = {};                   // why they are not counted
  std::vector<std::string> notes = {};
};

// `before` is a sample of the same members, or empty.
Board make_board(const std::vector<Member>& members, const std::vector<Sample>& before,
                 const std::vector<Sample>& now);

boost::json::object json_of(const Board& board);

}  // namespace drover::cli::observe
