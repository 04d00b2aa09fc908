// SPDX-License-Identifier: Apache-2.0
//
// Requests of clients and their results (I5, I6, I10, I11).
//
// A transaction carries the session and xid of its request, so each one is matched with its call: at most one
// for each call, none without a call, and in the order of the session's calls. This matching also proves that
// writes are linearizable: everything that a client has seen is already in the order, so a write that is
// requested later cannot take an earlier place, where it had no call yet. Then the model decides the request
// itself, in the state that the history gives it, and must produce the same bytes: error codes, versions,
// sequence numbers, the parts of a multi, the digest. The reply must be the result of applying them.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "base/ids.h"
#include "base/time.h"
#include "sim/check_sessions.h"
#include "sim/oracle_failures.h"
#include "sim/oracle_model.h"
#include "state/apply.h"
#include "wire/records.h"
#include "wire/replies.h"
#include "wire/txns.h"

namespace drover::sim {

// One session that a client tries to have, from its first dial to its end.
enum class ClientId : std::uint32_t {};
inline void append_text(std::string& out, ClientId client) {
  out.append("client ").append(std::to_string(static_cast<std::uint32_t>(client)));
}

inline constexpr ServerId kNowhere{-1};

struct Call {
  std::int32_t xid = 0;
  wire::OpCode op{};
  std::string body;
  Instant asked;
  ServerId server = kNowhere;  // of the connection that the client had then
  Zxid seen_before{};          // by any client, when it was made
  Zxid applied{};              // 0: not yet
  std::string expected;        // the whole reply frame, once applied
};

class CheckCalls {
 public:
  CheckCalls(Failures& failures, Model& model, CheckSessions& sessions)
      : failures_(failures), model_(model), sessions_(sessions) {}

  // A leader with a spoiled state decides correctly, but writes another digest.
  void set_spoiled_states(bool spoiled) { spoiled_states_ = spoiled; }
  ClientId new_client();
  void on_session(ClientId client, SessionId session, ServerId server);
  void on_disconnected(ClientId client) { of(client).server = kNowhere; }
  SessionId session_of(ClientId client) const { return of(client).session; }

  void on_call(ClientId client, std::int32_t xid, wire::OpCode op, std::string_view body, Instant now);
  // Removes the call from the client's list if it is the one that must be answered next.
  bool on_reply(ClientId client, const wire::ReplyHeader& header, std::string_view body, Call& answered);
  void on_lost(ClientId client, std::int32_t xid);
  void on_not_applied(ClientId client, std::int32_t xid);
  void on_event(ClientId client, Zxid zxid);

  // Around the model's application of a committed transaction.
  void before(std::string_view entry, const wire::TxnEntry& txn);
  void after(const wire::TxnEntry& txn, const state::ApplyResult& result);

  std::uint64_t count() const { return count_; }
  std::size_t open_calls(ClientId client) const { return of(client).open.size(); }

 private:
  struct Client {
    SessionId session{};
    ServerId server = kNowhere;
    std::deque<Call> open;
    // Not answered; they may still be applied.
    boost::unordered_flat_map<std::int32_t, Call> lost;
    Zxid seen{};                   // by replies
    Zxid seen_event{};             // by events
    std::int32_t applied_xid = 0;  // of its last write in the history
    std::int32_t synced_xid = 0;   // of its last sync that was answered
    Zxid synced{};
  };

  Client& of(ClientId client) { return clients_[static_cast<std::size_t>(client)]; }
  const Client& of(ClientId client) const { return clients_[static_cast<std::size_t>(client)]; }
  Client* client_of(SessionId session);
  Call* find(Client& client, std::int32_t xid);
  Call* find_asked(const wire::TxnEntry& txn);
  void check_order(Client& client, const Call& call, const wire::TxnEntry& txn);
  void check_decision(const Call& call, std::string_view entry, const wire::TxnEntry& txn);
  void check_container(std::string_view entry, const wire::TxnEntry& txn);
  void check_write(ClientId id, const Call& call, const wire::ReplyHeader& header, std::string_view body);

  Failures& failures_;
  Model& model_;
  CheckSessions& sessions_;
  bool spoiled_states_ = false;
  std::deque<Client> clients_;
  boost::unordered_flat_map<SessionId, ClientId> by_session_;
  boost::unordered_flat_map<std::int64_t, char> withdrawn_;  // client and xid
  Zxid seen_{};                                              // by any client
  Call* applying_ = nullptr;
  std::uint64_t count_ = 0;
};

}  // namespace drover::sim
