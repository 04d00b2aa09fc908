// SPDX-License-Identifier: Apache-2.0
//
// A state to be read, more than once: of a snapshot, streamed, or of a data directory, which has to be
// replayed and is kept.
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
  // The context outlives it.
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
