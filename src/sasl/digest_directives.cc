// SPDX-License-Identifier: Apache-2.0
#include "sasl/digest_directives.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

namespace drover::sasl {
namespace {

// RFC 2831, sections 2.1.1 and 2.1.2.
constexpr std::size_t kChallengeBytesMax = 2048;
constexpr std::size_t kResponseBytesMax = 4096;
constexpr std::size_t kDirectivesMax = 32;

bool is_linear_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

// RFC 2616's token.
bool is_token_char(char c) {
  return c > ' ' && c < 0x7f && std::string_view("()<>@,;:\\\"/[]?={}").find(c) == std::string_view::npos;
}

char to_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) { return to_lower(x) == to_lower(y); });
}

class DirectiveReader {
 public:
  explicit DirectiveReader(std::string_view text) : rest_(text) {}

  bool at_end() const { return rest_.empty(); }
  bool take(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void skip_blanks() {
    while (!rest_.empty() && is_linear_space(rest_.front())) rest_.remove_prefix(1);
  }
  void skip_separators() {
    do skip_blanks();
    while (take(','));
  }
  std::string token() {
    const auto end = std::ranges::find_if_not(rest_, is_token_char);
    std::string text(rest_.begin(), end);
    rest_.remove_prefix(text.size());
    return text;
  }
  // What follows the opening quote. Nothing if the closing one is missing.
  std::optional<std::string> quoted() {
    std::string text;
    while (!rest_.empty()) {
      char c = rest_.front();
      rest_.remove_prefix(1);
      if (c == '"') return text;
      if (c == '\\') {
        if (rest_.empty()) break;
        c = rest_.front();
        rest_.remove_prefix(1);
      }
      text += c;
    }
    return std::nullopt;
  }

 private:
  std::string_view rest_;
};

std::expected<DigestDirective, std::string> parse_directive(DirectiveReader& reader) {
  DigestDirective directive{.name = reader.token(), .value = {}};
  if (directive.name.empty()) return std::unexpected("a directive has no name");
  std::ranges::transform(directive.name, directive.name.begin(), to_lower);
  reader.skip_blanks();
  if (!reader.take('=')) return std::unexpected("a directive has no value");
  reader.skip_blanks();
  if (!reader.take('"')) {
    directive.value = reader.token();
    return directive;
  }
  std::optional<std::string> value = reader.quoted();
  if (!value) return std::unexpected("a quoted value does not end");
  directive.value = *std::move(value);
  return directive;
}

std::size_t count_of(const std::vector<DigestDirective>& directives, std::string_view name) {
  return static_cast<std::size_t>(std::ranges::count(directives, name, &DigestDirective::name));
}

}  // namespace

const std::string* find_directive(const std::vector<DigestDirective>& directives, std::string_view name) {
  const auto found = std::ranges::find(directives, name, &DigestDirective::name);
  return found == directives.end() ? nullptr : &found->value;
}

std::expected<std::vector<DigestDirective>, std::string> parse_directives(std::string_view message) {
  // Cyrus SASL would stop reading there.
  if (message.find('\0') != std::string_view::npos) return std::unexpected("it contains a NUL");
  std::vector<DigestDirective> directives;
  DirectiveReader reader(message);
  for (reader.skip_separators(); !reader.at_end(); reader.skip_separators()) {
    if (directives.size() == kDirectivesMax) return std::unexpected("it has too many directives");
    auto directive = parse_directive(reader);
    if (!directive) return std::unexpected(std::move(directive).error());
    directives.push_back(*std::move(directive));
    reader.skip_blanks();
    if (!reader.at_end() && !reader.take(',')) return std::unexpected("a comma is missing");
  }
  return directives;
}

std::expected<void, std::string> check_digest_response(std::string_view message,
                                                       const DigestService& expected) {
  if (message.size() > kResponseBytesMax) return std::unexpected("it is longer than 4096 bytes");
  const auto directives = parse_directives(message);
  if (!directives) return std::unexpected(directives.error());
  for (const DigestDirective& directive : *directives) {
    if (count_of(*directives, directive.name) > 1) return std::unexpected("a directive occurs twice");
  }
  for (const char* name : {"username", "nonce", "cnonce", "nc", "digest-uri", "response"}) {
    if (find_directive(*directives, name) == nullptr) return std::unexpected(std::string("no ") + name);
  }
  const std::string* realm = find_directive(*directives, "realm");
  if (realm == nullptr || *realm != expected.realm) return std::unexpected("the realm is another one");
  if (!equal_ignoring_case(*find_directive(*directives, "digest-uri"), expected.service)) {
    return std::unexpected("the digest-uri is another service's");
  }
  if (*find_directive(*directives, "nc") != "00000001") return std::unexpected("the nonce count is not 1");
  const std::string* qop = find_directive(*directives, "qop");
  if (qop != nullptr && *qop != "auth") return std::unexpected("the qop is not auth");
  return {};
}

std::expected<void, std::string> check_digest_challenge(std::string_view message) {
  if (message.size() > kChallengeBytesMax) return std::unexpected("it is longer than 2048 bytes");
  const auto directives = parse_directives(message);
  if (!directives) return std::unexpected(directives.error());
  for (const DigestDirective& directive : *directives) {
    if (directive.name != "realm" && count_of(*directives, directive.name) > 1) {
      return std::unexpected("a directive occurs twice");
    }
  }
  if (find_directive(*directives, "rspauth") != nullptr) return std::unexpected("it is not a challenge");
  for (const char* name : {"nonce", "algorithm"}) {
    if (find_directive(*directives, name) == nullptr) return std::unexpected(std::string("no ") + name);
  }
  return {};
}

}  // namespace drover::sasl
