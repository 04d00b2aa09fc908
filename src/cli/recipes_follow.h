// SPDX-License-Identifier: Apache-2.0
//
// `--watch`: the same view again whenever something in it changes, told by watches and not by asking again.
#pragma once

#include <string>
#include <vector>

#include "cli/observe_options.h"
#include "cli/recipes_read.h"
#include "cli/recipes_view.h"

namespace drover::cli::observe {

struct Following {
  Client client;
  Purpose purpose;
  std::string path;
  ReadLimits limits;
  std::vector<Address> servers;
  bool json = false;
};

// Until Ctrl-C. On a terminal the screen is drawn anew, elsewhere each state is printed once. The exit code.
int follow(const Following& following);

}  // namespace drover::cli::observe
