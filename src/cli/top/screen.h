// SPDX-License-Identifier: Apache-2.0
//
// Renders a board as lines of a screen.
#pragma once

#include <string>
#include <vector>

#include "cli/top/sample.h"

namespace drover::cli::observe {

enum class SortBy : std::uint8_t { kServer, kRequests, kLatency, kConnections, kWatches, kLag };

struct ScreenOptions {
  SortBy sort = SortBy::kServer;
  int depth = 2;  // of paths
  std::size_t width = 160;
  std::size_t height = 40;
  bool footer = true;  // the keys
};

void sort_rows(std::vector<Row>& rows, SortBy by);

// At most `height` lines of at most `width` characters.
std::vector<std::string> lines_of(Board board, const ScreenOptions& options);

}  // namespace drover::cli::observe
