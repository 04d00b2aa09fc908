// SPDX-License-Identifier: Apache-2.0
//
// Reads a recipe's directory to find out who holds, who waits and what is in it.
//
// Everything is bounded: the first thousand nodes of a lock are read, and only the head of a long queue.
// Nodes that disappear meanwhile are skipped. So the result is not a consistent snapshot, but each part of it
// was true while it was read.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "cli/recipes/view.h"
#include "drover/client.h"

namespace drover::cli::observe {

struct ReadLimits {
  std::size_t line_max = 1000;       // nodes of a lock or a group
  std::size_t items_max = 20;        // items of a queue
  std::size_t directories = 10'000;  // directories of a scan
  std::string claims = {};           // directory of a queue's claims; empty: PATH.claims
};

// For each request of these commands.
inline constexpr std::chrono::seconds kPatience{30};
inline constexpr std::size_t kAtOnce = 200;  // requests in flight

// Blocks, so do not call it on the client's executor.
Result<View> read_view(const Client& client, const std::string& path, const ReadLimits& limits);

// Calls `found` for every recipe below a path; if it returns false, the scan ends. Returns how many
// directories were read.
struct Scanned {
  std::size_t directories = 0;
  bool complete = true;  // false: the limit was reached
};
Result<Scanned> scan(const Client& client, const std::string& path, const ReadLimits& limits,
                     const std::function<bool(const View&)>& found);

// The directories to watch for changes of read_view().
std::vector<std::string> watched_paths(const std::string& path, const ReadLimits& limits);

}  // namespace drover::cli::observe
