// SPDX-License-Identifier: Apache-2.0
//
// `drover ensemble N`: a whole ensemble on this machine, for trying things out.
#pragma once

#include <string>
#include <vector>

namespace drover::server {

extern const char* const kEnsembleHelp;

// The arguments after `drover ensemble`; returns the exit code.
int run_ensemble(const std::vector<std::string>& arguments);

}  // namespace drover::server
