// SPDX-License-Identifier: Apache-2.0
#include "runtime/quorum_door.h"

#include <utility>

namespace drover::server {
namespace {

using Kind = QuorumDoor::Verdict::Kind;

QuorumDoor::Verdict refused(net::Refusal refusal, std::string reason) {
  return {.kind = Kind::kRefuse, .refusal = refusal, .reason = std::move(reason)};
}

}  // namespace

void QuorumDoor::add(zab::LinkId id, Instant now) {
  guard_.add(id, now);
  if (auth_.acceptor != nullptr) exchanges_.try_emplace(id, auth_);
}

void QuorumDoor::remove(zab::LinkId id) {
  guard_.remove(id);
  exchanges_.erase(id);
}

bool QuorumDoor::is_authenticating(zab::LinkId id) const {
  const auto found = exchanges_.find(id);
  return found != exchanges_.end() && found->second.has_begun();
}

QuorumDoor::Verdict QuorumDoor::on_bytes(zab::LinkId id, std::string_view bytes,
                                         const zab::Memberships& memberships, std::string& out) {
  const auto exchange = exchanges_.find(id);
  if (exchange == exchanges_.end()) return judge_greeting(bytes, memberships);
  net::AcceptedAuth& auth = exchange->second;
  const std::size_t consumed = auth.on_bytes(bytes, out);
  using State = net::AcceptedAuth::State;
  if (auth.state() == State::kWaiting) return {.consumed = consumed};
  if (auth.state() == State::kFailed) return refused(net::Refusal::kCredentials, auth.failure());
  exchanges_.erase(exchange);
  Verdict verdict = judge_greeting(bytes.substr(consumed), memberships);
  verdict.consumed = consumed;
  return verdict;
}

QuorumDoor::Verdict QuorumDoor::judge_greeting(std::string_view bytes,
                                               const zab::Memberships& memberships) const {
  if (wire::begins_with_auth(bytes) == true)
    return refused(net::Refusal::kNoGreeting, std::string(net::kAuthIsUnexpected));
  const auto [greeting, server] = guard_.judge(bytes, memberships);
  switch (greeting) {
    case host::Greeting::kIncomplete: return {};
    case host::Greeting::kGood: return {.kind = Kind::kAdmit, .server = server};
    case host::Greeting::kNoMember:
      return refused(net::Refusal::kNoMember, "it claims to be server " + std::to_string(raw(server)) +
                                                  ", which is not another member");
    case host::Greeting::kInvalid: break;
  }
  return refused(net::Refusal::kNoGreeting, "its greeting is invalid");
}

}  // namespace drover::server
