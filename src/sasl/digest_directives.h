// SPDX-License-Identifier: Apache-2.0
//
// A strict reader of DIGEST-MD5's messages, `name=value,name="value"` (RFC 2831, section 7.1).
//
// It runs before Cyrus SASL, which is more lenient than Java: it ignores the host in digest-uri and the
// nonce count, leaks memory for a repeated directive, and reads a null pointer if the first message of a
// server is its last.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace drover::sasl {

struct DigestDirective {
  std::string name;   // in lower case
  std::string value;  // without quotes and escapes
};

// The value of the first directive of this name, or null.
const std::string* find_directive(const std::vector<DigestDirective>& directives, std::string_view name);

// The error says what is wrong, without quoting the message.
std::expected<std::vector<DigestDirective>, std::string> parse_directives(std::string_view message);

// The checks of Java's client and server. `service` is "zookeeper/zk-sasl-md5".
struct DigestService {
  std::string_view service;
  std::string_view realm;
};
std::expected<void, std::string> check_digest_response(std::string_view message,
                                                       const DigestService& expected);
std::expected<void, std::string> check_digest_challenge(std::string_view message);

}  // namespace drover::sasl
