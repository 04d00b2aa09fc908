// SPDX-License-Identifier: Apache-2.0
//
// Reads a snapshot as a stream into a sink. Trusts only bytes that a checksum covers.
#pragma once

#include <string>

#include "base/result.h"
#include "storage/byte_stream.h"
#include "storage/disk.h"
#include "storage/file_names.h"
#include "storage/input_window.h"
#include "storage/snapshot_format.h"

namespace drover::storage {

// If this fails, the sink has seen part of a snapshot and must discard it. An error with code 0 means that
// the bytes are corrupt.
IoResult<SnapshotInfo> read_snapshot(Disk& disk, const std::string& directory, const SnapshotFile& file,
                                     SnapshotSink& sink);

// The same from a stream of uncompressed bytes.
IoResult<SnapshotInfo> read_snapshot(ByteSource& source, SnapshotSink& sink);

// Sessions, ACLs and nodes up to the end marker: the part that a leader also sends to a learner.
IoResult<SnapshotInfo> read_snapshot_body(InputWindow& in, SnapshotSink& sink);

// Reads the whole snapshot to check its seals.
IoResult<SnapshotInfo> verify_snapshot(Disk& disk, const std::string& directory, const SnapshotFile& file);

// True if the snapshot shows changes after `zxid`. A snapshot is fuzzy: one that was started before `zxid`
// may still contain later changes.
bool reaches_beyond(const SnapshotFile& file, const SnapshotInfo& info, Zxid zxid);

}  // namespace drover::storage
