// SPDX-License-Identifier: Apache-2.0
#include "replica/front.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/ensure.h"
#include "replica/front_auth.h"
#include "replica/session_password.h"
#include "state/eager_acl.h"
#include "state/prepare.h"
#include "wire/replies.h"

namespace drover::replica {
namespace {

using wire::OpCode;

state::WatcherId watcher_of(std::uint32_t slot) { return state::WatcherId{slot}; }

}  // namespace

// Outside of the lock the replica's thread may be changing the queue, so the I/O thread remembers its last
// state.
bool Front::may_read(const Conn& c) const {
  if (c.closing || c.phase == Phase::kConnecting || c.phase == Phase::kEnding) return false;
  return c.below_limit && !c.resting && !c.lists && c.out.size() <= config_.output_high_water_bytes;
}

// globalOutstandingLimit: a client with requests under way waits; a client without any may always send one.
void Front::look_at_limits(Conn& c) {
  const std::size_t mine = c.waiting ? c.waiting->size() : 0;
  const std::size_t my_bytes = c.waiting ? c.waiting->charged_bytes : 0;
  const bool full = outstanding_ >= config_.outstanding_total_max ||
                    outstanding_bytes_ >= config_.outstanding_total_bytes_max;
  const bool too_many_in_all = mine > 0 && full;
  // All reads behind a write are answered at once, so their answers must fit into the output before they
  // queue.
  const bool answers_fit = !c.waiting || c.waiting->reply_bytes < config_.output_high_water_bytes;
  c.below_limit = mine < config_.outstanding_max && my_bytes < config_.outstanding_bytes_max && answers_fit &&
                  !too_many_in_all;
  if (too_many_in_all && !c.throttled) {
    c.throttled = true;
    throttled_.push_back(c.id());
  }
}

void Front::release_throttled() {
  const bool half_full = outstanding_ >= config_.outstanding_total_max / 2 ||
                         outstanding_bytes_ >= config_.outstanding_total_bytes_max / 2;
  if (throttled_.empty() || half_full) return;
  std::vector<ConnId> waiting;
  waiting.swap(throttled_);
  for (const ConnId id : waiting) {
    Conn* c = find(id);
    if (!c) continue;
    c->throttled = false;
    look_at_limits(*c);
    list(*c);
  }
}

bool Front::reading(ConnId id) const { return may_read(*find(id)); }

Front::Conn* Front::find(ConnId id) const {
  if (id.slot >= conns_.size()) return nullptr;
  Conn* c = conns_[id.slot].get();
  return c->in_use && c->generation == id.generation ? c : nullptr;
}

void Front::list(Conn& c) {
  if (c.listed) return;
  c.listed = true;
  changed_.push_back(c.id());
}

void Front::take_changed(std::vector<ConnId>& out) {
  out.clear();
  out.swap(changed_);
  for (const ConnId id : out) {
    if (Conn* c = find(id)) c->listed = false;
  }
}

// Closes the connection once its output is sent.
void Front::end(Conn& c) {
  c.closing = true;
  list(c);
}

ConnId Front::open(const Peer& peer, Instant now) {
  if (free_slots_.empty()) {
    free_slots_.push_back(static_cast<std::uint32_t>(conns_.size()));
    conns_.push_back(std::make_unique<Conn>());
    conns_.back()->slot = free_slots_.back();
  }
  Conn& c = *conns_[free_slots_.back()];
  free_slots_.pop_back();
  c.in_use = true;
  c.ip = peer.ip;
  c.remote = peer.remote;
  c.secure = peer.secure;
  c.opened = now;
  c.who = std::make_shared<const state::Identities>(peer.identities);
  c.who_bytes = static_cast<std::uint32_t>(identity_bytes(peer.identities));
  c.last_heard = now;
  ++open_count_;
  return c.id();
}

void Front::close(ConnId id) {
  Conn* c = find(id);
  if (!c) return;
  // Its client was heard, and may be on its way to another server: the session's time counts from then on.
  if (c->touched && c->phase == Phase::kConnected) outbox_.touched.push_back({c->session, c->last_heard});
  watches_.forget(watcher_of(c->slot));
  forget_waiting(*c);
  drop_output(*c);
  // The slot is free, the generation is not: messages still on their way to this connection find no
  // connection.
  const std::uint32_t slot = c->slot;
  const std::uint32_t generation = c->generation + 1;
  std::destroy_at(c);  // Assignment would keep the buffers' memory.
  std::construct_at(c);
  c->slot = slot;
  c->generation = generation;
  free_slots_.push_back(slot);
  --open_count_;
}

std::size_t Front::on_bytes(ConnId id, std::string_view bytes, Instant now) {
  Conn* c = find(id);
  if (!c) return bytes.size();
  std::size_t taken = 0;
  // The lock on the tree has been held for long enough; this connection is the first to be read next time.
  if ((round_work_ >= config_.work_per_round || is_output_full()) && !c->resting) rest(*c, turned_back_);
  borrow_buffer(*c);
  while (may_read(*c) && bytes.size() - taken >= 4) {
    const auto length = wire::load_be<std::int32_t>(bytes.data() + taken);
    const std::int32_t most = c->phase == Phase::kHandshake
                                  ? std::min(client_limits::kHandshakeBytes, config_.frame_bytes_max)
                                  : config_.frame_bytes_max;
    if (length < 0 || length > most || !has_room_for_large(length)) {
      ++stats_.frames_too_large;
      end(*c);
      return bytes.size();
    }
    const std::size_t frame = 4 + static_cast<std::size_t>(length);
    if (bytes.size() - taken < frame) break;
    stats_.bytes_received += frame;
    on_frame(*c, bytes.substr(taken + 4, frame - 4), now);
    taken += frame;
    count_output(*c);
    if (is_output_full() && !c->resting) rest(*c, worked_off_);
  }
  if (!c->out.empty() || !may_read(*c)) list(*c);
  return taken;
}

// Looked at when a frame begins to arrive, and again when it is there.
bool Front::has_room_for_large(std::int32_t length) const {
  if (length <= config_.large_request_threshold) return true;
  return config_.large_request_bytes->load(std::memory_order_relaxed) + length <=
         config_.large_requests_max_bytes;
}

// The same length as in has_room_for_large().
std::int64_t Front::large_bytes_of(const Waiting::Entry& entry) const {
  const auto length = static_cast<std::int64_t>(entry.body_bytes + wire::kRequestHeaderBytes);
  return length > config_.large_request_threshold ? length : 0;
}

void Front::count_large(std::int64_t bytes) const {
  if (bytes != 0) config_.large_request_bytes->fetch_add(bytes, std::memory_order_relaxed);
}

void Front::on_frame(Conn& c, std::string_view frame, Instant now) {
  ++stats_.received;
  ++c.received;
  c.last_heard = now;
  if (c.phase == Phase::kHandshake) return on_connect(c, frame, now);
  if (frame.size() < wire::kRequestHeaderBytes) return end(c);
  c.touched = true;
  const wire::RequestHeader header{wire::load_be<std::int32_t>(frame.data()),
                                   static_cast<OpCode>(wire::load_be<std::int32_t>(frame.data() + 4))};
  on_request(c, header, frame.substr(wire::kRequestHeaderBytes), now);
}

void Front::on_connect(Conn& c, std::string_view frame, Instant) {
  const auto request = wire::decode_connect_request(frame);
  totals_.not_served += serving_ == Serving::kNo ? 1 : 0;
  if (!request || serving_ == Serving::kNo) return end(c);
  if (serving_ == Serving::kReadOnly && !request->read_only) return end(c);
  // This client has seen more than this server has; it must find a server that is as new.
  if (request->last_zxid_seen > std::max(machine_.last_zxid, floor_)) {
    ++stats_.zxid_ahead;
    return end(c);
  }
  c.old_client = !request->has_read_only;
  c.timeout_ms =
      std::clamp(request->timeout_ms, config_.session_timeout_min_ms, config_.session_timeout_max_ms);
  c.phase = Phase::kConnecting;
  list(c);
  if (raw(request->session) != 0 && !is_session_password(request->session, request->password))
    return answer_connect(c, /*valid=*/false);
  outbox_.sessions.push_back({c.id(), request->session, c.timeout_ms, c.ip});
}

void Front::answer_connect(Conn& c, bool valid) {
  wire::ConnectResponse response;
  const auto password = valid ? session_password(c.session) : std::array<char, 16>{};
  response.password = {password.data(), password.size()};
  response.timeout_ms = valid ? c.timeout_ms : 0;
  response.session = valid ? c.session : SessionId{};
  response.has_read_only = !c.old_client;
  response.read_only = serving_ == Serving::kReadOnly;
  {
    wire::Frame frame(c.out);
    wire::Writer w(c.out);
    wire::encode(w, response);
  }
  ++stats_.sent;
  ++c.sent;
  c.last_op = OpCode::kCreateSession;
  c.last_zxid = machine_.last_zxid;
  if (valid) {
    c.phase = Phase::kConnected;
    list(c);
  } else {
    c.session = SessionId{};
    end(c);
  }
}

void Front::on_request(Conn& c, const wire::RequestHeader& header, std::string_view body, Instant now) {
  if (header.op == OpCode::kAuth) return on_auth(c, header, body);
  if (header.op == OpCode::kSasl) return on_sasl(c, header, body);
  if (serving_ == Serving::kNo) return end(c);
  if (!is_authenticated(c)) return refuse(c, header, ErrorCode::kSessionClosedRequireSaslAuth, Zxid{});
  if (header.op == OpCode::kCreateSession) return refuse(c, header, ErrorCode::kUnimplemented, Zxid{-1});
  // Only servers may send this: it checks no ACL. Java (3.9.6) closes without an answer, too.
  if (header.op == OpCode::kDeleteContainer) return end(c);
  // A sync shows everything that was requested before it, also by the session's earlier connections. So it
  // waits in the same queue as the writes.
  if (state::is_write(header.op) || header.op == OpCode::kSync) {
    const bool changes = header.op != OpCode::kCloseSession;
    if (serving_ == Serving::kReadOnly && changes) return refuse_to_change(c, header, now);
    if (config_.eager_acl && refuse_early(c, header, body, now)) return;
    return forward(c, header, body, now);
  }
  if (!state::is_read(header.op)) return refuse(c, header, ErrorCode::kUnimplemented, Zxid{-1});
  if (c.waiting) return wait(c, header, body, now);
  const auto work =
      answer(c, {header.xid, header.op, body, c.who.get(), now}, now, c.out, config_.children_at_once);
  if (!work) {
    wait(c, header, body, now);
    return lists_due_.push_back(c.id());
  }
  if (*work > 0) count_work(c, *work);
}

// Few reads visit more than one node, but those that do may come in thousands. A connection that has used its
// share waits until the lock on the tree was free for a moment.
void Front::count_work(Conn& c, std::size_t work) {
  if (c.work_round != round_) c.work = 0;
  c.work_round = round_;
  c.work += static_cast<std::uint32_t>(work);
  round_work_ += work;
  const bool enough = c.work >= config_.work_per_connection || round_work_ >= config_.work_per_round;
  if (enough && !c.resting) rest(c, worked_off_);
}

void Front::rest(Conn& c, std::vector<ConnId>& list) {
  c.resting = true;
  list.push_back(c.id());
  ++totals_.rested;
}

void Front::begin_round() {
  ++round_;
  round_work_ = 0;
  for (std::vector<ConnId>* resting : {&turned_back_, &worked_off_}) {
    for (const ConnId id : *resting) {
      Conn* c = find(id);
      if (!c) continue;
      c->resting = false;
      list(*c);
    }
    resting->clear();
  }
}

// Answers with an error and then closes the connection.
void Front::refuse(Conn& c, const wire::RequestHeader& header, ErrorCode error, Zxid zxid) {
  wire::append_bare_reply(c.out, {header.xid, zxid, error});
  ++stats_.sent;
  ++c.sent;
  end(c);
}

// Only while nothing of this connection is under way: an earlier request may give the permission, and the
// reply must not overtake others. (Java's does, and its clients then close the connection.) The zxid is
// Java's.
bool Front::refuse_early(Conn& c, const wire::RequestHeader& header, std::string_view body, Instant now) {
  if (c.waiting) return false;
  const ErrorCode error = state::eager_refusal(machine_, header.op, body, *c.who);
  if (error == ErrorCode::kOk) return false;
  const std::size_t from = c.out.size();
  wire::append_bare_reply(c.out, {header.xid, Zxid{}, error});
  count_reply(c, {header.op, header.xid, now, /*is_write=*/true, c.out.size() - from}, now);
  const std::size_t offset = outbox_.bytes.size();
  outbox_.bytes.append(body);
  outbox_.refused.push_back({c.id(), c.session, header.xid, header.op, offset, body.size(), c.who});
  return true;
}

// Without a leader nothing can be changed, and this server does not know how far the others are.
void Front::refuse_to_change(Conn& c, const wire::RequestHeader& header, Instant now) {
  const std::size_t from = c.out.size();
  wire::append_bare_reply(c.out, {header.xid, machine_.last_zxid, ErrorCode::kNotReadOnly});
  count_reply(c, {header.op, header.xid, now, /*is_write=*/true, c.out.size() - from}, now);
}

void Front::enqueue(Conn& c, Waiting::Entry entry, std::string_view body) {
  if (!c.waiting) {
    if (spare_.empty()) {
      c.waiting = std::make_unique<Waiting>();
    } else {
      c.waiting = std::move(spare_.back());
      spare_.pop_back();
    }
  }
  Waiting& waiting = *c.waiting;
  entry.body_bytes = static_cast<std::uint32_t>(body.size());
  entry.offset = waiting.bytes.size();
  // A sync is answered like a read, once the leader has answered.
  if (!entry.is_write || entry.op == OpCode::kSync) waiting.bytes.append(body);
  // A follower sends the identities along with every write.
  entry.charged_bytes = static_cast<std::uint32_t>(body.size() + (entry.is_write ? c.who_bytes : 0));
  waiting.charged_bytes += entry.charged_bytes;
  const std::int64_t large_bytes = large_bytes_of(entry);
  waiting.large_bytes += large_bytes;
  count_large(large_bytes);
  waiting.reply_bytes += entry.reply_bytes;
  outstanding_bytes_ += entry.charged_bytes;
  waiting.entries.push_back(std::move(entry));
  ++outstanding_;
  look_at_limits(c);
}

void Front::forward(Conn& c, const wire::RequestHeader& header, std::string_view body, Instant now) {
  ++totals_.writes;
  enqueue(c,
          {.is_write = true,
           .xid = header.xid,
           .op = header.op,
           .received = now,
           .reply_bytes = 0,
           .who = header.op == OpCode::kSync ? c.who : nullptr},
          body);
  // Nothing after it on this connection is read.
  if (header.op == OpCode::kCloseSession) c.phase = Phase::kEnding;
  const std::size_t offset = outbox_.bytes.size();
  outbox_.bytes.append(body);
  outbox_.writes.push_back({c.id(), c.session, header.xid, header.op, offset, body.size(), c.who});
}

void Front::wait(Conn& c, const wire::RequestHeader& header, std::string_view body, Instant now) {
  const std::size_t reply_bytes = state::reply_bytes_estimate(machine_, c.session, header.op, body);
  const bool lists = header.op == OpCode::kGetChildren || header.op == OpCode::kGetChildren2;
  const bool is_long_list = lists && reply_bytes > config_.children_at_once * state::kChildBytesEstimate;
  c.lists = is_long_list;
  enqueue(c,
          {.is_write = false,
           .is_long_list = is_long_list,
           .xid = header.xid,
           .op = header.op,
           .received = now,
           .reply_bytes = reply_bytes,
           .who = c.who},
          body);
}

state::ReadRequest Front::read_request(const Conn& c, const Read& read) const {
  return {.session = c.session,
          .xid = read.op == OpCode::kPing ? wire::kPingXid : read.xid,
          .op = read.op,
          .body = read.body,
          .who = read.who,
          .watcher = watcher_of(c.slot),
          .reply_bytes_max = config_.output_max_bytes};
}

std::optional<std::size_t> Front::answer(Conn& c, const Read& read, Instant now, std::string& out,
                                         std::size_t children_max) {
  const std::size_t from = out.size();
  state::ReadRequest request = read_request(c, read);
  request.children_max = children_max;
  const state::ReadOutcome outcome = state::answer_read(machine_, watches_, config_.watches, request, out);
  if (outcome.has_too_many_children) return std::nullopt;
  if (outcome.error == ErrorCode::kQuotaExceeded) {
    const bool large = read.op == OpCode::kMultiRead || read.op == OpCode::kGetEphemerals;
    ++(large ? totals_.replies_refused : totals_.watches_refused);
  }
  count_reply(c, {read.op, read.xid, read.received, /*is_write=*/false, out.size() - from}, now);
  return outcome.looked_at;
}

void Front::on_tick(Instant read_until) {
  for (const auto& c : conns_) {
    if (!c->in_use || c->phase != Phase::kConnected) continue;
    if (std::exchange(c->touched, false)) outbox_.touched.push_back({c->session, c->last_heard});
    // Clients ping three times as often, so this one is gone. Its session may live on at another server; then
    // no other code would close the connection.
    if (c->closing || read_until - c->last_heard <= c->timeout_ms) continue;
    ++stats_.silent_closed;
    end(*c);
  }
  outbox_.heard_until = read_until;
}

}  // namespace drover::replica
