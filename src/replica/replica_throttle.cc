// SPDX-License-Identifier: Apache-2.0
//
// ZooKeeper's request throttle (request_throttle_*): a limit for requests that this server works on. Others
// wait here, in the order in which they came. Reads do not wait, unless they are behind a write that does: an
// I/O thread answers them at once.
//
// Everything happens under the writer lock, so that the front can say whether a connection still exists.
#include "base/ensure.h"
#include "replica/replica.h"

namespace drover::replica {

using wire::OpCode;

bool Replica::is_of_client(const InFlight& waiting) {
  return waiting.front && waiting.op != OpCode::kCreateSession;
}

void Replica::enter(std::deque<InFlight>& queue, InFlight waiting) {
  working_ += is_of_client(waiting) ? 1 : 0;
  queue.push_back(std::move(waiting));
}

Replica::InFlight Replica::leave(std::deque<InFlight>& queue) {
  InFlight first = std::move(queue.front());
  queue.pop_front();
  if (is_of_client(first)) {
    ENSURE(working_ > 0, "a request that ends has begun");
    --working_;
  }
  return first;
}

void Replica::submit(FrontId front, const ClientWrite& write, std::string_view body, Instant now,
                     WallTime wall, Effects& effects) {
  if (config_.request_throttle.requests_max == 0) return begin(front, write, body, wall, effects);
  throttled_.push_back({front, write, std::string(body), now});
}

void Replica::begin(FrontId front, const ClientWrite& write, std::string_view body, WallTime wall,
                    Effects& effects) {
  if (service_ == Service::kLearning) return forward(front, write, body, effects);
  on_write(front, write, body, wall, effects);
}

bool Replica::has_releasable() const {
  if (throttled_.empty()) return false;
  return look_for_stale_ || working_ < config_.request_throttle.requests_max;
}

void Replica::release_throttled(Instant now, WallTime wall, Effects& effects) {
  look_for_stale_ = false;
  while (!throttled_.empty()) {
    const bool stale = is_stale(throttled_.front(), now);
    const bool drops = stale && config_.request_throttle.drop_stale;
    if (!drops && working_ >= config_.request_throttle.requests_max) break;
    const Throttled next = std::move(throttled_.front());
    throttled_.pop_front();
    if (drops) {
      drop_stale(next, effects);
      continue;
    }
    stats_.stale_requests += stale ? 1 : 0;
    stats_.throttled_ms.add(static_cast<std::uint64_t>(now - next.since));
    if (waited_too_long(next, now)) {
      refuse_throttled(next);
    } else {
      begin(next.front, next.write, next.body, wall, effects);
    }
  }
  if (service_ == Service::kLeading) hand_over(effects);
}

// A closeSession outlives its connection, because it makes room.
bool Replica::is_stale(const Throttled& request, Instant now) {
  if (request.write.op == OpCode::kCloseSession) return false;
  const RequestThrottleLimits& limits = config_.request_throttle;
  if (limits.stale_by_connection && !front(request.front).exists(request.write.conn)) return true;
  const auto session = sessions_.find(request.write.session);
  return limits.stale_by_latency && session != sessions_.end() &&
         now - request.since > session->second.timeout_ms;
}

// The connection ends, and nothing else of it is carried out: requests of a session have an order.
void Replica::drop_stale(const Throttled& request, Effects& effects) {
  ++stats_.stale_requests_dropped;
  const auto session = sessions_.find(request.write.session);
  const bool speaks = session != sessions_.end() && session->second.front == request.front &&
                      session->second.conn == request.write.conn;
  if (speaks) session->second.front.reset();
  effects.answers.push_back({SessionAnswer::Kind::kDropped, request.front, request.write.conn, {}});
}

bool Replica::waited_too_long(const Throttled& request, Instant now) const {
  const std::int64_t most = config_.request_throttle.wait_max_ms;
  return most > 0 && request.write.op != OpCode::kCloseSession && now - request.since > most;
}

// Answered in its turn, like every refusal. A leader is not asked.
void Replica::refuse_throttled(const Throttled& request) {
  ++stats_.throttled_ops;
  InFlight waiting = waiting_for(request.front, request.write, request.body);
  waiting.refusal = ErrorCode::kThrottledOp;
  if (service_ == Service::kLeading) return enter(in_flight_, std::move(waiting));
  await_own_answer(std::move(waiting));
}

}  // namespace drover::replica
