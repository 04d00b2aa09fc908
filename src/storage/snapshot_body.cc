// SPDX-License-Identifier: Apache-2.0
#include "storage/snapshot_body.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/ensure.h"

namespace drover::storage {
namespace {

constexpr std::size_t kCountBytes = 4;
constexpr std::size_t kLengthBytes = 4;
constexpr std::size_t kSessionBytes = 12;
constexpr std::size_t kAclHeadBytes = 12;        // key, number of elements
constexpr std::size_t kAclElementBytesMin = 12;  // permissions, two empty strings
constexpr std::size_t kNodeTailBytes = 8 + wire::kStatPersistedBytes;
constexpr const char* kTooLong = "a record is longer than the limit";

std::int32_t length_at(std::string_view bytes, std::size_t offset) {
  return wire::load_be<std::int32_t>(bytes.substr(offset, kLengthBytes).data());
}

std::size_t not_negative(std::int32_t n) { return static_cast<std::size_t>(std::max(n, 0)); }

Zxid newest_of(const wire::StatPersisted& stat) { return std::max({stat.czxid, stat.mzxid, stat.pzxid}); }

}  // namespace

void append_snapshot_count(std::string& out, std::size_t count) {
  ENSURE(count <= std::numeric_limits<std::int32_t>::max(),
         "a snapshot stores the number of sessions and ACLs as an int");
  wire::Writer(out).i32(static_cast<std::int32_t>(count));
}

void append_snapshot_session(std::string& out, SessionId id, std::int32_t timeout_ms) {
  wire::Writer w(out);
  w.i64(raw(id));
  w.i32(timeout_ms);
}

void append_snapshot_acl(std::string& out, std::int64_t key, std::string_view jute_list) {
  wire::Writer w(out);
  w.i64(key);
  w.raw(jute_list);
}

void append_snapshot_node(std::string& out, std::string_view path, const wire::Nullable& data,
                          std::int64_t acl, const wire::StatPersisted& stat) {
  ENSURE(path != kEndMarker, "the root's path is empty in a snapshot: \"/\" marks the end");
  wire::Writer w(out);
  w.string(path);
  w.buffer(data);
  w.i64(acl);
  encode(w, stat);
}

void append_snapshot_end(std::string& out) { wire::Writer(out).string(kEndMarker); }

SnapshotBodyParser::SnapshotBodyParser(SnapshotSink& sink, const SnapshotLimits& limits,
                                       std::uint64_t position)
    : sink_(sink), record_bytes_max_(limits.record_bytes_max), position_(position) {
  begin_record();
}

IoResult<std::size_t> SnapshotBodyParser::feed(std::string_view bytes) {
  if (part_ == Part::kFailed) return corrupt("nothing is read after an error");
  std::size_t taken = 0;
  // Every iteration takes a record, or finds that it needs more bytes than there are.
  while (!done() && bytes.size() - taken >= needed_) {
    TRY_ASSIGN(const std::size_t n, take(bytes.substr(taken)));
    taken += n;
    position_ += n;
  }
  return taken;
}

IoResult<std::size_t> SnapshotBodyParser::take(std::string_view bytes) {
  switch (part_) {
    case Part::kSessionCount:
    case Part::kAclCount: return take_count(bytes);
    case Part::kSessions: return take_session(bytes);
    case Part::kAcls: return take_acl(bytes);
    case Part::kNodes: return take_node(bytes);
    case Part::kDone:
    case Part::kFailed: break;
  }
  ENSURE(false, "nothing is parsed after the end");
  return 0;
}

// Sets the part that the next record belongs to, and its minimum size.
void SnapshotBodyParser::begin_record() {
  if (records_left_ <= 0 && part_ == Part::kSessions) part_ = Part::kAclCount;
  if (records_left_ <= 0 && part_ == Part::kAcls) part_ = Part::kNodes;
  switch (part_) {
    case Part::kSessionCount:
    case Part::kAclCount: needed_ = kCountBytes; return;
    case Part::kSessions: needed_ = kSessionBytes; return;
    case Part::kAcls: needed_ = kAclHeadBytes; return;
    case Part::kNodes: needed_ = kLengthBytes; return;
    case Part::kDone:
    case Part::kFailed: needed_ = 0; return;
  }
}

IoResult<void> SnapshotBodyParser::wait_for(std::size_t record_bytes) {
  if (record_bytes > record_bytes_max_) return corrupt(kTooLong);
  needed_ = record_bytes;
  return {};
}

std::unexpected<IoError> SnapshotBodyParser::corrupt(const char* what) {
  part_ = Part::kFailed;
  needed_ = 0;
  return std::unexpected(data_error("corrupt snapshot at byte " + std::to_string(position_) + ": " + what));
}

// A negative count means zero, as in Java.
IoResult<std::size_t> SnapshotBodyParser::take_count(std::string_view bytes) {
  records_left_ = length_at(bytes, 0);
  part_ = part_ == Part::kSessionCount ? Part::kSessions : Part::kAcls;
  begin_record();
  return kCountBytes;
}

IoResult<std::size_t> SnapshotBodyParser::take_session(std::string_view bytes) {
  wire::Reader r(bytes);
  const SessionId id{r.i64()};
  if (!sink_.session(id, r.i32())) return corrupt("a session was rejected");
  ++info_.sessions;
  --records_left_;
  begin_record();
  return kSessionBytes;
}

IoResult<std::size_t> SnapshotBodyParser::take_acl(std::string_view bytes) {
  if (scanned_ == 0) {
    elements_left_ = not_negative(length_at(bytes, 8));
    scanned_ = kAclHeadBytes;
  }
  TRY_ASSIGN(const bool whole, scan_acl(bytes));
  if (!whole) return 0;
  const std::string_view list = bytes.substr(8, scanned_ - 8);
  if (!sink_.acl(wire::load_be<std::int64_t>(bytes.data()), list)) {
    return corrupt("an ACL was rejected");
  }
  ++info_.acls;
  --records_left_;
  begin_record();
  return std::exchange(scanned_, 0);
}

IoResult<bool> SnapshotBodyParser::scan_acl(std::string_view bytes) {
  for (; elements_left_ > 0; --elements_left_) {
    const std::size_t others = (elements_left_ - 1) * kAclElementBytesMin;
    std::size_t end = scanned_ + 4;                                    // after the permissions
    for (const std::size_t behind : {kLengthBytes, std::size_t{0}}) {  // scheme, id
      // The minimum size of the remaining elements exposes a wrong count.
      const std::size_t least = end + kLengthBytes + behind + others;
      if (bytes.size() < least) {
        TRY(wait_for(least));
        return false;
      }
      const std::int32_t length = length_at(bytes, end);
      if (length < -1) return corrupt("a negative length");
      end += kLengthBytes + not_negative(length);
    }
    scanned_ = end;
  }
  TRY(wait_for(scanned_));
  return bytes.size() >= scanned_;
}

IoResult<std::size_t> SnapshotBodyParser::take_node(std::string_view bytes) {
  wire::Reader r(bytes);
  const wire::Nullable path = r.buffer();
  if (path && *path == kEndMarker) {
    part_ = Part::kDone;
    begin_record();
    return r.position();
  }
  const wire::Nullable data = r.buffer();
  const std::int64_t acl = r.i64();
  const wire::StatPersisted stat = wire::decode_stat_persisted(r);
  if (!path || !r.ok()) {
    // Rare: the last bytes are a part of a node, or garbage.
    TRY(measure_node(bytes));
    return 0;
  }
  if (r.position() > record_bytes_max_) return corrupt(kTooLong);
  if (!sink_.node(*path, data, acl, stat)) return corrupt("a node was rejected");
  ++info_.nodes;
  info_.newest = std::max(info_.newest, newest_of(stat));
  begin_record();
  return r.position();
}

// Computes the size of the node at the front, as far as the available bytes tell.
IoResult<void> SnapshotBodyParser::measure_node(std::string_view bytes) {
  if (bytes.size() < kLengthBytes) return wait_for(kLengthBytes);
  const std::int32_t path_length = length_at(bytes, 0);
  if (path_length < 0) return corrupt("a node has no path");
  const std::size_t path_end = kLengthBytes + not_negative(path_length);
  if (bytes.size() < path_end) return wait_for(path_end);  // It may be the end marker.
  if (bytes.size() < path_end + kLengthBytes) return wait_for(path_end + kLengthBytes);
  const std::int32_t data_length = length_at(bytes, path_end);
  if (data_length < -1) return corrupt("a negative length");
  return wait_for(path_end + kLengthBytes + not_negative(data_length) + kNodeTailBytes);
}

}  // namespace drover::storage
