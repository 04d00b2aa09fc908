// SPDX-License-Identifier: Apache-2.0
//
// The parameters of `drover bench`, and its results.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "cli/bench/histogram.h"
#include "cli/common/options.h"

namespace drover::cli::observe {

enum class Load : std::uint8_t { kGet, kSet, kCreate, kMixed, kLock, kWatch };
std::string_view name_of(Load load);

struct Plan {
  Load load = Load::kMixed;
  Options client = {};
  std::string root = {};  // "/drover-bench-…": all nodes are below it
  int sessions = 8;
  int in_flight = 16;  // requests per session
  int size = 100;      // bytes of data
  int keys = 1000;     // nodes, or locks
  double reads = 90;   // percent, of kMixed
  double seconds = 10, warm_up = 1;
  double rate = 0;  // requests per second of all sessions; 0: as many as possible
};

struct Outcome {
  Histogram latencies = {};  // ns
  double seconds = 0;        // measured
  std::map<std::string, std::uint64_t> errors = {};
  double cpu_seconds = 0;  // of this process
  bool interrupted = false;
};

// Parses the options of this command; errors are stored in the arguments.
Plan read_plan(Arguments& arguments);
std::vector<Option> bench_options();

std::string text_of(const Plan& plan, const Outcome& outcome);
std::string json_text(const Plan& plan, const Outcome& outcome);
std::string latency_text(std::int64_t ns);  // "850 ns", "212 µs", "1.24 ms", "2.1 s"

}  // namespace drover::cli::observe
