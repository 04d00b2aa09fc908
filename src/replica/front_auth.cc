// SPDX-License-Identifier: Apache-2.0
//
// Who a client is: auth packets, the name of the ensemble, and SASL.
//
// All of them are handled at once, even while earlier requests wait, as in Java: requests keep the identities
// that the connection had when they were received. Later requests cost nothing more because of a login.
#include "replica/front_auth.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

#include "replica/front.h"
#include "wire/replies.h"

namespace drover::replica {
namespace {

// Per round; more would only flood the log.
constexpr std::size_t kOutcomesMax = 32;

bool contains(const auto& list, const auto& item) { return std::ranges::find(list, item) != list.end(); }

}  // namespace

std::size_t identity_bytes(const state::Identities& identities) {
  return std::accumulate(
      identities.begin(), identities.end(), std::size_t{0},
      [](std::size_t sum, const wire::Identity& id) { return sum + id.scheme.size() + id.id.size(); });
}

bool Front::is_authenticated(const Conn& c) const {
  if (config_.required_schemes.empty()) return true;
  return std::ranges::any_of(
      *c.who, [&](const wire::Identity& id) { return contains(config_.required_schemes, id.scheme); });
}

// False: the connection would have too many.
bool Front::add_identities(Conn& c, const state::Identities& proven) {
  auto identities = std::make_shared<state::Identities>(*c.who);
  for (const wire::Identity& id : proven) {
    if (!contains(*identities, id)) identities->push_back(id);
  }
  const std::size_t bytes = identity_bytes(*identities);
  if (identities->size() > config_.identities_max || bytes > client_limits::kIdentityBytes) {
    ++totals_.identities_refused;
    return false;
  }
  c.who = std::move(identities);
  c.who_bytes = static_cast<std::uint32_t>(bytes);
  return true;
}

void Front::on_auth(Conn& c, const wire::RequestHeader& header, std::string_view body) {
  wire::Reader r(body);
  const auto request = wire::decode_auth(r);
  if (!request) return end(c);
  if (request->scheme == "ensemble" && machine_.options.ensemble_scheme) {
    return on_ensemble_name(c, header, request->auth.value_or(""));
  }
  const bool null_digest = request->scheme == "digest" && !request->auth;
  const auto proven =
      request->scheme && !null_digest
          ? state::authenticate(*request->scheme, request->auth.value_or(""), c.ip, machine_.options)
          : std::nullopt;
  if (!proven || !add_identities(c, *proven)) {
    ++stats_.auth_failures;
    return refuse(c, header, ErrorCode::kAuthFailed, Zxid{});
  }
  answer_auth(c, header);
}

// Java's and C's clients send xid -4 and wait for it; Go's waits for the ordinary xid that it sent.
void Front::answer_auth(Conn& c, const wire::RequestHeader& header) {
  wire::append_bare_reply(c.out, {header.xid, Zxid{}, ErrorCode::kOk});
  ++stats_.sent;
  ++c.sent;
}

// Proves nothing about the client, but checks that the client meant this ensemble. If it meant another, an
// error would be final; a closed connection makes it try its next server.
void Front::on_ensemble_name(Conn& c, const wire::RequestHeader& header, std::string_view name) {
  const auto& names = machine_.options.ensemble_names;
  if (name.empty() || names.empty()) {
    ++totals_.ensemble_names_skipped;
  } else if (contains(names, name)) {
    ++totals_.ensemble_names_right;
  } else {
    ++totals_.ensemble_names_wrong;
    return end(c);
  }
  answer_auth(c, header);
}

// One exchange per connection, and requests may come between its steps. A Java server without SASL answers OK
// with a null token, which some clients (kazoo) take for an empty challenge and answer again, forever. Here
// they learn that they failed.
void Front::on_sasl(Conn& c, const wire::RequestHeader& header, std::string_view body) {
  wire::Reader r(body);
  const auto token = r.buffer();
  if (!r.ok()) return end(c);
  if (!config_.sasl)
    return on_sasl_failure(c, header, "no login is configured: java.security.auth.login.config");
  if (!token) return end(c);  // as Java, which cannot handle it
  SaslStep step = step_sasl(c, *token);
  if (step.status == SaslStep::Status::kContinue) return answer_sasl(c, header, ErrorCode::kOk, step.token);
  const std::unique_ptr<SaslConversation> ended = std::move(c.sasl);
  c.sasl_over = true;
  if (step.status == SaslStep::Status::kFailed) return on_sasl_failure(c, header, step.reason);
  const std::string& name = ended->authorization_id();
  if (!add_identities(c, state::sasl_identities(name, machine_.options)))
    return on_sasl_failure(c, header, "the connection has too many identities");
  ++totals_.sasl_logins;
  report_sasl(c, true, name);
  answer_sasl(c, header, ErrorCode::kOk, step.token);
}

SaslStep Front::step_sasl(Conn& c, std::string_view token) {
  const auto failed = [](std::string reason) {
    return SaslStep{.status = SaslStep::Status::kFailed, .reason = std::move(reason)};
  };
  if (c.sasl_over) return failed("a token after the end of the exchange");
  if (token.size() > client_limits::kSaslTokenBytes) return failed("a token of more than 64 KiB");
  if (++c.sasl_steps > client_limits::kSaslSteps) return failed("an exchange without end");
  if (!c.sasl) c.sasl = config_.sasl->start();
  return c.sasl->step(token);
}

void Front::answer_sasl(Conn& c, const wire::RequestHeader& header, ErrorCode error,
                        const std::optional<std::string>& token) {
  {
    wire::Frame frame(c.out);
    wire::Writer w(c.out);
    wire::encode(w, wire::ReplyHeader{header.xid, Zxid{}, error});
    if (token) {
      w.string(*token);
    } else {
      w.null();
    }
  }
  ++stats_.sent;
  ++c.sent;
}

// A client that may go on without a login is not told that it failed: a null token, as in Java.
void Front::on_sasl_failure(Conn& c, const wire::RequestHeader& header, std::string_view reason) {
  ++stats_.auth_failures;
  ++totals_.sasl_failures;
  report_sasl(c, false, reason);
  const bool required = contains(config_.required_schemes, "sasl");
  if (config_.sasl && config_.allow_sasl_failed_clients && !required)
    return answer_sasl(c, header, ErrorCode::kOk, std::nullopt);
  answer_sasl(c, header, required ? ErrorCode::kSessionClosedRequireSaslAuth : ErrorCode::kAuthFailed,
              std::nullopt);
  end(c);
}

void Front::report_sasl(const Conn& c, bool success, std::string_view text) {
  if (sasl_outcomes_.size() >= kOutcomesMax) return;
  sasl_outcomes_.push_back({success, c.remote + ": " + std::string(text)});
}

}  // namespace drover::replica
