// SPDX-License-Identifier: Apache-2.0
//
// A state that can be read repeatedly: a snapshot is streamed each time, a data directory is replayed once
// and kept in memory.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "storage/snapshot_format.h"
#include "tools/context.h"
#include "tools/loaded_state.h"
#include "tools/snapshot_file.h"

namespace drover::tools {

class StateSource {
 public:
  // The context must outlive it.
  static IoResult<StateSource> open(const Context& context, const DirectoryArguments& source);

  IoResult<void> read(storage::SnapshotSink& sink) const;
  // "snapshot.5", or "DIR up to zxid 0x9".
  const std::string& name() const { return name_; }

 private:
  explicit StateSource(const Context& context) : context_(&context) {}

  const Context* context_;
  std::string name_;
  std::optional<SnapshotPlace> snapshot_;
  std::unique_ptr<LoadedState> state_;
};

}  // namespace drover::tools
