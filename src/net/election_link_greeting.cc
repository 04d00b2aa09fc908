// SPDX-License-Identifier: Apache-2.0
//
// Accepted connections of the election port, until it is known who they are.
#include <algorithm>
#include <utility>

#include "net/election_link.h"

namespace drover::net {
namespace {

constexpr std::size_t kUngreetedMax = 64;
// A knock that arrives this soon after the link came up was sent before it. A knock that was meant is
// repeated.
constexpr int kCrossedMs = 100;
constexpr int kRefusalLineMs = 1000;
// A connection that has nothing to send and does not authenticate is silent after its greeting. Where it need
// not authenticate, it is taken for such a one after this time; a KDC has usually answered by then.
constexpr int kQuietMs = 2000;

}  // namespace

void ElectionLinks::on_accepted(Stream stream, const Address& peer) {
  if (ungreeted_.size() >= kUngreetedMax) {
    refuse(*ungreeted_.front().link, Refusal::kCrowded, "too many connections without a greeting");
  }
  auto link = PeerLink::accept(loop_, *this, std::move(stream), peer, link_options());
  if (!link) return on_refused(peer, link.error().what);
  ungreeted_.push_back({.link = *std::move(link), .deadline = loop_.now() + config_.hello_timeout_ms});
}

void ElectionLinks::on_refused(const Address& peer, const std::string& reason) {
  refusals_.count(Refusal::kHandshake);
  tell_refusal(peer, reason);
}

void ElectionLinks::tell_refusal(const Address& peer, const std::string& reason) {
  tell_at_most_once_a_second("connection from " + peer.to_text() + " refused: " + reason);
}

// For lines that a stranger can cause at any rate.
void ElectionLinks::tell_at_most_once_a_second(std::string line) {
  if (loop_.now() < next_refusal_line_) {
    ++refusals_untold_;
    return;
  }
  next_refusal_line_ = loop_.now() + kRefusalLineMs;
  if (const auto untold = std::exchange(refusals_untold_, 0); untold > 0) {
    line += " (and " + std::to_string(untold) + " others before)";
  }
  if (callbacks_.on_trouble) callbacks_.on_trouble(line);
}

ElectionLinks::UngreetedPlace ElectionLinks::find_ungreeted(const PeerLink& link) {
  return std::ranges::find_if(ungreeted_,
                              [&](const Ungreeted& waiting) { return waiting.link.get() == &link; });
}

std::unique_ptr<PeerLink> ElectionLinks::take_ungreeted(const PeerLink& link) {
  const auto found = find_ungreeted(link);
  if (found == ungreeted_.end()) return nullptr;
  auto taken = std::move(found->link);
  ungreeted_.erase(found);
  return taken;
}

void ElectionLinks::refuse(PeerLink& link, Refusal kind, const std::string& reason) {
  const auto ended = take_ungreeted(link);
  refusals_.count(kind);
  tell_refusal(link.peer(), reason);
}

// --- the greeting ---

std::size_t ElectionLinks::read_ungreeted(PeerLink& link, std::string_view bytes) {
  const auto found = find_ungreeted(link);
  if (found == ungreeted_.end()) return bytes.size();
  return found->auth ? read_auth(*found, bytes) : read_hello(*found, bytes);
}

std::size_t ElectionLinks::read_hello(Ungreeted& ungreeted, std::string_view bytes) {
  PeerLink& link = *ungreeted.link;
  wire::ElectionHello hello;
  const wire::DecodedHello decoded = wire::decode_hello(bytes, hello);
  if (decoded.status == wire::Decoded::kNeedMore) return 0;
  if (decoded.status == wire::Decoded::kBad)
    return refuse(link, Refusal::kNoGreeting, "its greeting is invalid"), 0;
  const std::string_view rest = bytes.substr(decoded.bytes);
  if (config_.auth->acceptor == nullptr) return decoded.bytes + admit(link, hello, false, rest);

  // Strangers should be gone before the exchange, which costs more than this.
  if (const auto objection = origin_objection(hello, link)) {
    return refuse(link, Refusal::kWrongAddress, *objection), 0;
  }
  ungreeted.hello = std::move(hello);
  ungreeted.auth = std::make_unique<AcceptedAuth>(*config_.auth);
  if (!config_.auth->required) ungreeted.quiet_until = loop_.now() + kQuietMs;
  return decoded.bytes + read_auth(ungreeted, rest);
}

// A forged knock of a peer gains nothing: we connect to the addresses of our configuration.
std::optional<std::string> ElectionLinks::origin_objection(const wire::ElectionHello& hello,
                                                           const PeerLink& link) {
  const auto found = peers_.find(hello.server);
  const bool is_peer = found != peers_.end() && !found->second.guest;
  if (!is_peer || config_.origins == nullptr) return std::nullopt;
  auto objection = config_.origins->objection(hello.server, link.stream(), link.peer());
  const bool is_knock = hello.server < config_.me;
  return is_knock ? std::nullopt : std::move(objection);
}

std::size_t ElectionLinks::read_auth(Ungreeted& ungreeted, std::string_view bytes) {
  PeerLink& link = *ungreeted.link;
  AcceptedAuth& auth = *ungreeted.auth;
  const std::size_t understood = auth.on_bytes(bytes, link.output());
  if (auth.has_begun()) ungreeted.quiet_until.reset();
  link.flush();
  using State = AcceptedAuth::State;
  switch (auth.state()) {
    case State::kWaiting: return understood;
    case State::kFailed: return refuse(link, Refusal::kCredentials, std::string(auth.failure())), 0;
    case State::kAbsent:
    case State::kPassed: break;
  }
  // A copy: the entry disappears.
  const wire::ElectionHello hello = std::move(ungreeted.hello);
  return understood + admit(link, hello, auth.state() == State::kPassed, bytes.substr(understood));
}

// Returns how much of `bytes`, which follow the greeting, were consumed.
std::size_t ElectionLinks::admit(PeerLink& link, const wire::ElectionHello& hello, bool is_authenticated,
                                 std::string_view bytes) {
  // Again: the members may have changed since.
  if (const auto objection = origin_objection(hello, link)) {
    return refuse(link, Refusal::kWrongAddress, *objection), 0;
  }
  const auto found = peers_.find(hello.server);
  const bool is_peer = found != peers_.end() && !found->second.guest;
  const std::expected<PeerEntry*, std::string> peer =
      is_peer ? &*found : admit_guest(hello.server, hello.addresses);
  if (!peer) return refuse(link, Refusal::kNoMember, peer.error()), 0;
  if ((*peer)->second.guest) (*peer)->second.guest->is_authenticated = is_authenticated;
  auto taken = take_ungreeted(link);
  if (hello.server < config_.me) {
    taken.reset();
    return on_knock(**peer, hello.addresses), 0;
  }
  establish(**peer, std::move(taken));
  return read_frames(link, bytes);
}

// The peer has no link, otherwise it would not knock. Our link, if we have one, may be dead without our
// knowledge; or the knock is forged. So our link stays until a better one is up.
void ElectionLinks::on_knock(PeerEntry& peer, const std::vector<std::string>& announced) {
  if (peer.second.dialled) return;
  if (peer.second.link && loop_.now() - peer.second.up_since < kCrossedMs) return;
  if (peer.second.guest) prepare_guest_dial(peer.second, announced);
  dial(peer);
}

// --- those that say no more ---

// A knock without authentication ends right after the greeting.
void ElectionLinks::ungreeted_closed(PeerLink& link, const std::string& reason) {
  const auto found = find_ungreeted(link);
  const bool is_without_auth = found != ungreeted_.end() && found->auth && !found->auth->has_begun();
  if (is_without_auth && config_.auth->required) {
    return refuse(link, Refusal::kCredentials, std::string(kAuthIsRequired));
  }
  const bool is_knock = is_without_auth && found->hello.server < config_.me;
  if (!is_knock) return refuse(link, Refusal::kNoGreeting, reason);
  const wire::ElectionHello hello = std::move(found->hello);
  admit(link, hello, false, {});
}

void ElectionLinks::on_ungreeted_time(Instant now) {
  while (!ungreeted_.empty() && ungreeted_.front().deadline <= now) {
    refuse(*ungreeted_.front().link, Refusal::kLate,
           ungreeted_.front().auth ? "its SASL authentication took too long" : "its greeting took too long");
  }
  const auto is_quiet = [&](const Ungreeted& each) { return each.quiet_until && *each.quiet_until <= now; };
  for (;;) {
    const auto quiet = std::ranges::find_if(ungreeted_, is_quiet);
    if (quiet == ungreeted_.end()) return;
    const wire::ElectionHello hello = std::move(quiet->hello);
    admit(*quiet->link, hello, false, {});
  }
}

}  // namespace drover::net
