// SPDX-License-Identifier: Apache-2.0
//
// `drover inspect verify`: is this data directory whole, and what would a server do with it?
#pragma once

#include "tools/context.h"
#include "tools/survey.h"

namespace drover::tools {

struct VerifyCommand {
  DirectoryArguments directories;
};

Outcome run_verify(const Context& context, const VerifyCommand& command);

// The survey as a table with findings, or as JSON lines.
void print_survey(const Context& context, const Survey& survey);

}  // namespace drover::tools
