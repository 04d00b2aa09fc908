// SPDX-License-Identifier: Apache-2.0
//
// Links of the quorum port until both sides are identified. Accepted ones: net/link_auth.h, then the greeting
// (runtime/quorum_door.h), then the origin. Dialled ones: we authenticate before we greet.
#include "base/ensure.h"
#include "log/log.h"
#include "runtime/ensemble_host.h"

namespace drover::server {
namespace {

constexpr int kRefusalLineMs = 1000;

}  // namespace

// --- accepted connections ---

void EnsembleHost::on_accepted(net::Stream stream, const net::Address& peer) {
  const zab::LinkId id{++next_link_};
  auto opened = net::PeerLink::accept(parts_.loop, *this, std::move(stream), peer);
  if (!opened) return log_warn("ensemble", "{}", opened.error().what);
  if (const auto oldest = door_->crowded_out())
    refuse(*oldest, net::Refusal::kCrowded, "too many connections without a greeting");
  ENSURE(!links_.contains(id), "links are numbered");
  Link& link = links_[id];
  link.id = id;
  link.link = std::move(*opened);
  link.is_up = true;
  door_->add(id, parts_.loop.now());
  show(link, peer);
  tell({id, zab::LinkEvent::Kind::kAccepted});
}

void EnsembleHost::on_refused(const net::Address& peer, const std::string& reason) {
  refusals_.count(net::Refusal::kHandshake);
  log_debug("ensemble", "connection from {} failed: {}", peer.to_text(), reason);
}

std::size_t EnsembleHost::read_greeting(Link& link, std::string_view bytes) {
  using Kind = QuorumDoor::Verdict::Kind;
  const QuorumDoor::Verdict verdict = door_->on_bytes(link.id, bytes, memberships_, link.link->output());
  link.link->flush();
  if (verdict.kind == Kind::kRefuse) refuse(link.id, verdict.refusal, verdict.reason);
  if (verdict.kind != Kind::kAdmit) return verdict.consumed;
  if (const auto objection = origins_->objection(verdict.server, link.link->stream(), link.link->peer())) {
    refuse(link.id, net::Refusal::kWrongAddress, *objection);
  } else {
    door_->remove(link.id);
  }
  return verdict.consumed;
}

void EnsembleHost::refuse(zab::LinkId id, net::Refusal kind, const std::string& reason) {
  refusals_.count(kind);
  const Instant now = parts_.loop.now();
  if (now >= next_refusal_line_) {
    next_refusal_line_ = now + kRefusalLineMs;
    log_info("ensemble", "connection from {} on the quorum port refused: {}",
             links_.at(id).link->peer().to_text(), reason);
  }
  close(id);
  tell({id, zab::LinkEvent::Kind::kDown});
}

void EnsembleHost::refuse_late(zab::LinkId id) {
  if (!door_->is_waiting_for(id)) return;
  refuse(
      id, net::Refusal::kLate,
      door_->is_authenticating(id) ? "its SASL authentication took too long" : "its greeting took too long");
}

// --- dialled connections ---

void EnsembleHost::begin_dialled(Link& link) {
  link.auth.reset();
  link.is_up = true;
  tell({link.id, zab::LinkEvent::Kind::kUp});
}

// No deadline of its own: the member gives up a dial that takes too long.
void EnsembleHost::authenticate(Link& link) {
  link.auth = std::make_unique<net::ConnectingAuth>(sasl_->auth(), link.dialled, std::string(),
                                                    [this, id = link.id] { on_auth_started(id); });
}

void EnsembleHost::on_auth_started(zab::LinkId id) {
  Link& link = links_.at(id);
  if (link.auth->state() == net::ConnectingAuth::State::kFailed) {
    return dial_failed(id, std::string(link.auth->failure()));
  }
  link.link->output() += link.auth->first_packet();
  link.link->flush();
}

std::size_t EnsembleHost::read_auth_answer(Link& link, std::string_view bytes) {
  const std::size_t consumed = link.auth->on_bytes(bytes, link.link->output());
  link.link->flush();
  using State = net::ConnectingAuth::State;
  if (link.auth->state() == State::kPassed) {
    begin_dialled(link);
  } else if (link.auth->state() == State::kFailed) {
    dial_failed(link.id, std::string(link.auth->failure()));
  }
  return consumed;
}

void EnsembleHost::dial_failed(zab::LinkId id, const std::string& reason) {
  log_info("ensemble", "cannot reach the leader: {}", reason);
  close(id);
  tell({id, zab::LinkEvent::Kind::kDialFailed});
}

}  // namespace drover::server
