// SPDX-License-Identifier: Apache-2.0
#include "cli/common/confirmation.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <string>

namespace drover::cli::observe {

bool is_confirmed() {
  if (isatty(STDIN_FILENO) == 0) {
    fmt::print(stderr, "drover: cannot ask for confirmation without a terminal; use --yes\n");
    return false;
  }
  fmt::print("Continue? [y/N] ");
  std::fflush(stdout);
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "yes";
}

}  // namespace drover::cli::observe
