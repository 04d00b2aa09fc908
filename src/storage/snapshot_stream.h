// SPDX-License-Identifier: Apache-2.0
//
// The snapshot that a leader sends to a learner (SNAP), as raw bytes on the socket after the packet:
//
//   sessions, ACLs, nodes, ustring "/"       as in a snapshot file, without its header and seals
//   ustring "BenWasHere"                      0000000a 42656e57617348657265
//
// The stream has no length field: only the parser finds its end, and packets follow in the same stream. The
// sender uses the append functions of storage/snapshot_body.h and append_snapshot_stream_end().
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "storage/snapshot_body.h"
#include "storage/snapshot_format.h"

namespace drover::storage {

inline constexpr std::string_view kSnapshotStreamSignature = "BenWasHere";

// The end marker and the signature.
void append_snapshot_stream_end(std::string& out);

// Parses a snapshot from a stream as its bytes arrive. Never blocks, and allocates nothing: the caller keeps
// an incomplete record.
class SnapshotStreamReader {
 public:
  // The sink outlives the reader.
  explicit SnapshotStreamReader(SnapshotSink& sink, const SnapshotLimits& limits = {})
      : body_(sink, limits) {}

  // Takes the complete records at the front of `bytes` and returns the number of bytes taken; the next call
  // must start with the rest. Once done() it takes nothing. An error has code 0: the bytes are not a
  // snapshot, the sink has to discard what it saw, and the link is unusable.
  IoResult<std::size_t> feed(std::string_view bytes);
  bool done() const { return done_; }

  // With fewer bytes than this, feed() takes nothing.
  std::size_t needed() const;
  const SnapshotInfo& info() const { return body_.info(); }

 private:
  IoResult<std::size_t> take_signature(std::string_view bytes);

  SnapshotBodyParser body_;
  bool done_ = false;
};

}  // namespace drover::storage
