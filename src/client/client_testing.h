// SPDX-License-Identifier: Apache-2.0
//
// Test support for the whole client: a client on virtual time, and a fake server that answers when the test
// says so.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ensure.h"
#include "client/testing.h"
#include "client/virtual_driver.h"

namespace drover::client::testing {

class World : private VirtualWire {
 public:
  explicit World(EngineOptions options = {}, std::string prefix = {}, RetryPolicy retry = RetryPolicy::none())
      : clock_([this] { return Clock::time_point(std::chrono::milliseconds(now.ms)); }) {
    auto made = VirtualDriver::make(*this, options, now, std::move(prefix), retry);
    driver = made.driver;
    client.emplace(std::move(made.client));
    for_states = client->on_state([this](const StateEvent& event) { states.push_back(event); });
    driver->settle();
  }

  // Ends everything that still waits, as destroying the last handle does.
  ~World() {
    for_states.reset();
    client.reset();
    driver->settle();
    dialled.reset();
    pass_alone(kFarewellMs);
  }

  // --- the server's part ---
  void accept(SessionId session = kSession, std::int32_t timeout_ms = 9000) {
    if (!dialled) pass(5000);
    ENSURE(dialled.has_value(), "the client dials");
    dialled.reset();
    driver->on_connected(now);
    take_frame();  // the ConnectRequest
    driver->on_bytes(Bench::connect_response(timeout_ms, session), now);
  }
  void lose() {
    sent.clear();
    driver->on_disconnected(now);
  }
  std::string take_frame() { return take_frame_of(sent); }
  Request take_request() { return request_of(take_frame()); }
  void hear(std::string_view bytes) { driver->on_bytes(bytes, now); }
  void answer(const Request& request, std::string_view body = {}, ErrorCode error = ErrorCode::kOk) {
    hear(Bench::reply(request.xid, ++zxid, error, body));
  }
  // The next request, which must be of this kind.
  Request answer_next(OpCode op, std::string_view body = {}, ErrorCode error = ErrorCode::kOk) {
    Request request = take_request();
    EXPECT_EQ(request.op, op);
    answer(request, body, error);
    return request;
  }
  static std::string stat_bytes(std::int32_t version = 0) {
    std::string out;
    wire::Writer w(out);
    wire::Stat stat;
    stat.version = version;
    wire::encode(w, stat);
    return out;
  }
  static std::string node_bytes(std::string_view data, std::int32_t version = 0) {
    std::string out;
    wire::Writer w(out);
    w.string(data);
    return out + stat_bytes(version);
  }
  static std::string created_bytes(std::string_view path) { return node_bytes(path); }

  // --- time ---
  // Until the client dials.
  void pass(std::int64_t ms) {
    const Instant until = now + ms;
    while (!dialled) {
      const auto due = driver->next_time();
      if (!due || *due > until) break;
      now = std::max(now, *due);
      driver->on_time(now);
    }
    if (!dialled) now = until;
  }
  // Every server refuses.
  void pass_alone(std::int64_t ms) {
    for (const Instant until = now + ms; now < until;) {
      pass(until - now);
      if (std::exchange(dialled, std::nullopt)) driver->on_disconnected(now);
    }
  }
  void expire() {
    lose();
    while (states.back().state != ConnectionState::kExpired) pass_alone(100);
  }
  Wait within(std::int64_t ms) const { return Wait::within(std::chrono::milliseconds(ms)); }

  // --- the caller's part ---
  // Runs the task; its result is in the optional once it has ended.
  template <class T>
  std::shared_ptr<std::optional<T>> run(Task<T> task) {
    auto result = std::make_shared<std::optional<T>>();
    start(std::move(task), [result](T value) { result->emplace(std::move(value)); });
    driver->settle();
    return result;
  }
  std::vector<ConnectionState> state_names() const {
    std::vector<ConnectionState> names;
    for (const StateEvent& event : states) names.push_back(event.state);
    return names;
  }

  Instant now{1000};
  std::string sent;
  std::optional<std::size_t> dialled;
  int hang_ups = 0;
  std::vector<ServerAddress> servers;  // the last list that the client wants
  std::int64_t zxid = 100;
  std::vector<StateEvent> states;
  std::shared_ptr<VirtualDriver> driver;
  std::optional<Client> client;
  Client::Subscription for_states;

 private:
  void dial(std::size_t server) override { dialled = server; }
  void hang_up() override {
    ++hang_ups;
    sent.clear();
  }
  void send(std::string_view bytes) override { sent += bytes; }
  void set_servers(const std::vector<ServerAddress>& list) override { servers = list; }

  ClockOverride clock_;
};

template <class T>
Errc code_of(const std::shared_ptr<std::optional<Result<T>>>& result) {
  ENSURE(result->has_value(), "the task has ended");
  return (*result)->has_value() ? Errc{} : (*result)->error().code;
}

}  // namespace drover::client::testing
