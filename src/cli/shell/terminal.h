// SPDX-License-Identifier: Apache-2.0
//
// The shell at a terminal.
#pragma once

#include "cli/shell/session.h"

namespace drover::cli {

// Reads and executes lines until `quit` or the end of the input.
void run_at_terminal(Session& session);

}  // namespace drover::cli
