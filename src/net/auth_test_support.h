// SPDX-License-Identifier: Apache-2.0
//
// A SASL mechanism for tests of links: both sides prove that they know the same secret, in as many steps as
// DIGEST-MD5 takes.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <semaphore>
#include <string>
#include <string_view>
#include <utility>

#include "base/sasl.h"
#include "net/link_auth.h"

namespace drover::net::testing {

// Each step is a function: the last one repeats.
class ScriptedConversation final : public SaslConversation {
 public:
  using Script = std::vector<std::function<SaslStep(std::string_view token)>>;
  explicit ScriptedConversation(Script script, std::string name = {})
      : script_(std::move(script)), name_(std::move(name)) {}
  SaslStep step(std::string_view token) override {
    const std::size_t at = std::min(next_++, script_.size() - 1);
    return script_[at](token);
  }
  const std::string& authorization_id() const override { return name_; }

 private:
  Script script_;
  std::string name_;
  std::size_t next_ = 0;
};

inline SaslStep go_on(std::optional<std::string> token = {}) {
  return {.status = SaslStep::Status::kContinue, .token = std::move(token)};
}
inline SaslStep done(std::optional<std::string> token = {}) {
  return {.status = SaslStep::Status::kDone, .token = std::move(token)};
}
inline SaslStep failed(std::string reason) {
  return {.status = SaslStep::Status::kFailed, .reason = std::move(reason)};
}
inline SaslStep done_if(bool good, std::optional<std::string> token = {}) {
  return good ? done(std::move(token)) : failed("wrong secret");
}

// Accepts peers with this secret; their name is `name`.
struct SecretAcceptor final : SaslFactory {
  explicit SecretAcceptor(std::string s = "secret", std::string n = "peer")
      : secret(std::move(s)), name(std::move(n)) {}
  std::unique_ptr<SaslConversation> start() override {
    ++started;
    return std::make_unique<ScriptedConversation>(
        ScriptedConversation::Script{[](std::string_view) { return go_on("prove it"); },
                                     [this](std::string_view token) {
                                       return done_if(token == "client:" + secret, "server:" + secret);
                                     }},
        name);
  }
  std::string secret;
  std::string name;
  int started = 0;
};

inline std::unique_ptr<SaslConversation> secret_conversation(const std::string& secret) {
  return std::make_unique<ScriptedConversation>(ScriptedConversation::Script{
      [](std::string_view) { return go_on(); },
      [secret](std::string_view) { return go_on("client:" + secret); },
      [secret](std::string_view token) { return done_if(token == "server:" + secret); }});
}

inline auto secret_connector(std::string secret = "secret") {
  return [secret = std::move(secret)](ServerId, const std::string&) {
    return SaslStarter::Start([secret] { return secret_conversation(secret); });
  };
}

inline std::string auth_packet(wire::AuthStatus status, const wire::Nullable& token) {
  std::string bytes;
  wire::append_auth_packet(bytes, status, token);
  return bytes;
}

}  // namespace drover::net::testing
