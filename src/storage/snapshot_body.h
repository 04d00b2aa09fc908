// SPDX-License-Identifier: Apache-2.0
//
// Sessions, access control lists and nodes up to the end marker: what a snapshot file and a leader's
// stream to a learner have in common (storage/snapshot_format.h shows the bytes).
//
// Written by functions that append, read by a parser that is fed. Neither knows where the bytes come from
// or go to, so files and sockets share both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/result.h"
#include "storage/input_window.h"
#include "storage/snapshot_format.h"
#include "wire/jute.h"

namespace drover::storage {

// --- writing: session count, sessions, ACL count, ACLs, nodes with parents first, end ---

void append_snapshot_count(std::string& out, std::size_t count);
void append_snapshot_session(std::string& out, SessionId id, std::int32_t timeout_ms);
void append_snapshot_acl(std::string& out, std::int64_t key, std::string_view jute_list);
// The root's path is "".
void append_snapshot_node(std::string& out, std::string_view path, const wire::Nullable& data,
                          std::int64_t acl, const wire::StatPersisted& stat);
void append_snapshot_end(std::string& out);

// Whole tables with their counts. `sessions` holds (id, timeout in ms), `acls` (key, pointer to something
// with the list's jute `bytes`).
template <class Sessions>
void append_snapshot_sessions(std::string& out, const Sessions& sessions) {
  append_snapshot_count(out, sessions.size());
  for (const auto& [id, timeout_ms] : sessions) append_snapshot_session(out, id, timeout_ms);
}
template <class Acls>
void append_snapshot_acls(std::string& out, const Acls& acls) {
  append_snapshot_count(out, acls.size());
  for (const auto& [key, list] : acls) append_snapshot_acl(out, key, list->bytes);
}

// --- reading ---

// A record may be larger than what arrives at a time; whoever feeds the parser has to hold one in full.
struct SnapshotLimits {
  std::size_t record_bytes_max = kRecordBytesMax;
};

// Takes records out of bytes as they come in, in pieces of any size. Allocates nothing: what is not yet a
// whole record stays with the caller. A record that comes in many pieces is not looked through again for
// each of them.
//
// After an error the sink has seen a part that it must forget, and the parser takes nothing more.
class SnapshotBodyParser {
 public:
  // The sink outlives the parser. `position` is where the body begins, for messages.
  explicit SnapshotBodyParser(SnapshotSink& sink, const SnapshotLimits& limits = {},
                              std::uint64_t position = 0);

  // Takes all whole records at the front of `bytes`, and none behind the end marker. Returns how many bytes
  // that were; the rest must be at the front of the next call's. An error has code 0: the bytes are wrong.
  IoResult<std::size_t> feed(std::string_view bytes);
  bool done() const { return part_ == Part::kDone; }

  // With fewer bytes than this at hand, feed() will take nothing.
  std::size_t needed() const { return needed_; }
  // How many bytes were taken, counted from the beginning that the constructor was told.
  std::uint64_t position() const { return position_; }
  // Counts and `newest` so far; the seals are not part of the body.
  const SnapshotInfo& info() const { return info_; }

 private:
  enum class Part : std::uint8_t { kSessionCount, kSessions, kAclCount, kAcls, kNodes, kDone, kFailed };

  IoResult<std::size_t> take(std::string_view bytes);
  IoResult<std::size_t> take_count(std::string_view bytes);
  IoResult<std::size_t> take_session(std::string_view bytes);
  IoResult<std::size_t> take_acl(std::string_view bytes);
  // Moves scanned_ over the list's elements; false when the record needs more bytes.
  IoResult<bool> scan_acl(std::string_view bytes);
  IoResult<std::size_t> take_node(std::string_view bytes);
  IoResult<void> measure_node(std::string_view bytes);
  void begin_record();
  IoResult<void> wait_for(std::size_t record_bytes);
  std::unexpected<IoError> corrupt(const char* what);

  SnapshotSink& sink_;
  std::size_t record_bytes_max_;
  std::uint64_t position_;
  Part part_ = Part::kSessionCount;
  std::int32_t records_left_ = 0;  // of the sessions or ACLs that were announced
  std::size_t needed_ = 0;
  // Within an ACL, whose length only its elements tell: how far it was scanned.
  std::size_t scanned_ = 0;
  std::size_t elements_left_ = 0;
  SnapshotInfo info_;
};

}  // namespace drover::storage
