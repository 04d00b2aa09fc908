// SPDX-License-Identifier: Apache-2.0
#include "tools/state_source.h"

#include "tools/text.h"

namespace drover::tools {

IoResult<StateSource> StateSource::open(const Context& context, const DirectoryArguments& source) {
  StateSource opened(context);
  TRY_ASSIGN(const bool directory, is_directory(context.disk, source.directory));
  if (!directory) {
    TRY_ASSIGN(opened.snapshot_, find_snapshot(context, source.directory));
    opened.name_ = source.directory;
    return opened;
  }
  TRY_ASSIGN(const storage::DataDirs dirs, find_directories(context.disk, source));
  TRY_ASSIGN(opened.state_, load_newest(context, dirs));
  opened.name_ = source.directory + " up to zxid " + zxid_text(opened.state_->last);
  return opened;
}

IoResult<void> StateSource::read(storage::SnapshotSink& sink) const {
  if (snapshot_) {
    TRY(read_snapshot(*context_, *snapshot_, sink));
  } else {
    (void)give_state(state_->machine, sink);
  }
  return {};
}

}  // namespace drover::tools
