// SPDX-License-Identifier: Apache-2.0
//
// The login with SASL: on every connection, after the handshake and before everything else.
//
// Nothing overtakes it, so that no request is carried out without the identity that it needs. There is no
// ping either: a server that requires logins ends a connection for any earlier request.
//
// A refusal is final, as in Java: every server would refuse again. But a client that has logged in before
// and now cannot make its first token (no KDC answers) tries again on the next connection.
#include <utility>

#include "client/session.h"
#include "wire/jute.h"

namespace drover::client {

using wire::OpCode;

void Session::begin_login(Instant now, SessionEffects& effects) {
  phase_ = Phase::kLogin;
  login_ = {.deadline = now + read_timeout_ms()};
  effects.sasl.emplace();
}

void Session::on_sasl(SaslStep step, Instant now, SessionEffects& effects) {
  if (phase_ != Phase::kLogin || !login_.is_our_turn) return;
  switch (step.status) {
    case SaslStep::Status::kFailed:
      if (logged_in_ && !login_.has_begun) return hang_up(now, effects);
      return fail_auth("SASL: " + step.reason, effects);
    case SaslStep::Status::kContinue: return send_token(step.token.value_or(""), now, effects);
    case SaslStep::Status::kDone:
      if (!step.token) return open(now, effects);
      login_.is_last = true;
      return send_token(*step.token, now, effects);
  }
}

void Session::send_token(std::string_view token, Instant now, SessionEffects& effects) {
  login_.is_our_turn = false;
  login_.has_begun = true;
  std::string body;
  wire::Writer(body).string(token);
  send_request({Token{}, take_xid(), OpCode::kSasl, now, {}}, body, now, effects);
}

// A server without SASL answers OK with a null token. So does one that allows clients whose login has failed.
bool Session::on_sasl_reply(const wire::ReplyHeader& header, std::string_view body, Instant now,
                            SessionEffects& effects) {
  if (header.error != ErrorCode::kOk) {
    fail_auth("SASL: the server refuses the login", effects);
    return true;
  }
  wire::Reader r(body);
  const auto token = r.buffer();
  if (!r.ok()) return false;
  if (login_.is_last) {
    open(now, effects);
  } else if (!token) {
    fail_auth("SASL: the server does not accept the login, or has no SASL", effects);
  } else {
    login_.is_our_turn = true;
    effects.sasl.emplace(*token);
  }
  return true;
}

}  // namespace drover::client
