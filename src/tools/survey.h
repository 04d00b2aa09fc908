// SPDX-License-Identifier: Apache-2.0
//
// Examines a data directory without changing it: a verdict on each file, the result of the server's own
// recovery, and whether the state is the acknowledged one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "storage/data_dir.h"
#include "storage/log_file_reader.h"
#include "storage/recovery.h"
#include "tools/context.h"

namespace drover::tools {

enum class Verdict {
  kOk,
  kNote,  // worth knowing, but nothing is wrong
  kBad,
};

struct FileVerdict {
  std::string name;
  std::uint64_t bytes = 0;
  std::string content{};  // one line of text
  Verdict verdict = Verdict::kOk;
  std::string note{};
};

struct SnapshotVerdict : FileVerdict {
  Zxid zxid{};
  int read_error = 0;  // errno of a failed read
};

struct LogVerdict : FileVerdict {
  Zxid first{};
  std::optional<Zxid> last;  // empty: no complete record
  std::uint64_t txns = 0;
  storage::LogFileEnd end;
};

struct Finding {
  Verdict verdict = Verdict::kNote;
  std::string text;
};

struct Survey {
  std::vector<SnapshotVerdict> snapshots;
  std::vector<LogVerdict> logs;
  std::vector<FileVerdict> others;
  std::vector<Finding> findings;
  storage::RecoveryReport recovery;
  storage::Replacing replacing = storage::Replacing::kNo;
  std::vector<std::string> actions;  // changes that a starting server would make to the files
  std::string start;                 // what a server that starts here would do
  std::uint64_t nodes = 0;
  std::uint64_t sessions = 0;
  std::uint64_t digest = 0;
  bool digests_compared = false;
  Zxid highest{};  // the highest zxid found anywhere

  bool is_fine() const;
};

IoResult<Survey> survey(const Context& context, const storage::DataDirs& dirs);

}  // namespace drover::tools
