// SPDX-License-Identifier: Apache-2.0
//
// `--watch`: shows the view again whenever it changes, by watches, without polling.
#pragma once

#include <string>
#include <vector>

#include "cli/common/options.h"
#include "cli/recipes/read.h"
#include "cli/recipes/view.h"

namespace drover::cli::observe {

struct Following {
  Client client;
  Purpose purpose;
  std::string path;
  ReadLimits limits;
  std::vector<Address> servers;
  bool json = false;
};

// Runs until Ctrl-C and returns the exit code. A terminal is redrawn, otherwise each state is printed once.
int follow(const Following& following);

}  // namespace drover::cli::observe
