// SPDX-License-Identifier: Apache-2.0
//
// The part of a survey that looks at files one by one.
#pragma once

#include <vector>

#include "storage/data_dir.h"
#include "storage/log_links.h"
#include "tools/context.h"
#include "tools/survey.h"

namespace drover::tools {

IoResult<std::vector<SnapshotVerdict>> survey_snapshots(const Context& context,
                                                        const storage::DataDirs& dirs);

// `snapshots` tell which gaps between log files matter: one that a snapshot spans is not in any replay's way.
IoResult<std::vector<LogVerdict>> survey_logs(const Context& context, const storage::DataDirs& dirs,
                                              const std::vector<SnapshotVerdict>& snapshots,
                                              const storage::LogEvidence& evidence);

}  // namespace drover::tools
