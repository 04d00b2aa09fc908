// SPDX-License-Identifier: Apache-2.0
//
// Connections of clients, and the turns of the fronts that hold them.
#include <utility>

#include "sim/process.h"

namespace drover::sim {

void Process::wake(std::size_t front) {
  if (std::exchange(ports_[front].wake_scheduled, true)) return;
  parts_.world.after(hop(), parts_.actor, [this, front] {
    ports_[front].wake_scheduled = false;
    run_front(front);
  });
}

// One turn of an I/O thread.
void Process::run_front(std::size_t i) {
  if (why_over_) return;
  fronts_[i]->collect();
  const std::uint64_t lists = fronts_[i]->totals().long_lists;
  fronts_[i]->list_on(parts_.clock.now());
  if (fronts_[i]->totals().long_lists != lists) parts_.world.count(Did::kLongList);
  feed_front(i);
  flush_front(i);
  post(i);
  if (fronts_[i]->has_resting()) wake(i);
}

void Process::feed_front(std::size_t i) {
  replica::Front& front = *fronts_[i];
  for (const auto& [slot, socket] : ports_[i].sockets) {
    ClientLink& client = clients_.at(socket);
    if (client.in.empty() || !front.exists(client.conn)) continue;
    client.in.erase(0, front.on_bytes(client.conn, client.in, parts_.clock.now()));
  }
}

void Process::flush_front(std::size_t i) {
  replica::Front& front = *fronts_[i];
  std::vector<replica::ConnId> changed;
  front.take_changed(changed);
  for (const replica::ConnId conn : changed) {
    if (!front.exists(conn)) continue;
    const SocketId socket = ports_[i].sockets.at(conn.slot);
    if (!front.output(conn).empty() && !may_send()) return;
    parts_.network.send(socket, front.output(conn));
    front.output(conn).clear();
    front.on_sent(conn);
    if (front.closing(conn)) {
      close_client(socket);
    } else if (front.reading(conn) && !clients_.at(socket).in.empty()) {
      wake(i);
    }
  }
}

void Process::post(std::size_t i) {
  const replica::ToReplica& outbox = fronts_[i]->outbox();
  if (outbox.empty() && outbox.heard_until == Instant{}) return;
  if (std::exchange(ports_[i].post_scheduled, true)) return;
  parts_.world.after(hop(), parts_.actor, [this, i] {
    ports_[i].post_scheduled = false;
    replica::ToReplica batch = std::exchange(fronts_[i]->outbox(), {});
    input([&](replica::Member& member, replica::Effects& effects) {
      member.on_front(replica::FrontId{static_cast<std::uint32_t>(i)}, batch, parts_.clock.now(),
                      parts_.clock.wall(), effects);
    });
  });
}

void Process::close_client(SocketId socket) {
  const auto found = clients_.find(socket);
  if (found == clients_.end()) return;
  ports_[found->second.front].sockets.erase(found->second.conn.slot);
  fronts_[found->second.front]->close(found->second.conn);
  clients_.erase(found);
  parts_.network.close(socket);
}

}  // namespace drover::sim
