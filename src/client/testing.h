// SPDX-License-Identifier: Apache-2.0
//
// Test support for the session: a session with a manual clock, and a fake server.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ensure.h"
#include "client/session.h"
#include "wire/jute.h"
#include "wire/requests.h"
#include "wire/testing.h"

namespace drover::client::testing {

using wire::OpCode;

inline constexpr SessionId kSession{0x1000'0000'0000'0007};
inline const std::string kPassword = "0123456789abcdef";

// A request as the server reads it.
struct Request {
  std::int32_t xid = 0;
  OpCode op{};
  std::string body;
};

// Removes the first frame from what was sent; returns it without its length.
inline std::string take_frame_of(std::string& sent) {
  ENSURE(sent.size() >= 4, "a frame was sent");
  const auto length = static_cast<std::size_t>(wire::load_be<std::int32_t>(sent.data()));
  std::string frame = sent.substr(4, length);
  sent.erase(0, 4 + length);
  return frame;
}

inline Request request_of(const std::string& frame) {
  wire::Reader r(frame);
  Request request;
  request.xid = r.i32();
  request.op = static_cast<OpCode>(r.i32());
  request.body = frame.substr(r.position());
  return request;
}

// A Completed with its views copied.
struct Ended {
  std::uint64_t token = 0;
  Outcome outcome{};
  wire::ReplyHeader header;
  std::string body;
};
struct Told {
  wire::EventType type{};
  std::string path;
  Zxid zxid{};
};

class Bench {
 public:
  explicit Bench(const SessionOptions& options = {}) : session(options) {}

  // --- inputs ---
  void start() {
    session.start(now, effects);
    take();
  }
  void connect_socket() {
    session.on_connected(now, effects);
    take();
  }
  void hear(std::string_view bytes) {
    session.on_bytes(bytes, now, effects);
    take();
  }
  void lose() {
    sent.clear();
    session.on_disconnected(now, effects);
    take();
  }
  // Advances time, as an event loop would, until the session dials or is over.
  void pass(std::int64_t ms) {
    const Instant until = now + ms;
    while (!dialled && !is_final(session.state())) {
      const auto due = session.next_time();
      if (!due || *due > until) break;
      now = std::max(now, *due);
      session.on_time(now, effects);
      take();
    }
    if (!dialled && !is_final(session.state())) now = until;
  }
  // Advances time until it dials, which it must within `ms`.
  std::size_t wait_for_dial(std::int64_t ms = 2000) {
    if (!dialled) pass(ms);
    EXPECT_TRUE(dialled.has_value());
    return std::exchange(dialled, std::nullopt).value_or(0);
  }
  void replace_servers(const Origins& origins) {
    session.replace_servers(origins, Current::kByList, now, effects);
    take();
  }
  void close() {
    session.close(now, effects);
    take();
  }
  void step_sasl(SaslStep step) {
    session.on_sasl(std::move(step), now, effects);
    take();
  }
  std::int32_t submit(std::uint64_t token, OpCode op, std::string_view body) {
    const std::int32_t xid = session.submit(Token{token}, op, body, now, effects);
    take();
    return xid;
  }

  // --- the server's part ---
  static std::string connect_response(std::int32_t timeout_ms, SessionId id = kSession,
                                      bool read_only = false) {
    std::string out;
    wire::Frame frame(out);
    wire::Writer w(out);
    wire::ConnectResponse response;
    response.timeout_ms = timeout_ms;
    response.session = id;
    response.password = kPassword;
    response.read_only = read_only;
    response.has_read_only = true;
    wire::encode(w, response);
    return out;
  }
  static std::string reply(std::int32_t xid, std::int64_t zxid, ErrorCode error = ErrorCode::kOk,
                           std::string_view body = {}) {
    std::string out;
    wire::Frame frame(out);
    wire::Writer w(out);
    wire::encode(w, wire::ReplyHeader{xid, Zxid{zxid}, error});
    w.raw(body);
    return out;
  }
  static std::string event(wire::EventType type, std::string_view path, std::int64_t zxid) {
    std::string out;
    wire::append_event(out, type, path, Zxid{zxid});
    return out;
  }
  // Starts and gets a session.
  void open(std::int32_t timeout_ms = 9000) {
    if (!started_) start();
    started_ = true;
    wait_for_dial();
    connect_socket();
    connect_request();
    hear(connect_response(timeout_ms));
  }
  void reopen(std::int32_t timeout_ms = 9000) { open(timeout_ms); }

  // The next frame that was sent, without its length.
  std::string take_frame() { return take_frame_of(sent); }
  Request take_request() { return request_of(take_frame()); }
  wire::ConnectRequest connect_request() {
    last_connect_ = take_frame();
    const auto request = wire::decode_connect_request(last_connect_);
    ENSURE(request.has_value(), "the first frame asks for a session");
    return *request;
  }

  bool ended_with(std::uint64_t token, Outcome outcome, ErrorCode error) const {
    for (const Ended& each : ended) {
      if (each.token == token) return each.outcome == outcome && each.header.error == error;
    }
    return false;
  }

  Instant now{1000};
  Session session;
  SessionEffects effects;
  std::string sent;
  std::optional<std::size_t> dialled;
  std::optional<std::string> asked;  // the last token for the SASL exchange
  std::size_t hang_ups = 0;
  std::vector<Ended> ended;
  std::vector<Told> told;
  std::vector<SessionState> states;
  std::string order;  // one letter per event

 private:
  void take() {
    if (effects.hang_up) {
      ++hang_ups;
      sent.clear();
    }
    if (effects.dial) dialled = effects.dial;
    sent += effects.send;
    if (effects.sasl) asked = effects.sasl;
    for (const Happening& each : effects.happened) {
      if (const auto* done = std::get_if<Completed>(&each)) {
        ended.push_back(
            {static_cast<std::uint64_t>(done->token), done->outcome, done->header, std::string(done->body)});
        order += 'c';
      } else if (const auto* event = std::get_if<WatchEvent>(&each)) {
        told.push_back({event->type, std::string(event->path), event->zxid});
        order += 'e';
      } else {
        states.push_back(std::get<StateChange>(each).state);
        order += 's';
      }
    }
    effects.clear();
  }

  bool started_ = false;
  std::string last_connect_;
};

}  // namespace drover::client::testing
