// SPDX-License-Identifier: Apache-2.0
//
// Links to other servers.
#include <algorithm>

#include "sim/process.h"

namespace drover::sim {

void Process::tell(const zab::LinkEvent& event) {
  input([&](replica::Member& member, replica::Effects& effects) {
    member.on_link(event, parts_.clock.now(), effects);
  });
}

void Process::dial(const zab::Dial& dial) {
  Link& link = links_[dial.link];
  link.socket = parts_.network.dial(host_of(parts_.id), host_of(dial.server), Port::kQuorum);
  link_of_[link.socket] = dial.link;
}

void Process::on_dial_failed(SocketId socket) {
  const auto found = link_of_.find(socket);
  if (found == link_of_.end()) return;
  const zab::LinkId id = found->second;
  link_of_.erase(found);
  links_.erase(id);
  tell({id, zab::LinkEvent::Kind::kDialFailed});
}

void Process::on_connected(SocketId socket) {
  const auto found = link_of_.find(socket);
  if (found == link_of_.end()) return;
  tell({found->second, zab::LinkEvent::Kind::kUp});
}

void Process::on_accepted(SocketId socket, Port port) {
  if (port == Port::kClient) {
    const std::size_t front = next_front_++ % fronts_.size();
    ClientLink& client = clients_[socket];
    client.front = front;
    client.conn =
        fronts_[front]->open({"127.0.0.1", "127.0.0.1:1", {{"ip", "127.0.0.1"}}}, parts_.clock.now());
    ports_[front].sockets[client.conn.slot] = socket;
    return;
  }
  if (const auto oldest = guard_.crowded_out()) lose(*oldest);
  const zab::LinkId id{++next_link_};
  links_[id].socket = socket;
  link_of_[socket] = id;
  guard_.add(id, parts_.clock.now());
  await_greetings();
  tell({id, zab::LinkEvent::Kind::kAccepted});
}

void Process::await_greetings() {
  const auto next = guard_.next_time();
  if (!next || greetings_awaited_) return;
  greetings_awaited_ = true;
  parts_.world.after(parts_.clock.until(*next), parts_.actor, [this] {
    greetings_awaited_ = false;
    for (const zab::LinkId id : guard_.late(parts_.clock.now())) {
      if (guard_.is_waiting_for(id)) lose(id);  // What was told before may have closed it.
    }
    await_greetings();
  });
}

bool Process::is_greeting_accepted(zab::LinkId id, std::string_view bytes) {
  const host::Greeting greeting = guard_.judge(bytes, member_->peer().memberships()).greeting;
  if (greeting == host::Greeting::kIncomplete) return false;
  if (greeting == host::Greeting::kGood) {
    guard_.remove(id);
    return true;
  }
  parts_.world.count(Did::kGreetingRefused);
  lose(id);
  return false;
}

void Process::on_bytes(SocketId socket, std::string_view bytes) {
  if (const auto client = clients_.find(socket); client != clients_.end()) {
    client->second.in.append(bytes);
    return wake(client->second.front);
  }
  const auto found = link_of_.find(socket);
  if (found == link_of_.end()) return;
  links_.at(found->second).in.append(bytes);
  feed(found->second);
}

void Process::feed(zab::LinkId id) {
  for (;;) {
    const auto found = links_.find(id);
    if (found == links_.end() || found->second.in.empty() || why_over_) return;
    if (guard_.is_waiting_for(id) && !is_greeting_accepted(id, found->second.in)) return;
    // The bytes may make the process close the link.
    const std::string bytes = std::move(found->second.in);
    found->second.in.clear();
    std::size_t taken = 0;
    input([&](replica::Member& member, replica::Effects& effects) {
      taken = member.on_link_bytes(id, bytes, parts_.clock.now(), parts_.clock.wall(), effects);
    });
    const auto still = links_.find(id);
    if (still == links_.end()) return;
    still->second.in = bytes.substr(taken);
    if (taken == 0) return;
  }
}

void Process::on_closed(SocketId socket) {
  if (clients_.contains(socket)) return close_client(socket);
  const auto found = link_of_.find(socket);
  if (found != link_of_.end()) lose(found->second);
}

// The link is gone, and the member does not know yet.
void Process::lose(zab::LinkId id) {
  close(id);
  tell({id, zab::LinkEvent::Kind::kDown});
}

void Process::close(zab::LinkId id) {
  const auto found = links_.find(id);
  if (found == links_.end()) return;
  parts_.network.close(found->second.socket);
  link_of_.erase(found->second.socket);
  links_.erase(found);
  guard_.remove(id);
}

void Process::send(const zab::LinkSend& send) {
  const auto found = links_.find(send.link);
  if (found == links_.end() || !may_send()) return;
  if (send.snapshot) return begin_stream(send.link, found->second);
  if (send.log) return begin_log(send.link, found->second, *send.log);
  if (found->second.stream) {
    found->second.stream->keep_behind(send.bytes);
  } else if (found->second.log && found->second.log->is_found) {
    found->second.log->behind += send.bytes;
  } else {
    parts_.network.send(found->second.socket, send.bytes);
  }
}

// --- sending the state to a learner, while everything else continues ---

void Process::begin_stream(zab::LinkId id, Link& link) {
  link.stream = std::make_unique<StateStream>(machine_);
  std::string out;
  say("sends its state from " + std::to_string(raw(link.stream->begin(out))) + " on");
  const NetworkPlan& plan = parts_.network.plan();
  const auto pieces =
      static_cast<Micros>(1 + machine_.tree.node_count() / parts_.plan.disk.snapshot_step_nodes);
  link.stream->time_left = plan.state_time;
  link.stream->piece_time = std::min(plan.state_time / pieces, plan.state_piece_longest);
  parts_.network.send(link.socket, out);
  pump_later(id, *link.stream);
}

// One piece at a time, as fast as the network takes them, so that much can happen before the last one. Pieces
// that are added meanwhile do not make the whole slower.
void Process::pump_later(zab::LinkId id, StateStream& stream) {
  const Micros time = std::min(stream.piece_time, stream.time_left);
  stream.time_left -= time;
  parts_.world.after(parts_.network.delay() + time, parts_.actor, [this, id] { pump(id); });
}

void Process::pump(zab::LinkId id) {
  using host::WalkProgress;
  tell({id, zab::LinkEvent::Kind::kTaken});
  const auto found = links_.find(id);
  if (found == links_.end() || !found->second.stream || !may_send()) return;
  Link& link = found->second;
  const WalkProgress progress = link.stream->step({.nodes = parts_.plan.disk.snapshot_step_nodes});
  if (progress == WalkProgress::kCutOff) return lose(id);
  std::string out;
  link.stream->append_to(out);
  if (progress == WalkProgress::kEnd) {
    link.stream.reset();
    say("has sent its state, at " + std::to_string(raw(machine_.last_zxid)));
  } else {
    pump_later(id, *link.stream);
  }
  parts_.network.send(link.socket, out);
  if (progress == WalkProgress::kEnd) {
    tell({id, zab::LinkEvent::Kind::kStateSent});
  }
}

// --- sending transactions from the log files ---

void Process::begin_log(zab::LinkId id, Link& link, const zab::LogRange& range) {
  const host::LogStreamOptions options{.dirs = data_dir_->dirs(),
                                       .size_factor = parts_.plan.disk.snapshot_size_factor,
                                       .piece_bytes = 64 * parts_.plan.disk.snapshot_step_nodes};
  link.log.reset(new LogOnItsWay{.stream = host::LogStream(parts_.disk, options, range)});
  pump_log_later(id);
}

void Process::pump_log_later(zab::LinkId id) {
  parts_.world.after(hop(), parts_.actor, [this, id] { pump_log(id); });
}

void Process::pump_log(zab::LinkId id) {
  using Progress = host::LogStream::Progress;
  const auto found = links_.find(id);
  if (why_over_ || found == links_.end() || !found->second.log) return;
  LogOnItsWay& log = *found->second.log;
  if (log.is_found) return send_log(id, found->second);
  const Progress progress = log.stream.look();
  if (progress == Progress::kFailed) return no_log(id, found->second);
  pump_log_later(id);
  if (progress == Progress::kMore) return;
  tell({id, zab::LinkEvent::Kind::kLogReady});
  if (const auto still = links_.find(id); still != links_.end() && still->second.log)
    still->second.log->is_found = true;
}

void Process::send_log(zab::LinkId id, Link& link) {
  using Progress = host::LogStream::Progress;
  if (!may_send()) return;
  std::string out;
  const Progress progress = link.log->stream.send(out);
  if (progress == Progress::kFailed) return no_log(id, link);
  if (progress == Progress::kEnd) out += link.log->behind;
  parts_.network.send(link.socket, out);
  if (progress == Progress::kMore) {
    pump_log_later(id);
    return tell({id, zab::LinkEvent::Kind::kTaken});
  }
  say("has sent its log");
  link.log.reset();
  tell({id, zab::LinkEvent::Kind::kStateSent});
}

void Process::no_log(zab::LinkId id, Link& link) {
  say("no DIFF from the log: " + link.log->stream.why());
  parts_.world.count(Did::kNoLog);
  link.log.reset();
  tell({id, zab::LinkEvent::Kind::kNoLog});
  look_at_power();
}

}  // namespace drover::sim
