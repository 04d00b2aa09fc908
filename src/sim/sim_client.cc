// SPDX-License-Identifier: Apache-2.0
#include "sim/sim_client.h"

#include <algorithm>
#include <utility>

#include "wire/jute.h"
#include "wire/records.h"

namespace drover::sim {
SimClient::SimClient(const Parts& parts, const WorkloadClientConfig& config)
    : parts_(parts),
      host_{kFirstClient + config.number},
      servers_(config.servers),
      actor_(parts.world.new_actor()),
      client_(config, parts.oracle),
      random_(parts.world.fork(kFirstClient * 100 + config.number)) {}

SimClient::~SimClient() {
  parts_.world.stop(actor_);
  parts_.network.detach(host_, Farewell::kReset);
}

void SimClient::start() {
  if (leaving_) return;
  parts_.network.attach(host_, *this, actor_);
  input([this](Instant now, client::SessionEffects& effects) { client_.start(now, effects); });
}

void SimClient::rest() {
  resting_ = true;
  client_.rest();
}

void SimClient::leave() {
  leaving_ = true;
  input([this](Instant now, client::SessionEffects& effects) { client_.leave(now, effects); });
}

void SimClient::probe(wire::OpCode op, std::string_view body) {
  input([&](Instant now, client::SessionEffects& effects) { client_.probe(op, body, now, effects); });
}

void SimClient::move() {
  input([this](Instant now, client::SessionEffects& effects) { client_.move(now, effects); });
  closes_late_.reset();  // A script decides itself what comes over the old connection.
}

void SimClient::on_connected(SocketId socket) {
  if (socket_ != socket) return;
  input([this](Instant now, client::SessionEffects& effects) { client_.on_connected(now, effects); });
}

void SimClient::on_bytes(SocketId socket, std::string_view bytes) {
  if (socket_ != socket) return;
  input([&](Instant now, client::SessionEffects& effects) { client_.on_bytes(bytes, now, effects); });
}

void SimClient::on_closed(SocketId socket) {
  half_open_.erase(socket);
  if (socket_ != socket) return;
  socket_.reset();
  input([this](Instant now, client::SessionEffects& effects) { client_.on_disconnected(now, effects); });
}

void SimClient::carry_out(const client::SessionEffects& effects) {
  if (effects.hang_up && socket_) {
    const SocketId left = *std::exchange(socket_, std::nullopt);
    client_.take_left_open() ? leave_open(left) : parts_.network.close(left);
  }
  if (effects.dial) socket_ = parts_.network.dial(host_, host_of(servers_[*effects.dial]), Port::kClient);
  if (socket_) parts_.network.send(*socket_, effects.send);
  if (closes_late_ && client_.is_connected()) close_late(*std::exchange(closes_late_, std::nullopt));
  arm_timer();
}

void SimClient::leave_open(SocketId socket) {
  parts_.world.count(Did::kLeftOpen);
  half_open_.insert(socket);
  if (one_in(random_, 3)) closes_late_ = socket;
}

// The client has moved to another server. But something that it sent before, or another owner of its
// password, still ends the session over the old connection.
void SimClient::close_late(SocketId socket) {
  constexpr std::int32_t kXid = 0x7fff'0000;  // never used by the session itself
  parts_.world.after(between(random_, 0, 50 * kMillisecond), actor_, [this, socket] {
    if (resting_ || !half_open_.contains(socket)) return;
    parts_.world.count(Did::kLateClose);
    std::string bytes;
    {
      wire::Frame frame(bytes);
      wire::Writer w(bytes);
      w.i32(kXid);
      w.i32(static_cast<std::int32_t>(wire::OpCode::kCloseSession));
    }
    parts_.network.send(socket, bytes);
  });
}

void SimClient::arm_timer() {
  const auto next = client_.next_time();
  if (next == timer_at_) return;
  timer_at_ = next;
  ++timer_;
  if (!next) return;
  const Micros wait = std::max<Micros>(1, next->ms * kMillisecond - parts_.world.now());
  parts_.world.after(wait, actor_, [this, timer = timer_] {
    if (timer != timer_) return;
    timer_at_.reset();
    input([this](Instant now, client::SessionEffects& effects) { client_.on_time(now, effects); });
  });
}

std::string SimClient::describe() const {
  return "client " + std::to_string(static_cast<std::uint32_t>(host_)) +
         (client_.is_connected() ? " connected" : " not connected") + ", " +
         std::to_string(client_.outstanding()) + " calls under way";
}

}  // namespace drover::sim
