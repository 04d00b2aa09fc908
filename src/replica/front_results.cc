// SPDX-License-Identifier: Apache-2.0
//
// The replica's side of the front: turns transactions into events, replies, and answers to reads that waited.
// All but collect() run on the replica's thread, under the writer lock.
#include <algorithm>

#include "base/ensure.h"
#include "replica/front.h"
#include "replica/reply.h"
#include "wire/replies.h"

namespace drover::replica {
namespace {

using wire::OpCode;

constexpr std::size_t kSpareQueues = 64;
constexpr std::size_t kSpareQueueBytes = 64 * 1024;
constexpr std::size_t kStagedKeptBytes = 4 << 20;
constexpr std::size_t kAnsweredKept = 64;
constexpr std::size_t kBytesPerLook = 32;  // a visited node counts as this much output

bool says_moved(const state::ApplyResult& result) {
  if (result.type == OpCode::kError) return result.error == ErrorCode::kSessionMoved;
  return std::any_of(result.multi.begin(), result.multi.end(), says_moved);
}

}  // namespace

void Front::stage_bytes(Conn& c, std::size_t from, Staged::Kind kind) {
  const std::size_t offset = from;
  const std::size_t length = staged_bytes_.size() - from;
  if (!staged_.empty()) {
    Staged& last = staged_.back();
    const bool continues =
        last.kind == Staged::Kind::kBytes && last.conn == c.id() && last.offset + last.length == offset;
    if (continues) {
      last.length += length;
      last.kind = kind;
      return;
    }
  }
  staged_.push_back({kind, c.id(), offset, length, {}});
}

void Front::on_events(const state::TreeEvents& events, Zxid zxid) {
  if (watches_.empty()) return;
  for (const state::TreeEvent& event : events.list) {
    watches_.fire(event.type, event.path, fired_);
    if (fired_.empty()) continue;
    totals_.watches_of(event.type).add(fired_.size());
    // All watchers get the same bytes.
    const std::size_t from = staged_bytes_.size();
    wire::append_event(staged_bytes_, event.type, event.path, zxid);
    const std::size_t bytes = staged_bytes_.size() - from;
    for (const state::WatcherId watcher : fired_) {
      Conn& c = *conns_[static_cast<std::size_t>(watcher)];
      if (c.dropped) continue;
      if (event.acl && !state::is_allowed(*event.acl, wire::kRead, *c.who, machine_.options)) continue;
      if (!has_room_for_event(c, bytes)) continue;
      stage_bytes(c, from, Staged::Kind::kBytes);
      totals_.watch_bytes += bytes;
      ++stats_.sent;
      ++c.sent;
    }
  }
}

// One batch of transactions may have any number of events for any number of watchers. A connection that would
// get more than an output may hold is closed while the events are gathered: afterwards there may be no memory
// left.
bool Front::has_room_for_event(Conn& c, std::size_t bytes) {
  if (c.staged_bytes + bytes <= staged_bytes_max()) {
    c.staged_bytes += static_cast<std::uint32_t>(bytes);
    staged_event_bytes_ += bytes + sizeof(Staged);
    return true;
  }
  ++totals_.event_overflows;
  drop(c);
  watches_.forget(state::WatcherId{c.slot});  // The rest of the batch need not look for it.
  return false;
}

// The limit for one connection. It shrinks when memory is short, so that watchers of few nodes stay when
// watchers of everything go. It is zero when twice the total limit is reached.
std::size_t Front::staged_bytes_max() const {
  const std::size_t limit = config_.staged_total_max_bytes;
  if (staged_event_bytes_ <= limit) return config_.output_max_bytes;
  const std::size_t left = 2 * limit - std::min(staged_event_bytes_, 2 * limit);
  // The cost of staging counts too: about as much as the events.
  return static_cast<std::size_t>(static_cast<double>(left) / static_cast<double>(limit) *
                                  static_cast<double>(config_.output_high_water_bytes / 2));
}

void Front::on_result(ConnId id, const WriteResult& result, Instant now) {
  Conn* c = find(id);
  if (!c || c->dropped) {
    ++totals_.stale_replies;
    return;
  }
  ENSURE(c->waiting && c->waiting->size() > 0 && c->waiting->entries[c->waiting->head].is_write,
         "a write's result finds the write at the head of the queue");
  const Waiting::Entry write = dequeue(*c);
  const std::size_t from = staged_bytes_.size();
  // Another server has this session now; Java closes without an answer, too.
  if (result.applied && says_moved(*result.applied)) return drop(*c);
  const bool synced = result.op == OpCode::kSync && result.error == ErrorCode::kOk;
  if (synced) {
    const std::string_view body = std::string_view(c->waiting->bytes).substr(write.offset, write.body_bytes);
    answer(*c, {write.xid, write.op, body, write.who.get(), write.received}, now, staged_bytes_);
  } else if (result.applied) {
    append_write_reply(staged_bytes_, result.op, result.xid, machine_.last_zxid, *result.applied);
  } else {
    wire::append_bare_reply(staged_bytes_, {result.xid, machine_.last_zxid, result.error});
  }
  if (!synced) {
    count_reply(*c, {write.op, write.xid, write.received, /*is_write=*/true, staged_bytes_.size() - from},
                now);
  }
  if (!answer_waiting(*c, from, now)) {
    staged_bytes_.resize(from);
    return drop(*c);
  }
  recycle(*c);
  const bool ends = result.op == OpCode::kCloseSession;
  stage_bytes(*c, from, ends ? Staged::Kind::kLastBytes : Staged::Kind::kBytes);
  if (has_list_at_head(*c)) staged_.push_back({Staged::Kind::kList, c->id(), 0, 0, {}});
}

Front::Waiting::Entry Front::dequeue(Conn& c) {
  Waiting::Entry entry = std::move(c.waiting->entries[c.waiting->head++]);
  c.waiting->charged_bytes -= entry.charged_bytes;
  c.waiting->reply_bytes -= entry.reply_bytes;
  const std::int64_t large_bytes = large_bytes_of(entry);
  c.waiting->large_bytes -= large_bytes;
  count_large(-large_bytes);
  --outstanding_;
  outstanding_bytes_ -= entry.charged_bytes;
  return entry;
}

// Answers the reads up to the next write, from the state that the write before them made. A long list is left
// to the I/O thread: it is the last request, so no later write can have changed the state. False if the
// answers are more than a connection may have in its output or all together in one batch, or if they visit as
// many nodes as that: small requests must neither fill the memory with large answers nor delay all other
// clients.
bool Front::answer_waiting(Conn& c, std::size_t from, Instant now) {
  Waiting& waiting = *c.waiting;
  std::size_t looked_at = 0;
  while (waiting.size() > 0 && !waiting.entries[waiting.head].is_write && !has_list_at_head(c)) {
    if (staged_bytes_.size() - from > config_.output_max_bytes) return false;
    if (staged_bytes_.size() > 2 * config_.staged_total_max_bytes) return false;
    if (looked_at > config_.output_max_bytes / kBytesPerLook) return false;
    const Waiting::Entry read = dequeue(c);
    const std::string_view body = std::string_view(waiting.bytes).substr(read.offset, read.body_bytes);
    looked_at += *answer(c, {read.xid, read.op, body, read.who.get(), read.received}, now, staged_bytes_);
  }
  return true;
}

// Recycles an empty queue. A queue that never empties drops its answered entries.
void Front::recycle(Conn& c) {
  Waiting& waiting = *c.waiting;
  if (waiting.size() > 0) return waiting.forget_answered();
  waiting.entries.clear();
  waiting.head = 0;
  waiting.bytes.clear();
  const bool worth_keeping = spare_.size() < kSpareQueues && waiting.bytes.capacity() <= kSpareQueueBytes;
  if (worth_keeping) spare_.push_back(std::move(c.waiting));
  c.waiting.reset();
}

void Front::Waiting::forget_answered() {
  if (head < kAnsweredKept || head < size()) return;  // Moving the rest costs no more than what was answered.
  entries.erase(entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(head));
  head = 0;
  const std::size_t gone = entries.front().offset;
  bytes.erase(0, gone);
  for (Entry& entry : entries) entry.offset -= gone;
}

void Front::forget_waiting(Conn& c) {
  if (!c.waiting) return;
  outstanding_ -= c.waiting->size();
  outstanding_bytes_ -= c.waiting->charged_bytes;
  count_large(-c.waiting->large_bytes);
  c.waiting.reset();
}

void Front::set_serving(Serving serving, Zxid floor) {
  serving_ = serving;
  floor_ = floor;
  if (serving != Serving::kNo) return;
  for (const auto& c : conns_) {
    if (!c->in_use || c->dropped) continue;
    forget_waiting(*c);
    c->dropped = true;
    staged_.push_back({Staged::Kind::kDrop, c->id(), 0, 0, {}});
  }
}

// The connection ends here; results of its requests under way are dropped.
void Front::drop(Conn& c) {
  ++stats_.output_overflows;
  forget_waiting(c);
  c.dropped = true;
  staged_.push_back({Staged::Kind::kDrop, c.id(), 0, 0, {}});
}

std::size_t Front::shed(std::size_t percentage) {
  std::size_t shed = 0;
  std::size_t due = 0;  // in hundredths of a connection
  for (const auto& c : conns_) {
    if (!c->in_use || c->phase != Phase::kConnected || c->dropped) continue;
    due += percentage;
    if (due < 100) continue;
    due -= 100;
    ++shed;
    forget_waiting(*c);
    c->dropped = true;
    staged_.push_back({Staged::Kind::kDrop, c->id(), 0, 0, {}});
  }
  return shed;
}

void Front::on_session_answer(const SessionAnswer& answer) {
  auto kind = Staged::Kind::kDrop;
  if (answer.kind == SessionAnswer::Kind::kThere) kind = Staged::Kind::kSession;
  if (answer.kind == SessionAnswer::Kind::kNot) kind = Staged::Kind::kNoSession;
  staged_.push_back({kind, answer.conn, 0, 0, answer.session});
}

void Front::collect() {
  begin_round();
  evict_unread();
  const std::string_view bytes = staged_bytes_;
  for (const Staged& item : staged_) {
    Conn* c = find(item.conn);
    if (!c) continue;
    c->staged_bytes = 0;
    switch (item.kind) {
      case Staged::Kind::kBytes:
      case Staged::Kind::kLastBytes:
        check_output(*c);
        if (c->closing) break;
        borrow_buffer(*c);
        tail(*c).append(bytes.substr(item.offset, item.length));
        if (item.kind == Staged::Kind::kLastBytes) end(*c);
        break;
      case Staged::Kind::kList: lists_due_.push_back(c->id()); break;
      case Staged::Kind::kSession:
        c->session = item.session;
        answer_connect(*c, /*valid=*/true);
        break;
      case Staged::Kind::kNoSession: answer_connect(*c, /*valid=*/false); break;
      case Staged::Kind::kDrop: end(*c); break;
    }
    count_output(*c);
    look_at_limits(*c);
    list(*c);
  }
  release_throttled();
  staged_.clear();
  staged_bytes_.clear();
  staged_event_bytes_ = 0;
  if (staged_bytes_.capacity() > kStagedKeptBytes) std::string().swap(staged_bytes_);
}

}  // namespace drover::replica
