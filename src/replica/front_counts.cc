// SPDX-License-Identifier: Apache-2.0
//
// The counters of a front, for the four-letter words and the metrics.
#include <algorithm>

#include "replica/front.h"

namespace drover::replica {

using wire::OpCode;

void Front::count_reply(Conn& c, const Replied& replied, Instant now) {
  ++stats_.sent;
  stats_.last_response_bytes = replied.bytes;
  stats_.response_bytes.add(replied.bytes);
  totals_.response_bytes += replied.bytes;
  ++c.sent;
  c.last_op = replied.op;
  c.last_xid = replied.xid;
  c.last_zxid = machine_.last_zxid;
  c.last_reply = now;
  // No client waits for the answer to a ping.
  if (replied.op != OpCode::kPing) count_latency(c, replied, now);
}

void Front::count_latency(Conn& c, const Replied& replied, Instant now) {
  const auto latency = static_cast<std::uint32_t>(now - replied.received);
  (replied.is_write ? totals_.update_latency_ms : totals_.read_latency_ms).add(latency);
  c.last_latency_ms = latency;
  c.min_latency_ms = c.latency_count == 0 ? latency : std::min(c.min_latency_ms, latency);
  c.max_latency_ms = std::max(c.max_latency_ms, latency);
  ++c.latency_count;
  c.latency_sum_ms += latency;
  stats_.latency_ms.add(latency);
}

Extremes& FrontTotals::watches_of(wire::EventType type) {
  switch (type) {
    case wire::EventType::kNodeCreated: return created_watches;
    case wire::EventType::kNodeDeleted: return deleted_watches;
    case wire::EventType::kNodeDataChanged: return changed_watches;
    case wire::EventType::kNodeChildrenChanged: break;
  }
  return children_watches;
}

void FrontTotals::add(const FrontTotals& other) { add_fields(kFrontTotalMetrics, *this, other); }

void FrontStats::add(const FrontStats& other) {
  if (other.response_bytes.count > 0) last_response_bytes = other.last_response_bytes;
  add_fields(kFrontStatMetrics, *this, other);
}

Front::ConnFacts Front::facts(const Conn& c) {
  return {.remote = c.remote,
          .secure = c.secure,
          .opened = c.opened,
          .session = c.session,
          .timeout_ms = c.timeout_ms,
          .queued = c.waiting ? c.waiting->size() : 0,
          .reading = !c.closing && c.phase != Phase::kConnecting && c.phase != Phase::kEnding,
          .received = c.received,
          .sent = c.sent,
          .last_op = c.last_op,
          .last_xid = c.last_xid,
          .last_zxid = c.last_zxid,
          .last_reply = c.last_reply,
          .last_latency_ms = c.last_latency_ms,
          .min_latency_ms = c.min_latency_ms,
          .max_latency_ms = c.max_latency_ms,
          .latency_sum_ms = c.latency_sum_ms,
          .latency_count = c.latency_count,
          .watcher = state::WatcherId{c.slot}};
}

void Front::reset_connection_stats() {
  for (const auto& c : conns_) {
    c->received = c->sent = c->latency_count = 0;
    c->last_latency_ms = c->min_latency_ms = c->max_latency_ms = 0;
    c->latency_sum_ms = 0;
    c->last_xid = -1;
    c->last_zxid = Zxid{-1};
  }
}

}  // namespace drover::replica
