// SPDX-License-Identifier: Apache-2.0
//
// The parts of a request that we parse ourselves: the target with its query, and the credentials. The text is
// untrusted, so everything is checked, and no result is longer than its input (tests/fuzz/fuzz_http_text.cc).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace drover::server {

using QueryParameters = std::map<std::string, std::string, std::less<>>;

struct Target {
  std::string path;
  QueryParameters query;
};

// "%41" -> "A", and in a query "+" -> " ". None: a % is not followed by two hexadecimal digits, or the result
// contains a NUL.
enum class PlusMeans { kPlus, kBlank };
std::optional<std::string> percent_decoded(std::string_view text, PlusMeans plus);

// Splits "/commands/stmk?traceMask=1". None: not a path with an optional query.
std::optional<Target> parse_target(std::string_view target);

// Parses "digest user:password" of an Authorization header: a scheme, one blank, and the rest without blanks.
struct Credentials {
  std::string scheme;
  std::string auth;
};
std::optional<Credentials> parse_authorization(std::string_view header);

// The client in X-Forwarded-For, as Java reads it: the first item of a comma list. Empty if there is none; it
// is not checked to be an address.
std::string forwarded_client(std::string_view header);

// The whole number in {"name": 12}, a flat object as shed_connections uses it. None for everything else.
std::optional<std::int64_t> number_in_json(std::string_view json, std::string_view name);

}  // namespace drover::server
