// SPDX-License-Identifier: Apache-2.0
//
// One side of one SASL conversation on stdin and stdout, so that tests can bring it together with Java's. A
// line is a token in hexadecimal (empty: an empty token); each gets one line back:
//
//   continue HEX     done HEX|- ID     failed REASON
//
// sasl_peer digest-server USER PASSWORD [PROTOCOL HOST]
// sasl_peer digest-client USER PASSWORD [PROTOCOL HOST]
// sasl_peer gssapi-server KEYTAB PRINCIPAL
// sasl_peer gssapi-client PRINCIPAL KEYTAB|- CACHE|- PROTOCOL HOST
//
// The line `again` starts another conversation of the same factory.
#include <cstdio>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sasl/mechanisms.h"

namespace {

using namespace drover;
using Arguments = std::vector<std::string>;
using Factory = IoResult<std::unique_ptr<SaslFactory>>;

std::string hex(std::string_view bytes) {
  std::string text;
  for (const unsigned char byte : bytes) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", byte);
    text += digits;
  }
  return text;
}

std::string bytes_of(std::string_view text) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(std::string(text.substr(i, 2)), nullptr, 16));
  }
  return bytes;
}

std::string or_nothing(const std::string& argument) { return argument == "-" ? "" : argument; }

Factory make(const Arguments& words) {
  if (words.size() < 3) return std::unexpected(data_error("usage: see the file"));
  const std::string& kind = words[0];
  sasl::ServiceName service = sasl::kClientPortDigest;
  if (words.size() >= 5) service = {words[words.size() - 2], words[words.size() - 1]};
  if (kind == "digest-server") {
    sasl::Users users;
    users.emplace(words[1], Secret(words[2]));
    return sasl::digest_md5_server(std::move(users), service);
  }
  if (kind == "digest-client") return sasl::digest_md5_client(words[1], Secret(words[2]), service);
  if (kind == "gssapi-server") {
    return sasl::gssapi_server({.keytab = words[1], .principal = words[2]}, sasl::as_authenticated());
  }
  return sasl::gssapi_client(
      {.principal = words[1], .keytab = or_nothing(words[2]), .ticket_cache = or_nothing(words[3])}, service);
}

void show(const SaslStep& step, const SaslConversation& conversation) {
  switch (step.status) {
    case SaslStep::Status::kContinue:
      std::cout << "continue " << hex(step.token.value_or("")) << std::endl;
      break;
    case SaslStep::Status::kDone:
      std::cout << "done " << (step.token ? hex(*step.token) : "-") << " " << conversation.authorization_id()
                << std::endl;
      break;
    case SaslStep::Status::kFailed: std::cout << "failed " << step.reason << std::endl; break;
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Factory factory = make(Arguments(argv + 1, argv + argc));
  if (!factory) {
    std::cout << "failed " << factory.error().what << std::endl;
    return 1;
  }
  std::unique_ptr<SaslConversation> conversation = (*factory)->start();
  for (std::string line; std::getline(std::cin, line);) {
    if (line == "again") {
      conversation = (*factory)->start();
    } else {
      show(conversation->step(bytes_of(line)), *conversation);
    }
  }
}
