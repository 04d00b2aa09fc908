// SPDX-License-Identifier: Apache-2.0
//
// Shared by the tests of the replica: a whole server without threads, sockets, disk or clock.
//
// Fronts, Replica and Machine are the product's. The test moves time, says what is durable, and plays the
// clients.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ensure.h"
#include "replica/front.h"
#include "replica/replica.h"
#include "replica/session_password.h"
#include "state/read_testing.h"
#include "wire/testing.h"

namespace drover::replica::testing {

using state::testing::event_text;
using state::testing::replies_in;
using state::testing::Reply;
using wire::OpCode;

inline constexpr SessionId kFirstSession{0x0100'0000'0000'0000};

struct HarnessConfig {
  HarnessConfig() { replica.first_session = kFirstSession; }

  state::Options state;
  FrontConfig front;
  ReplicaConfig replica;
  bool leads = true;  // from the start; otherwise the test begins a service
  std::size_t fronts = 1;
  bool durable_at_once = true;  // otherwise durable() says when
};

// The part of a server that a client needs: its fronts, and a way to run all until there is nothing left to
// do.
class Host {
 public:
  virtual ~Host() = default;
  virtual Front& front(std::size_t i) = 0;
  virtual void settle() = 0;

  Instant now{1'000'000};
};

class Harness : public Host {
 public:
  explicit Harness(const HarnessConfig& config = {}) : machine(config.state), config_(config) { start(); }

  // As after a crash: connections and the replica are gone, the applied state stays.
  void restart() {
    replica.reset();
    fronts.clear();
    log.clear();
    durable_upto_ = machine.last_zxid;
    start();
  }

  // Runs all parts until none has anything new to say.
  void settle() override {
    for (bool more = true; more;) {
      more = false;
      for (std::size_t i = 0; i < fronts.size(); ++i) more |= exchange(i);
      if (config_.durable_at_once && replica->last_proposed() > durable_upto_) {
        durable_upto_ = replica->last_proposed();
        replica->on_committed(durable_upto_, now);
        more = true;
      } else if (replica->has_answers()) {
        replica->on_committed(machine.last_zxid, now);
        more = true;
      }
      if (replica->has_releasable()) {
        Effects effects;
        replica->release_throttled(now, wall, effects);
        carry_out(effects);
        more = true;
      }
    }
  }

  // All that was proposed is on the disk, or the next `transactions` of it.
  void durable(std::optional<int> transactions = std::nullopt) {
    settle();
    const Zxid upto = transactions ? Zxid{raw(machine.last_zxid) + *transactions} : replica->last_proposed();
    replica->on_committed(upto, now);
    settle();
  }

  // Time passes in one step; fronts in `silent` do not report which sessions they heard.
  void advance(std::int64_t ms, const std::vector<std::size_t>& silent = {}) {
    now = now + ms;
    wall.ms += ms;
    for (std::size_t i = 0; i < fronts.size(); ++i) {
      if (std::find(silent.begin(), silent.end(), i) == silent.end()) fronts[i]->on_tick(now);
    }
    for (std::size_t i = 0; i < fronts.size(); ++i) give_to_replica(i);
    Effects effects;
    replica->on_tick(now, wall, effects);
    carry_out(effects);
    settle();
  }

  void carry_out(Effects& effects) {
    for (Ordered& next : effects.ordered) {
      if (next.is_sync()) {
        replica->set_sync_ticket(++syncs_);
        replica->set_released_syncs(syncs_);
        continue;
      }
      log.push_back(next.batch);
      replica->add_unapplied(next.batch, now);
    }
    for (ToLeader& message : effects.to_leader) to_leader.push_back(std::move(message));
    for (const SessionAnswer& answer : effects.answers) {
      fronts[static_cast<std::size_t>(answer.front)]->on_session_answer(answer);
    }
  }

  Front& front(std::size_t i = 0) override { return *fronts[i]; }

  state::Machine machine;
  std::vector<std::unique_ptr<Front>> fronts;
  std::unique_ptr<Replica> replica;
  std::vector<TxnBatchPtr> log;
  std::vector<ToLeader> to_leader;  // of a learner
  WallTime wall{1'700'000'000'000};

 private:
  void start() {
    std::vector<Front*> all;
    for (std::size_t i = 0; i < config_.fronts; ++i) {
      fronts.push_back(std::make_unique<Front>(config_.front, machine));
      all.push_back(fronts.back().get());
    }
    replica = std::make_unique<Replica>(config_.replica, machine, all, now);
    if (!config_.leads) return;
    Effects effects;
    replica->begin_leading(machine.last_zxid, now, wall, effects);
    carry_out(effects);
  }

  bool give_to_replica(std::size_t i) {
    ToReplica batch = std::exchange(fronts[i]->outbox(), ToReplica{});
    const bool something = !batch.empty();
    Effects effects;
    replica->on_front(FrontId{static_cast<std::uint32_t>(i)}, batch, now, wall, effects);
    carry_out(effects);
    return something;
  }

  bool exchange(std::size_t i) {
    const bool staged = fronts[i]->has_staged();
    fronts[i]->collect();
    fronts[i]->list_on(now);
    const bool given = give_to_replica(i);
    return staged || given;
  }

  HarnessConfig config_;
  Zxid durable_upto_{};
  std::uint64_t syncs_ = 0;
};

// A client's handshake.
struct Hello {
  std::int32_t timeout_ms = 10'000;
  SessionId session{};
  std::optional<std::string> password{};  // nullopt: the right one
  Zxid last_zxid_seen{};
  bool read_only_byte = true;
  bool read_only = false;  // accepts a server without a leader
};

// One client's TCP connection. Bytes that the server does not take wait here, as in a socket.
class Client {
 public:
  explicit Client(Host& h, std::size_t front = 0, const std::string& ip = "127.0.0.1")
      : h_(h), front_(front), conn_(h.front(front).open({ip, ip + ":4444", {{"ip", ip}}}, h.now)) {}

  // The frame that answers the handshake; nullopt if none came.
  std::optional<std::string> connect(const Hello& hello = {}) {
    send_hello(hello);
    return take_hello();
  }
  void send_hello(const Hello& hello) {
    const auto right = session_password(hello.session);
    const std::string password = hello.password.value_or(std::string(right.data(), right.size()));
    wire::ConnectRequest request{.timeout_ms = hello.timeout_ms,
                                 .session = hello.session,
                                 .password = password,
                                 .read_only = hello.read_only,
                                 .has_read_only = hello.read_only_byte};
    request.last_zxid_seen = hello.last_zxid_seen;
    send_frame(wire::testing::written([&](wire::Writer& w) { wire::encode(w, request); }));
  }
  std::optional<std::string> take_hello() {
    std::string& out = output();
    if (out.size() < 4) return std::nullopt;
    wire::Reader r(out);
    std::string frame(r.string());
    ENSURE(r.ok(), "output is whole frames");
    out.erase(0, 4 + frame.size());
    if (const auto response = wire::decode_connect_response(frame)) session_ = response->session;
    return frame;
  }

  // Sends a request with the next xid and runs the server.
  std::int32_t send(OpCode op, std::string_view body = {}) {
    send_frame(request(++xid_, op, body));
    return xid_;
  }
  static std::string request(std::int32_t xid, OpCode op, std::string_view body) {
    return wire::testing::written([&](wire::Writer& w) {
      w.i32(xid);
      w.i32(static_cast<std::int32_t>(op));
      w.raw(body);
    });
  }
  void send_frame(std::string_view frame) {
    send_bytes(wire::testing::written([&](wire::Writer& w) { w.string(frame); }));
  }
  void send_bytes(std::string_view bytes) {
    unsent_ += bytes;
    flush();
    h_.settle();
  }
  // Queues several frames before the server runs.
  void queue(OpCode op, std::string_view body = {}) {
    const std::string frame = request(++xid_, op, body);
    unsent_ += wire::testing::written([&](wire::Writer& w) { w.string(frame); });
  }
  void flush() {
    if (h_.front(front_).exists(conn_)) unsent_.erase(0, h_.front(front_).on_bytes(conn_, unsent_, h_.now));
  }

  // Reads everything that the server has sent.
  std::vector<Reply> take() {
    if (!h_.front(front_).exists(conn_)) return {};
    const std::string bytes = std::exchange(output(), {});
    h_.front(front_).on_sent(conn_);
    return replies_in(bytes);
  }
  // The reply to one request; fails if anything else came.
  Reply ask(OpCode op, std::string_view body = {}) {
    send(op, body);
    auto replies = take();
    EXPECT_EQ(replies.size(), 1u);
    return replies.empty() ? Reply{} : replies.front();
  }
  ErrorCode error(OpCode op, std::string_view body = {}) { return ask(op, body).header.error; }
  ErrorCode create(std::string_view path, const wire::testing::CreateArgs& args = {}) {
    return error(OpCode::kCreate, wire::testing::create_body(path, args));
  }

  // The socket breaks.
  void vanish() { h_.front(front_).close(conn_); }
  bool closed() const { return !h_.front(front_).exists(conn_) || h_.front(front_).closing(conn_); }
  bool reading() const { return h_.front(front_).reading(conn_); }
  std::string& output() { return h_.front(front_).output(conn_); }
  std::size_t unsent() const { return unsent_.size(); }
  SessionId session() const { return session_; }
  ConnId conn() const { return conn_; }

 private:
  Host& h_;
  std::size_t front_;
  ConnId conn_;
  std::string unsent_;
  SessionId session_{};
  std::int32_t xid_ = 0;
};

// A client that already has its session.
inline Client connected(Host& h, const Hello& hello = {}, std::size_t front = 0) {
  Client client(h, front);
  client.connect(hello);
  return client;
}

// The same for tests that say what is durable.
inline Client connected_durably(Harness& h, std::size_t front = 0) {
  Client c(h, front);
  c.send_hello({});
  h.durable();
  c.take_hello();
  return c;
}

// "1 Ok", "created /a", "2 NoNode": the stream as a client sees it.
inline std::vector<std::string> story(const std::vector<Reply>& replies) {
  std::vector<std::string> lines;
  for (const Reply& reply : replies) {
    const std::string event = event_text(reply);
    lines.push_back(event.empty()
                        ? std::to_string(reply.header.xid) + " " + std::string(name_of(reply.header.error))
                        : event);
  }
  return lines;
}
using Story = std::vector<std::string>;

}  // namespace drover::replica::testing
