// SPDX-License-Identifier: Apache-2.0
//
// Everything that can be found out about a data directory without changing it: a verdict on each file, what
// the server's own recovery makes of them together, and whether the state is the one that was acknowledged.
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
  kNote,  // worth knowing, and nothing is wrong
  kBad,
};

struct FileVerdict {
  std::string name;
  std::uint64_t bytes = 0;
  std::string content{};  // one line for people
  Verdict verdict = Verdict::kOk;
  std::string note{};
};

struct SnapshotVerdict : FileVerdict {
  Zxid zxid{};
  int read_error = 0;  // errno when the device could not read
};

struct LogVerdict : FileVerdict {
  Zxid first{};
  std::optional<Zxid> last;  // none: it holds no whole record
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
  std::vector<std::string> actions;  // what a server would change in its files as it starts
  std::string start;                 // what a server that starts here would do
  std::uint64_t nodes = 0;
  std::uint64_t sessions = 0;
  std::uint64_t digest = 0;
  bool digests_compared = false;
  Zxid highest{};  // the highest zxid that anything here speaks of

  bool is_fine() const;
};

IoResult<Survey> survey(const Context& context, const storage::DataDirs& dirs);

}  // namespace drover::tools
