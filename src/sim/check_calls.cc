// SPDX-License-Identifier: Apache-2.0
#include "sim/check_calls.h"

#include <algorithm>
#include <utility>

#include "replica/reply.h"
#include "state/prepare.h"

namespace drover::sim {
namespace {

using wire::OpCode;

// No client has an identity: the workload's ACLs are only about the world.
const state::Identities kNobody;

std::int64_t key_of(ClientId client, std::int32_t xid) {
  return static_cast<std::int64_t>(client) << 32 | static_cast<std::uint32_t>(xid);
}

// The error of the whole transaction, or of the first failing part of a multi.
ErrorCode error_of(const wire::TxnEntry& txn) {
  if (const auto* error = std::get_if<wire::ErrorTxn>(&txn.record)) return error->error;
  const auto* multi = std::get_if<wire::MultiTxn>(&txn.record);
  if (!multi) return ErrorCode::kOk;
  for (const wire::SubTxn& sub : multi->txns) {
    if (sub.type != OpCode::kError) continue;
    wire::Reader r(sub.record);
    return static_cast<ErrorCode>(r.i32());
  }
  return ErrorCode::kOk;
}

// Verdicts that depend on more than the state: which server has the session, and how full the leader's disk
// is.
bool is_beyond_the_model(ErrorCode error) {
  return error == ErrorCode::kSessionMoved || error == ErrorCode::kSystemError;
}

// The digest's version and the tree's digest are the last bytes of an entry.
std::string_view without_digest(std::string_view entry) {
  constexpr std::size_t kDigestBytes = 12;
  wire::Reader r(entry);
  if (wire::decode_txn_header(r).type == OpCode::kError) return entry;  // It has none.
  return entry.substr(0, entry.size() - std::min(entry.size(), kDigestBytes));
}

}  // namespace

ClientId CheckCalls::new_client() {
  clients_.emplace_back();
  return ClientId{static_cast<std::uint32_t>(clients_.size() - 1)};
}

CheckCalls::Client* CheckCalls::client_of(SessionId session) {
  const auto found = by_session_.find(session);
  return found == by_session_.end() ? nullptr : &of(found->second);
}

void CheckCalls::on_session(ClientId id, SessionId session, ServerId server) {
  Client& client = of(id);
  if (raw(client.session) != 0 && client.session != session)
    failures_.add("I8: ", id, " has session ", session, " instead of its own ", client.session);
  const auto [found, is_new] = by_session_.try_emplace(session, id);
  if (!is_new && found->second != id)
    failures_.add("I8: session ", session, " belongs to ", found->second, " and to ", id);
  client.session = session;
  client.server = server;
}

void CheckCalls::on_call(ClientId id, std::int32_t xid, OpCode op, std::string_view body, Instant now) {
  Client& client = of(id);
  ++count_;
  client.open.push_back({.xid = xid,
                         .op = op,
                         .body = std::string(body),
                         .asked = now,
                         .server = client.server,
                         .seen_before = seen_,
                         .applied = {},
                         .expected = {}});
}

// --- the history ---

Call* CheckCalls::find(Client& client, std::int32_t xid) {
  const auto found = std::lower_bound(client.open.begin(), client.open.end(), xid,
                                      [](const Call& call, std::int32_t x) { return call.xid < x; });
  if (found != client.open.end() && found->xid == xid) return &*found;
  const auto lost = client.lost.find(xid);
  return lost == client.lost.end() ? nullptr : &lost->second;
}

Call* CheckCalls::find_asked(const wire::TxnEntry& txn) {
  const wire::TxnHeader& header = txn.header;
  Client* client = client_of(header.session);
  Call* call = client ? find(*client, header.cxid) : nullptr;
  if (!call) {
    const bool withdrawn =
        client && withdrawn_.contains(key_of(by_session_.find(header.session)->second, header.cxid));
    failures_.add(
        "I11: ", header.zxid, " of session ", header.session, ", xid ", header.cxid,
        withdrawn ? ", which its client says it never sent" : ", which nobody asked for, or not twice");
    return nullptr;
  }
  if (raw(call->applied) != 0) {
    failures_.add("I11: xid ", header.cxid, " of session ", header.session, " is in the history at ",
                  call->applied, " and at ", header.zxid);
    return nullptr;
  }
  return call;
}

void CheckCalls::before(std::string_view entry, const wire::TxnEntry& txn) {
  applying_ = nullptr;
  const wire::TxnHeader& header = txn.header;
  if (header.type == OpCode::kDeleteContainer) return check_container(entry, txn);
  // Sessions begin and end without a call: check_sessions checks them.
  const bool of_session = header.type == OpCode::kCreateSession || header.type == OpCode::kCloseSession;
  if (of_session || header.cxid == 0) return;
  Call* call = find_asked(txn);
  if (!call) return;
  applying_ = call;
  check_order(*client_of(header.session), *call, txn);
  check_decision(*call, entry, txn);
}

// The session's own order: a later request never comes before an earlier one, and nothing sent before an
// answered sync may come after it.
void CheckCalls::check_order(Client& client, const Call& call, const wire::TxnEntry& txn) {
  const Zxid zxid = txn.header.zxid;
  // A late copy, correctly refused.
  if (error_of(txn) == ErrorCode::kSessionMoved || error_of(txn) == ErrorCode::kSessionExpired) return;
  if (call.xid < client.applied_xid) {
    failures_.add("I6: ", zxid, " is xid ", call.xid, " of session ", txn.header.session, ", behind its xid ",
                  client.applied_xid);
  }
  if (call.xid < client.synced_xid && zxid > client.synced) {
    failures_.add("I6: ", zxid, " is xid ", call.xid, " of session ", txn.header.session,
                  ", which came after the answer to its sync ", client.synced_xid);
  }
  client.applied_xid = std::max(client.applied_xid, call.xid);
}

void CheckCalls::check_decision(const Call& call, std::string_view entry, const wire::TxnEntry& txn) {
  if (call.op == OpCode::kReconfig) return;  // zab::Invariants judges memberships.
  const ErrorCode error = error_of(txn);
  const bool live = sessions_.is_live(txn.header.session);
  if (is_beyond_the_model(error)) return;
  // Only its server knows whether a local session has ended.
  const bool local = !live && sessions_.may_be_local(txn.header.session);
  if (local && error == ErrorCode::kSessionExpired) return;
  if (error == ErrorCode::kSessionExpired && live) {
    return failures_.add("I8: ", txn.header.zxid, " says that session ", txn.header.session,
                         " is over, and it is not");
  }
  const state::WriteRequest request{
      .session = txn.header.session,
      .cxid = call.xid,
      .op = call.op,
      .body = call.body,
      .who = &kNobody,
      .session_error = live || local ? ErrorCode::kOk : ErrorCode::kSessionExpired,
      .ephemeral_error = local ? ErrorCode::kSessionExpired : ErrorCode::kOk};
  const std::string decided = model_.decide(request, txn.header.zxid, WallTime{txn.header.time_ms});
  if (decided == entry) return;
  if (spoiled_states_ && without_digest(decided) == without_digest(entry)) return;
  const auto expected = wire::decode_entry(decided);
  failures_.add("I5: ", txn.header.zxid, " is not what its request makes of the state before it: ", error,
                " instead of ", expected ? error_of(*expected) : ErrorCode::kSystemError);
}

// No client asks for it, but it must have been due.
void CheckCalls::check_container(std::string_view entry, const wire::TxnEntry& txn) {
  const auto* removed = std::get_if<wire::DeleteTxn>(&txn.record);
  if (!removed) return;
  std::string body;
  wire::Writer(body).string(removed->path);
  const state::WriteRequest request{.session = txn.header.session,
                                    .cxid = txn.header.cxid,
                                    .op = OpCode::kDeleteContainer,
                                    .body = body,
                                    .who = &kNobody};
  if (model_.decide(request, txn.header.zxid, WallTime{txn.header.time_ms}) != entry)
    failures_.add("I5: ", txn.header.zxid, " deletes ", removed->path, ", which was not to be deleted");
}

void CheckCalls::after(const wire::TxnEntry& txn, const state::ApplyResult& result) {
  if (!applying_) return;
  Call& call = *std::exchange(applying_, nullptr);
  call.applied = txn.header.zxid;
  if (error_of(txn) == ErrorCode::kOk) {
    sessions_.on_write(txn.header.session, txn.header.zxid, call.server, call.asked);
  }
  Client& client = *client_of(txn.header.session);
  if (client.lost.contains(call.xid)) return;  // No client waits for its reply.
  replica::append_write_reply(call.expected, call.op, call.xid, txn.header.zxid, result);
}

// --- what the client is told ---

void CheckCalls::on_lost(ClientId id, std::int32_t xid) {
  Client& client = of(id);
  if (client.open.empty() || client.open.front().xid != xid)
    return failures_.add("I6: ", id, " lost xid ", xid, " out of order");
  Call call = std::move(client.open.front());
  client.open.pop_front();
  call.expected.clear();
  if (state::is_write(call.op)) client.lost.emplace(xid, std::move(call));
}

void CheckCalls::on_not_applied(ClientId id, std::int32_t xid) {
  Client& client = of(id);
  const auto found =
      std::find_if(client.open.begin(), client.open.end(), [&](const Call& call) { return call.xid == xid; });
  if (found == client.open.end()) return failures_.add("I6: ", id, " ended xid ", xid, " twice");
  if (raw(found->applied) != 0)
    failures_.add("I11: ", id, " says that xid ", xid, " was never sent, but it is ", found->applied);
  withdrawn_.emplace(key_of(id, xid), '\0');
  client.open.erase(found);
}

void CheckCalls::on_event(ClientId id, Zxid zxid) {
  Client& client = of(id);
  if (raw(zxid) <= 0) return;
  if (zxid < client.seen_event) failures_.add("I9: ", id, " heard of ", zxid, " after ", client.seen_event);
  client.seen_event = std::max(client.seen_event, zxid);
  seen_ = std::max(seen_, zxid);
}

bool CheckCalls::on_reply(ClientId id, const wire::ReplyHeader& header, std::string_view body,
                          Call& answered) {
  Client& client = of(id);
  if (client.open.empty() || client.open.front().xid != header.xid) {
    failures_.add("I6: ", id, " got an answer to xid ", header.xid,
                  client.open.empty() ? std::string(", and waits for none")
                                      : text(", and waits for xid ", client.open.front().xid));
    return false;
  }
  answered = std::move(client.open.front());
  client.open.pop_front();
  if (header.zxid < client.seen)
    failures_.add("I7: ", id, " saw ", client.seen, ", and then ", header.zxid, " by xid ", header.xid);
  if (header.zxid < client.seen_event)
    failures_.add("I7: ", id, " heard of ", client.seen_event, ", and then saw ", header.zxid, " by xid ",
                  header.xid);
  client.seen = std::max(client.seen, header.zxid);
  if (state::is_write(answered.op)) check_write(id, answered, header, body);
  if (answered.op == OpCode::kSync && header.error == ErrorCode::kOk) {
    if (header.zxid < answered.seen_before)
      failures_.add("I5: the sync ", header.xid, " of ", id, " shows ", header.zxid, ", but ",
                    answered.seen_before, " had been seen when it was asked for");
    client.synced_xid = std::max(client.synced_xid, header.xid);
    client.synced = header.zxid;
  }
  seen_ = std::max(seen_, header.zxid);
  return true;
}

void CheckCalls::check_write(ClientId id, const Call& call, const wire::ReplyHeader& header,
                             std::string_view body) {
  if (raw(call.applied) == 0) {
    // A leader whose disk is full refuses before there is a transaction.
    if (header.error == ErrorCode::kSystemError) return;
    return failures_.add("I3: ", id, " was told ", header.error, " at ", header.zxid, " for xid ", call.xid,
                         ", but it is not in the history");
  }
  if (call.applied != header.zxid)
    return failures_.add("I6: ", id, " was told that xid ", call.xid, " is ", header.zxid, ", but it is ",
                         call.applied);
  wire::Reader r(std::string_view(call.expected).substr(4));
  const wire::ReplyHeader expected = wire::decode_reply_header(r);
  if (header.error != expected.error)
    return failures_.add("I5: ", id, " was told ", header.error, " for xid ", call.xid, " at ", header.zxid,
                         " instead of ", expected.error);
  if (body != std::string_view(call.expected).substr(4 + wire::kReplyHeaderBytes))
    failures_.add("I5: ", id, " was told something else for xid ", call.xid, " than what ", header.zxid,
                  " did");
}

}  // namespace drover::sim
