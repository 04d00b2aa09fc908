// SPDX-License-Identifier: Apache-2.0
//
// The part of a survey that examines single files.
#pragma once

#include <vector>

#include "storage/data_dir.h"
#include "storage/log_links.h"
#include "tools/context.h"
#include "tools/survey.h"

namespace drover::tools {

IoResult<std::vector<SnapshotVerdict>> survey_snapshots(const Context& context,
                                                        const storage::DataDirs& dirs);

// `snapshots` decide which gaps between log files matter: a gap that a snapshot covers is harmless.
IoResult<std::vector<LogVerdict>> survey_logs(const Context& context, const storage::DataDirs& dirs,
                                              const std::vector<SnapshotVerdict>& snapshots,
                                              const storage::LogEvidence& evidence);

}  // namespace drover::tools
