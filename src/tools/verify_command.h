// SPDX-License-Identifier: Apache-2.0
//
// `drover inspect verify`: checks a data directory and says what a server would do with it.
#pragma once

#include "tools/context.h"
#include "tools/survey.h"

namespace drover::tools {

struct VerifyCommand {
  DirectoryArguments directories;
};

Outcome run_verify(const Context& context, const VerifyCommand& command);

// Prints the survey as a table with findings, or as JSON lines.
void print_survey(const Context& context, const Survey& survey);

}  // namespace drover::tools
