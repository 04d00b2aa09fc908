// SPDX-License-Identifier: Apache-2.0
//
// The snapshot that a leader sends to a learner (SNAP), raw on the socket behind the packet:
//
//   sessions, ACLs, nodes, ustring "/"       as in a snapshot file, without its header and seals
//   ustring "BenWasHere"                      0000000a 42656e57617348657265
//
// Nothing says how long it is: only who parses it finds its end, and packets follow in the same stream.
// The sending side is storage/snapshot_body.h's append functions and the end from here.
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

// Takes a snapshot out of a stream as its bytes arrive. Never blocks, and allocates nothing: what is not yet
// a whole record stays with the caller.
class SnapshotStreamReader {
 public:
  // The sink outlives the reader.
  explicit SnapshotStreamReader(SnapshotSink& sink, const SnapshotLimits& limits = {})
      : body_(sink, limits) {}

  // Takes what is whole at the front of `bytes` and returns how many bytes that were; the rest must be at the
  // front of the next call's. Once done() it takes nothing. An error has code 0: what came is not a
  // snapshot, the sink has to forget what it saw, and the link is of no more use.
  IoResult<std::size_t> feed(std::string_view bytes);
  bool done() const { return done_; }

  // With fewer bytes than this at hand, feed() will take nothing.
  std::size_t needed() const;
  const SnapshotInfo& info() const { return body_.info(); }

 private:
  IoResult<std::size_t> take_signature(std::string_view bytes);

  SnapshotBodyParser body_;
  bool done_ = false;
};

}  // namespace drover::storage
