// SPDX-License-Identifier: Apache-2.0
#include "sim/recipe_client.h"

#include <algorithm>
#include <utility>

#include "client/op_words.h"
#include "wire/jute.h"
#include "wire/replies.h"
#include "wire/requests.h"

namespace drover::sim {
namespace {

using client::word_of;
using wire::OpCode;

// Takes whole frames off the front, without their lengths; ends early if `take` says so.
template <class Take>
void take_frames(std::string& bytes, Take take) {
  while (bytes.size() >= 4) {
    const auto length = static_cast<std::size_t>(wire::load_be<std::int32_t>(bytes.data()));
    if (bytes.size() < 4 + length) return;
    const std::string frame = bytes.substr(0, 4 + length);
    bytes.erase(0, 4 + length);
    if (!take(frame)) return;
  }
}

}  // namespace

RecipeClient::RecipeClient(const Parts& parts, HostId host, const client::EngineOptions& options)
    : parts_(parts), host_(host), actor_(parts.world.new_actor()) {
  parts_.network.attach(host_, *this, actor_);
  using std::chrono::milliseconds;
  // Like Options for a user's client.
  const auto retry = RetryPolicy::exponential(milliseconds(50), milliseconds(2000), 10);
  auto made = client::VirtualDriver::make(*this, options, now(), {}, retry);
  driver_ = made.driver;
  client_.emplace(std::move(made.client));
  settle();
}

RecipeClient::~RecipeClient() {
  parts_.world.stop(actor_);
  parts_.network.detach(host_, Farewell::kReset);
}

void RecipeClient::settle() {
  driver_->on_time(now());
  arm_timer();
}

void RecipeClient::run(std::move_only_function<void()> work) {
  driver_->on_time(now());
  driver_->run(std::move(work));
  arm_timer();
}

// --- the network side ---

void RecipeClient::on_connected(SocketId socket) {
  if (socket_ != socket) return;
  driver_->on_connected(now());
  arm_timer();
}

void RecipeClient::on_bytes(SocketId socket, std::string_view bytes) {
  if (socket_ != socket) return;
  in_ += bytes;
  take_frames(in_, [&](const std::string& frame) {
    if (!on_reply(std::string_view(frame).substr(4))) {
      disconnect();
      return false;
    }
    driver_->on_bytes(frame, now());
    return socket_ == socket;  // The client may have hung up because of this.
  });
  arm_timer();
}

void RecipeClient::on_closed(SocketId socket) {
  if (socket_ != socket) return;
  socket_.reset();
  driver_->on_disconnected(now());
  arm_timer();
}

void RecipeClient::disconnect() {
  if (!socket_) return;
  const SocketId socket = *socket_;
  parts_.network.close(socket);
  on_closed(socket);
}

// False: this answer is lost.
bool RecipeClient::on_reply(std::string_view frame) {
  if (!std::exchange(introduced_, true)) {
    on_session(frame);
    return true;
  }
  wire::Reader r(frame);
  const std::int32_t xid = r.i32();
  r.i64();
  const std::int32_t error = r.i32();
  if (xid == -1) ++watch_events_;
  const auto found = asked_.find(xid);
  if (found == asked_.end()) return true;
  const std::string op = found->second;
  asked_.erase(found);
  const auto due = std::find_if(reply_traps_.begin(), reply_traps_.end(), [&](Trap& trap) {
    if (!trap.op.empty() && (trap.op != op || error != 0)) return false;
    return --trap.left == 0;
  });
  if (due == reply_traps_.end()) return true;
  reply_traps_.erase(due);
  return false;
}

void RecipeClient::on_session(std::string_view frame) {
  const auto response = wire::decode_connect_response(frame);
  if (response && response->timeout_ms > 0) key_ = {response->session, std::string(response->password)};
}

// --- the client side ---

void RecipeClient::dial(std::size_t server) {
  server_ = server;
  socket_ = parts_.network.dial(host_, parts_.servers[server], Port::kClient);
  greeted_ = introduced_ = broken_ = false;
  out_.clear();
  in_.clear();
  asked_.clear();
}

void RecipeClient::hang_up() {
  if (socket_) parts_.network.close(*std::exchange(socket_, std::nullopt));
}

void RecipeClient::send(std::string_view bytes) {
  if (!socket_) return;
  out_ += bytes;
  take_frames(out_, [&](const std::string& frame) {
    if (broken_) return true;
    if (on_request(std::string_view(frame).substr(4))) {
      parts_.network.send(*socket_, frame);
    } else {
      broken_ = true;
      // Not from within the client's own call.
      parts_.world.after(0, actor_, [this, socket = *socket_] {
        if (socket_ == socket) disconnect();
      });
    }
    return true;
  });
}

// Counts down all traps of this kind; true if one has sprung.
bool RecipeClient::spring(std::vector<Trap>& traps, std::string_view op, std::function<void()>* then) {
  for (auto trap = traps.begin(); trap != traps.end(); ++trap) {
    if (!trap->op.empty() && trap->op != op) continue;
    if (--trap->left > 0) continue;
    if (then) *then = std::move(trap->then);
    traps.erase(trap);
    return true;
  }
  return false;
}

// False: this request is lost.
bool RecipeClient::on_request(std::string_view frame) {
  if (!std::exchange(greeted_, true)) return true;
  wire::Reader r(frame);
  const std::int32_t xid = r.i32();
  const auto code = static_cast<OpCode>(r.i32());
  const std::string op(word_of(code));
  const bool is_probe = code == OpCode::kSync && r.string() == "/";  // instead of a ping
  if (xid <= 0 || is_probe) return true;                             // pings, watches set again, credentials
  ++requests_;
  ++requests_by_op_[op];
  asked_[xid] = op;
  std::function<void()> then;
  if (spring(watch_traps_, op, &then)) parts_.world.after(0, std::move(then));
  return !spring(request_traps_, op);
}

std::uint64_t RecipeClient::requests(const std::string& op) const {
  const auto found = requests_by_op_.find(op);
  return found == requests_by_op_.end() ? 0 : found->second;
}

void RecipeClient::disarm() {
  reply_traps_.clear();
  request_traps_.clear();
  watch_traps_.clear();
}

void RecipeClient::arm_timer() {
  const auto next = driver_->next_time();
  if (next == timer_at_) return;
  timer_at_ = next;
  ++timer_;
  if (!next) return;
  const Micros wait = std::max<Micros>(1, (next->ms - kBootMs) * kMillisecond - parts_.world.now());
  parts_.world.after(wait, actor_, [this, timer = timer_] {
    if (timer != timer_) return;
    timer_at_.reset();
    settle();
  });
}

// --- ending another client's session ---

SessionKiller::SessionKiller(const RecipeClient::Parts& parts, HostId host, SessionKey key)
    : parts_(parts), host_(host), actor_(parts.world.new_actor()), key_(std::move(key)) {
  parts_.network.attach(host_, *this, actor_);
  dial();
}

SessionKiller::~SessionKiller() {
  parts_.world.stop(actor_);
  parts_.network.detach(host_, Farewell::kReset);
}

void SessionKiller::dial() {
  in_.clear();
  asked_ = false;
  socket_ = parts_.network.dial(host_, parts_.servers[next_server_++ % parts_.servers.size()], Port::kClient);
}

void SessionKiller::on_connected(SocketId socket) {
  if (socket != socket_) return;
  std::string out;
  {
    wire::Frame frame(out);
    wire::Writer w(out);
    wire::ConnectRequest request;
    request.timeout_ms = 10'000;
    request.session = key_.session;
    request.password = key_.password;
    wire::encode(w, request);
  }
  parts_.network.send(socket_, out);
}

void SessionKiller::on_bytes(SocketId socket, std::string_view bytes) {
  if (socket != socket_ || done_) return;
  in_ += bytes;
  take_frames(in_, [&](const std::string& frame) {
    const std::string_view body = std::string_view(frame).substr(4);
    if (std::exchange(asked_, true)) {
      wire::Reader r(body);
      r.i32();
      r.i64();
      done_ = done_ || r.i32() == 0;
      return false;
    }
    const auto response = wire::decode_connect_response(body);
    done_ = response && response->timeout_ms <= 0;  // It is gone.
    std::string out;
    {
      wire::Frame close(out);
      wire::Writer w(out);
      w.i32(1);
      w.i32(static_cast<std::int32_t>(OpCode::kCloseSession));
    }
    parts_.network.send(socket_, out);
    return true;
  });
}

void SessionKiller::on_closed(SocketId socket) {
  if (socket != socket_ || done_) return;
  parts_.world.after(5 * kMillisecond, actor_, [this] { dial(); });
}

}  // namespace drover::sim
