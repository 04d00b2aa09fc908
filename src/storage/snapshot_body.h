// SPDX-License-Identifier: Apache-2.0
//
// The part that a snapshot file and a leader's stream to a learner have in common: sessions, access control
// lists and nodes up to the end marker (storage/snapshot_format.h shows the bytes).
//
// Functions append it to a buffer, and a parser reads it from bytes that it is fed. Neither knows where the
// bytes come from or go to, so files and sockets share both.
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

// A record may arrive in several pieces; the caller of the parser has to buffer one complete record.
struct SnapshotLimits {
  std::size_t record_bytes_max = kRecordBytesMax;
};

// Parses records from bytes that arrive in pieces of any size. Allocates nothing: the caller keeps an
// incomplete record. A record that arrives in many pieces is not scanned again for each of them.
//
// After an error the sink must discard the part that it has seen, and the parser accepts nothing more.
class SnapshotBodyParser {
 public:
  // The sink outlives the parser. `position` is where the body starts, for error messages.
  explicit SnapshotBodyParser(SnapshotSink& sink, const SnapshotLimits& limits = {},
                              std::uint64_t position = 0);

  // Takes all complete records at the front of `bytes`, and nothing after the end marker. Returns the number
  // of bytes taken; the next call must start with the rest. An error has code 0: the bytes are corrupt.
  IoResult<std::size_t> feed(std::string_view bytes);
  bool done() const { return part_ == Part::kDone; }

  // With fewer bytes than this, feed() takes nothing.
  std::size_t needed() const { return needed_; }
  // The number of bytes taken, plus the start position that the constructor got.
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
  std::int32_t records_left_ = 0;  // of the announced sessions or ACLs
  std::size_t needed_ = 0;
  // How far the current ACL was scanned: only its elements tell its length.
  std::size_t scanned_ = 0;
  std::size_t elements_left_ = 0;
  SnapshotInfo info_;
};

}  // namespace drover::storage
