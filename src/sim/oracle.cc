// SPDX-License-Identifier: Apache-2.0
#include "sim/oracle.h"

namespace drover::sim {

Oracle::Oracle(const OracleOptions& options)
    : options_(options),
      model_(options.state),
      order_(failures_, *this),
      sessions_(failures_, model_, order_, options.clock_drift_percent),
      calls_(failures_, model_, sessions_),
      reads_(failures_, model_, options.state),
      watches_(failures_, model_) {
  sessions_.set_local_sessions(options.local_sessions);
  calls_.set_spoiled_states(options.spoiled_states);
}

// --- servers ---

void Oracle::begin_with(std::string_view entry) { order_.begin_with(entry); }

void Oracle::on_known(std::string_view entry) {
  if (entry.size() > options_.state.txn_bytes_max) {
    failures_.add("I14: ", wire::zxid_of_entry(entry), " has ", entry.size(),
                  " bytes, more than a follower can read: ", options_.state.txn_bytes_max);
  }
  order_.on_known(entry);
}

void Oracle::on_committed(std::string_view entry, const wire::TxnEntry& txn) {
  sessions_.before(txn, now_);
  calls_.before(entry, txn);
  const state::ApplyResult& result = model_.apply(txn);
  order_.set_model_digests(model_.machine().tree.digest(), model_.sessions_digest());
  calls_.after(txn, result);
  sessions_.after(txn);
  watches_.on_committed();
  const auto* multi = std::get_if<wire::MultiTxn>(&txn.record);
  if (multi && raw(txn.header.session) == 0) watches_.on_swept(*multi);
}

void Oracle::on_state(ServerId server, const state::Machine& machine, bool exact) {
  if (!exact) return order_.on_state(server, machine.last_zxid, std::nullopt, std::nullopt);
  order_.on_state(server, machine.last_zxid, machine.tree.digest(), digest_of(machine.sessions));
}

void Oracle::on_standalone(ServerId server, Zxid last) { order_.on_standalone(server, last, now_); }

void Oracle::on_established(ServerId server, std::uint32_t epoch, Zxid last) {
  order_.on_established(server, epoch, last, now_);
}

// --- clients ---

ClientId Oracle::new_client() {
  watches_.new_client();
  return calls_.new_client();
}

void Oracle::on_call(ClientId client, std::int32_t xid, wire::OpCode op, std::string_view body) {
  calls_.on_call(client, xid, op, body, now_);
}

void Oracle::on_reply(ClientId client, const wire::ReplyHeader& header, std::string_view body) {
  const Witness witness{"client", static_cast<std::int64_t>(client)};
  Call call;
  if (!order_.on_seen(header.zxid, witness)) return;
  if (!calls_.on_reply(client, header, body, call)) return;
  watches_.before_reply(client, header.zxid);
  reads_.on_reply(client, call, header, body);
  watches_.on_reply(client, call, header);
}

void Oracle::on_lost(ClientId client, std::int32_t xid) { calls_.on_lost(client, xid); }

void Oracle::on_not_applied(ClientId client, std::int32_t xid) { calls_.on_not_applied(client, xid); }

void Oracle::on_event(ClientId client, wire::EventType type, std::string_view path, Zxid zxid) {
  const Witness witness{"client", static_cast<std::int64_t>(client)};
  if (raw(zxid) > 0 && !order_.on_seen(zxid, witness)) return;
  calls_.on_event(client, zxid);
  watches_.on_event(client, type, path, zxid);
}

void Oracle::on_session(ClientId client, SessionId session, std::int32_t timeout_ms, ServerId server,
                        Instant asked) {
  calls_.on_session(client, session, server);
  sessions_.on_session(session, timeout_ms, asked);
}

void Oracle::on_disconnected(ClientId client) {
  calls_.on_disconnected(client);
  watches_.on_disconnected(client);
}

void Oracle::on_nonsense(ClientId client) {
  failures_.add("I6: ", client, " is answered what it did not ask");
}

void Oracle::on_closed(ClientId client) {
  sessions_.on_closed(calls_.session_of(client));
  on_over(client);
}

void Oracle::on_over(ClientId client) { watches_.on_over(client); }

// --- the end ---

void Oracle::on_settled(ServerId server, const state::Machine& machine) {
  order_.on_settled(server, machine.last_zxid, machine.tree.digest(), digest_of(machine.sessions));
}

void Oracle::on_drained(ServerId server, const state::Machine& machine, const Leftovers& left) {
  sessions_.on_drained(server, machine);
  if (left.connections != 0)
    failures_.add("I13: server ", server, " has ", left.connections, " connections left");
  if (left.watches != 0) failures_.add("I13: server ", server, " has ", left.watches, " watches left");
  if (left.requests != 0) failures_.add("I13: server ", server, " has ", left.requests, " requests left");
}

}  // namespace drover::sim
