// SPDX-License-Identifier: Apache-2.0
//
// Reads what is needed of a directory to say who holds, who waits and what is in it.
//
// Everything is bounded: of a line the first thousand are read, of a queue of a million only its head. Nodes
// that go away while one looks are left out, so that what is shown was never all true at one instant, but
// each part of it was true while one looked.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "cli/recipes_view.h"
#include "drover/client.h"

namespace drover::cli::observe {

struct ReadLimits {
  std::size_t line_max = 1000;       // nodes of a line or a group
  std::size_t items_max = 20;        // of a queue
  std::size_t directories = 10'000;  // of a scan
  std::string claims = {};           // where a queue's claims are; empty: PATH.claims
};

// Blocks. On the client's executor it may not be called.
Result<View> read_view(const Client& client, const std::string& path, const ReadLimits& limits);

// Everything below a path that is recognised, as it is found; false from `found` ends it. How many
// directories were looked at.
struct Scanned {
  std::size_t directories = 0;
  bool complete = true;  // false: the limit was reached
};
Result<Scanned> scan(const Client& client, const std::string& path, const ReadLimits& limits,
                     const std::function<bool(const View&)>& found);

// The directories whose changes change what read_view() shows.
std::vector<std::string> watched_paths(const std::string& path, const ReadLimits& limits);

std::string join_path(std::string_view parent, std::string_view name);

}  // namespace drover::cli::observe
