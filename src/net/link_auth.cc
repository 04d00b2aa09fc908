// SPDX-License-Identifier: Apache-2.0
#include "net/link_auth.h"

#include <utility>

namespace drover::net {
namespace {

using wire::AuthStatus;

constexpr std::string_view kFailed = "SASL authentication failed: ";
constexpr std::string_view kNotAPacket = "it sent an invalid packet";
constexpr std::string_view kTooLarge = "our token is too large";

std::string failed_because(std::string_view reason) { return std::string(kFailed).append(reason); }

bool is_too_large(const SaslStep& step) {
  return step.token && step.token->size() > wire::kAuthTokenBytesMax;
}

// Java's client takes a null token for an error.
std::string_view token_or_empty(const SaslStep& step) {
  return step.token ? std::string_view(*step.token) : std::string_view{};
}

}  // namespace

// --- accepting ---

std::size_t AcceptedAuth::on_bytes(std::string_view bytes, std::string& out) {
  if (rounds_ == 0 && wire::begins_with_auth(bytes) == false) {
    if (settings_.required) {
      fail(std::string(kAuthIsRequired));
    } else {
      state_ = State::kAbsent;
    }
    return 0;
  }
  std::size_t understood = 0;
  while (state_ == State::kWaiting) {
    wire::QuorumAuthPacket packet;
    const wire::DecodedAuth decoded = wire::decode_auth_packet(bytes.substr(understood), packet);
    if (decoded.status == wire::Decoded::kNeedMore) break;
    understood += decoded.bytes;
    if (decoded.status == wire::Decoded::kBad) {
      fail(failed_because(kNotAPacket));
    } else {
      on_packet(packet, out);
    }
    if (state_ == State::kFailed) wire::append_auth_packet(out, AuthStatus::kError, "");
  }
  return understood;
}

void AcceptedAuth::on_packet(const wire::QuorumAuthPacket& packet, std::string& out) {
  if (packet.status != AuthStatus::kInProgress) return fail(failed_because("it gave up"));
  if (++rounds_ == 1) conversation_ = settings_.acceptor->start();
  if (!conversation_) return fail(failed_because("there are no credentials here"));
  const SaslStep step = conversation_->step(packet.token.value_or(""));
  if (step.status == SaslStep::Status::kFailed) return fail(failed_because(step.reason));
  if (is_too_large(step)) return fail(failed_because(kTooLarge));
  if (step.status == SaslStep::Status::kDone) return on_success(step, out);
  if (rounds_ > kAuthRoundsMax) return fail(failed_because("too many rounds"));
  wire::append_auth_packet(out, AuthStatus::kInProgress, token_or_empty(step));
}

void AcceptedAuth::on_success(const SaslStep& step, std::string& out) {
  name_ = conversation_->authorization_id();
  if (const auto objection = settings_.objection ? settings_.objection(name_) : std::nullopt) {
    return fail(failed_because(*objection));
  }
  state_ = State::kPassed;
  conversation_.reset();
  wire::append_auth_packet(out, AuthStatus::kSuccess,
                           step.token ? wire::Nullable(*step.token) : std::nullopt);
}

// --- connecting ---

ConnectingAuth::ConnectingAuth(const PeerAuth& settings, ServerId server, const std::string& host,
                               std::function<void()> started)
    : starter_(*settings.starter) {
  ticket_ = starter_.begin(settings.connector(server, host),
                           [this, started = std::move(started)](SaslStarter::Started first) {
                             ticket_.reset();
                             on_started(std::move(first));
                             started();  // It may destroy this object.
                           });
}

ConnectingAuth::~ConnectingAuth() {
  if (ticket_) starter_.cancel(*ticket_);
}

void ConnectingAuth::on_started(SaslStarter::Started started) {
  if (state_ != State::kStarting) return;
  if (started.step.status == SaslStep::Status::kFailed) return fail(failed_because(started.step.reason));
  if (is_too_large(started.step)) return fail(failed_because(kTooLarge));
  conversation_ = std::move(started.conversation);
  is_convinced_ = started.step.status == SaslStep::Status::kDone;
  wire::append_auth_packet(first_packet_, AuthStatus::kInProgress, token_or_empty(started.step));
  state_ = State::kWaiting;
}

std::size_t ConnectingAuth::on_bytes(std::string_view bytes, std::string& out) {
  if (state_ == State::kStarting) {
    fail(failed_because("it spoke before its turn"));
    return 0;
  }
  std::size_t understood = 0;
  while (state_ == State::kWaiting) {
    wire::QuorumAuthPacket packet;
    const wire::DecodedAuth decoded = wire::decode_auth_packet(bytes.substr(understood), packet);
    if (decoded.status == wire::Decoded::kNeedMore) break;
    understood += decoded.bytes;
    if (decoded.status == wire::Decoded::kBad) {
      fail(failed_because(kNotAPacket));
    } else {
      on_packet(packet, out);
    }
  }
  return understood;
}

void ConnectingAuth::on_packet(const wire::QuorumAuthPacket& packet, std::string& out) {
  const std::string_view token = packet.token.value_or("");
  switch (packet.status) {
    case AuthStatus::kError: return fail(failed_because("it refuses the credentials of this server"));
    case AuthStatus::kSuccess: return on_success(token);
    case AuthStatus::kInProgress: return on_challenge(token, out);
  }
}

void ConnectingAuth::on_challenge(std::string_view token, std::string& out) {
  if (is_convinced_ || ++rounds_ > kAuthRoundsMax) return fail(failed_because("too many rounds"));
  const SaslStep step = conversation_->step(token);
  if (step.status == SaslStep::Status::kFailed) return fail(failed_because(step.reason));
  if (is_too_large(step)) return fail(failed_because(kTooLarge));
  is_convinced_ = step.status == SaslStep::Status::kDone;
  wire::append_auth_packet(out, AuthStatus::kInProgress, token_or_empty(step));
}

// The peer is satisfied with us. It must have proven its identity to us as well.
void ConnectingAuth::on_success(std::string_view token) {
  if (!is_convinced_) {
    const SaslStep step = conversation_->step(token);
    if (step.status == SaslStep::Status::kFailed) return fail(failed_because(step.reason));
    if (step.status != SaslStep::Status::kDone || !token_or_empty(step).empty()) {
      return fail(failed_because("it did not prove that it knows the password or has the key"));
    }
  }
  state_ = State::kPassed;
  conversation_.reset();
}

}  // namespace drover::net
