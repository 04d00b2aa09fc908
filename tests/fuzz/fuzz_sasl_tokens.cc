// SPDX-License-Identifier: Apache-2.0
//
// Fuzzes what a stranger says before we know who it is: DIGEST-MD5's tokens at our server and at our client,
// and the names and rules of Kerberos.
//
// The first line of the input is the first token, the rest the second. NONCE in it becomes the server's
// nonce, so that a response gets as far as the check of the password, which no input can pass.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "sasl/digest_directives.h"
#include "sasl/kerberos_name.h"
#include "sasl/mechanisms.h"

namespace {

using namespace drover;
using Status = SaslStep::Status;

constexpr char kPassword[] = "Xq7-never-in-an-input";

void require(bool condition) {
  if (!condition) std::abort();
}

void require_decent(const SaslStep& step) {
  require(step.status != Status::kDone);
  require((step.status == Status::kFailed) == !step.reason.empty());
  require(std::ranges::none_of(step.reason, [](char c) { return static_cast<unsigned char>(c) < ' '; }));
  require(step.reason.find(kPassword) == std::string::npos);
}

SaslFactory& server() {
  static const auto factory = [] {
    sasl::Users users;
    users.emplace("bob", Secret(kPassword));
    return *sasl::digest_md5_server(std::move(users), sasl::kClientPortDigest);
  }();
  return *factory;
}

SaslFactory& client() {
  static const auto factory = *sasl::digest_md5_client("bob", Secret(kPassword), sasl::kClientPortDigest);
  return *factory;
}

std::string with_nonce(std::string text, const std::string& challenge) {
  const auto directives = sasl::parse_directives(challenge);
  require(directives && sasl::find_directive(*directives, "nonce") != nullptr);
  const std::string& nonce = *sasl::find_directive(*directives, "nonce");
  const std::size_t place = text.find("NONCE");
  if (place != std::string::npos) text.replace(place, 5, nonce);
  return text;
}

void fuzz_server(const std::string& first, const std::string& second) {
  const auto early = server().start();
  require_decent(early->step(first));
  const auto late = server().start();
  const SaslStep challenge = late->step({});
  require(challenge.status == Status::kContinue);
  require_decent(late->step(with_nonce(second, *challenge.token)));
  require(late->step(second).status == Status::kFailed);
}

void fuzz_client(const std::string& first, const std::string& second) {
  const auto conversation = client().start();
  require_decent(conversation->step({}));
  const SaslStep response = conversation->step(first);
  require_decent(response);
  if (response.status == Status::kContinue) require_decent(conversation->step(second));
}

void fuzz_names(const std::string& rules, const std::string& principal) {
  const auto name = sasl::parse_kerberos_name(principal);
  auto parsed = sasl::AuthToLocal::parse(rules, "EXAMPLE.COM");
  if (!name || !parsed) return;
  const auto short_name = parsed->short_name(*name);
  if (short_name && name->realm) require(short_name->find_first_of("/@") == std::string::npos);
  const auto rule = sasl::client_port_rule(*std::move(parsed), {});
  const auto id = rule({.authentication_id = principal, .requested_id = "super"});
  if (id) require(!id->empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string input(reinterpret_cast<const char*>(data), size);
  const std::size_t line = std::min(input.find('\n'), input.size());
  const std::string first = input.substr(0, line);
  const std::string second = input.substr(std::min(line + 1, input.size()));
  fuzz_server(first, second);
  fuzz_client(first, second);
  fuzz_names(first, second);
  return 0;
}
