// SPDX-License-Identifier: Apache-2.0
//
// Shared by the tests of the oracle: a correct history that a test can report wrongly.
//
// A leader without followers decides and applies with the product's own code. The test reports each event to
// the oracle: as it was, or not quite.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ensure.h"
#include "replica/reply.h"
#include "sim/oracle.h"
#include "state/apply.h"
#include "state/pending_changes.h"
#include "state/prepare.h"
#include "state/read.h"
#include "state/watches.h"
#include "wire/testing.h"

namespace drover::sim::testing {

using wire::EventType;
using wire::OpCode;
namespace t = wire::testing;

inline constexpr ServerId kLeader{1};
inline constexpr ServerId kFollower{2};
inline constexpr std::uint32_t kEpoch = 5;
inline constexpr Zxid zxid_of(std::uint32_t counter, std::uint32_t epoch = kEpoch) {
  return Zxid{static_cast<std::int64_t>(epoch) << 32 | counter};
}

struct Reply {
  wire::ReplyHeader header;
  std::string body;
};
struct Told {
  EventType type{};
  std::string path;
  Zxid zxid{};
};

class Story {
 public:
  explicit Story(const state::Options& options = {})
      : oracle({.state = options}), machine_(options), pending_(machine_.tree) {
    oracle.set_now({1000});
    oracle.on_established(kLeader, kEpoch, Zxid{});
    last = zxid_of(0);
  }

  // --- the truth ---
  // The next transaction, applied here; the oracle is not told.
  std::string decide(SessionId session, std::int32_t cxid, OpCode op, std::string_view body) {
    last = next(last);
    std::string entry;
    const state::Identities nobody;
    state::prepare(machine_, pending_,
                   {.session = session, .cxid = cxid, .op = op, .body = body, .who = &nobody}, last,
                   WallTime{1'700'000'000'000}, entry);
    apply(entry);
    return entry;
  }
  // The same for an entry that a test made up.
  void apply(std::string_view entry) {
    last_entry_ = entry;  // The result points into it.
    const auto txn = wire::decode_entry(last_entry_);
    ENSURE(txn.has_value(), "a transaction");
    last = txn->header.zxid;
    events_.clear();
    result_ = state::apply(machine_, *txn, events_);
    pending_.applied(last);
    for (const state::TreeEvent& event : events_.list) {
      std::vector<state::WatcherId> fired;
      watches_.fire(event.type, event.path, fired);
      for (const state::WatcherId watcher : fired)
        untold[static_cast<std::uint32_t>(watcher)].push_back({event.type, std::string(event.path), last});
    }
  }
  // The oracle hears of the transaction from a serving server.
  void commit(std::string_view entry, ServerId server = kLeader) {
    oracle.on_applied(server, wire::zxid_of_entry(entry), entry, machine_.tree.digest(), /*serving=*/true);
  }
  std::string commit_next(SessionId session, std::int32_t cxid, OpCode op, std::string_view body) {
    std::string entry = decide(session, cxid, op, body);
    commit(entry);
    return entry;
  }

  // --- clients ---
  struct Client {
    ClientId id{};
    SessionId session{};
    std::int32_t next_xid = 1;
  };
  Client join(std::int32_t timeout_ms = 10'000, ServerId server = kLeader) {
    Client client{oracle.new_client(), SessionId{0x700 + static_cast<std::int64_t>(++sessions_)}, 1};
    const Instant asked = oracle.now();
    commit_next(client.session, 0, OpCode::kCreateSession,
                t::written([&](wire::Writer& w) { w.i32(timeout_ms); }));
    oracle.on_session(client.id, client.session, timeout_ms, server, asked);
    return client;
  }
  std::int32_t ask(Client& client, OpCode op, std::string_view body) {
    oracle.on_call(client.id, client.next_xid, op, body);
    return client.next_xid++;
  }
  // A write from the request to the transaction; the test reports the reply.
  Reply write(Client& client, OpCode op, std::string_view body) {
    const std::int32_t xid = ask(client, op, body);
    commit_next(client.session, xid, op, body);
    return reply_of_last(op, xid);
  }
  Reply reply_of_last(OpCode op, std::int32_t xid) const {
    std::string frame;
    replica::append_write_reply(frame, op, xid, last, result_);
    return parse(frame);
  }
  // A read of the current state, with its watch.
  Reply read(Client& client, OpCode op, std::string_view body) {
    return answer(client, ask(client, op, body), op, body);
  }
  Reply answer(const Client& client, std::int32_t xid, OpCode op, std::string_view body) {
    std::string frame;
    const state::Identities nobody;
    state::answer_read(machine_, watches_, {},
                       {.session = client.session,
                        .xid = xid,
                        .op = op,
                        .body = body,
                        .who = &nobody,
                        .watcher = watcher_of(client)},
                       frame);
    return parse(frame);
  }
  void tell(const Client& client, const Reply& reply) {
    oracle.on_reply(client.id, reply.header, reply.body);
  }
  void tell_event(const Client& client, const Told& event) {
    oracle.on_event(client.id, event.type, event.path, event.zxid);
  }
  std::deque<Told>& events(const Client& client) { return untold[static_cast<std::uint32_t>(client.id)]; }
  void tell_events(const Client& client) {
    for (const Told& event : std::exchange(events(client), {})) tell_event(client, event);
  }
  // Both, correctly.
  Reply do_write(Client& client, OpCode op, std::string_view body) {
    Reply reply = write(client, op, body);
    tell_events(client);
    tell(client, reply);
    return reply;
  }
  Reply do_read(Client& client, OpCode op, std::string_view body) {
    Reply reply = read(client, op, body);
    tell_events(client);
    tell(client, reply);
    return reply;
  }
  void create(Client& client, std::string_view path, std::int32_t flags = wire::kPersistent) {
    do_write(client, OpCode::kCreate, t::create_body(path, {.data = "v", .flags = flags}));
  }
  void set(Client& client, std::string_view path, std::string_view data = "w") {
    do_write(client, OpCode::kSetData, t::set_data_body(path, data));
  }
  void remove(Client& client, std::string_view path) {
    do_write(client, OpCode::kDelete, t::path_version_body(path));
  }
  void sync(Client& client) { do_read(client, OpCode::kSync, t::path_body("/")); }
  // The connection is gone and the server's watches with it; then there is another one. The test must report
  // the events of setWatches.
  void reconnect(const Client& client, Zxid since, const std::vector<t::PathList>& watches) {
    oracle.on_disconnected(client.id);
    events(client).clear();
    watches_.forget(watcher_of(client));
    oracle.on_session(client.id, client.session, 10'000, kLeader, oracle.now());
    const std::string body = t::set_watches_body(since, watches);
    std::string frames;
    const state::Identities nobody;
    state::answer_read(machine_, watches_, {},
                       {.session = client.session,
                        .xid = -8,
                        .op = OpCode::kSetWatches2,
                        .body = body,
                        .who = &nobody,
                        .watcher = watcher_of(client)},
                       frames);
    take_events(client, frames);
  }

  const state::Machine& machine() const { return machine_; }
  bool failed_with(std::string_view words) const {
    for (const std::string& line : oracle.failures()) {
      if (line.find(words) != std::string::npos) return true;
    }
    return false;
  }
  std::string failures() const {
    std::string all;
    for (const std::string& line : oracle.failures()) all += line + "\n";
    return all;
  }

  Oracle oracle;
  Zxid last{};
  std::map<std::uint32_t, std::deque<Told>> untold;

 private:
  static state::WatcherId watcher_of(const Client& client) {
    return state::WatcherId{static_cast<std::uint32_t>(client.id)};
  }
  static Reply parse(std::string_view frame) {
    wire::Reader r(frame.substr(4));
    Reply reply;
    reply.header = wire::decode_reply_header(r);
    reply.body = frame.substr(4 + wire::kReplyHeaderBytes);
    return reply;
  }
  void take_events(const Client& client, std::string_view frames) {
    while (!frames.empty()) {
      const auto length = static_cast<std::size_t>(wire::load_be<std::int32_t>(frames.data()));
      wire::Reader r(frames.substr(4, length));
      const wire::ReplyHeader header = wire::decode_reply_header(r);
      if (header.xid == wire::kNotificationXid) {
        const auto type = static_cast<EventType>(r.i32());
        r.i32();
        events(client).push_back({type, std::string(r.string()), header.zxid});
      }
      frames.remove_prefix(4 + length);
    }
  }

  state::Machine machine_;
  state::PendingChanges pending_;
  state::Watches watches_{HashKey{}};
  state::TreeEvents events_;
  std::string last_entry_;
  state::ApplyResult result_;
  std::uint32_t sessions_ = 0;
};

// The oracle rejects with these words, and only once they are said.
#define EXPECT_REJECTED(story, words) EXPECT_TRUE((story).failed_with(words)) << (story).failures()
#define EXPECT_ACCEPTED(story) EXPECT_TRUE((story).oracle.ok()) << (story).failures()

}  // namespace drover::sim::testing
