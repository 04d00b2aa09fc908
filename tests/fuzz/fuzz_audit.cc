// SPDX-License-Identifier: Apache-2.0
//
// Fuzzes the audit log: a request's body and a user's name. Whatever they are, a line stays one line, has
// only the fields that it should have, and its names can be restored.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "base/utf8.h"
#include "replica/audit.h"

namespace {

using namespace drover;

void require(bool condition) {
  if (!condition) std::abort();
}

int hex_digit(char c) { return c <= '9' ? c - '0' : c - 'a' + 10; }

std::string restored(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    if (text[0] != '\\') {
      out += text[0];
      text.remove_prefix(1);
      continue;
    }
    require(text.size() >= 2);
    if (text[1] == 'x') {
      require(text.size() >= 4);
      out += static_cast<char>(hex_digit(text[2]) * 16 + hex_digit(text[3]));
      text.remove_prefix(4);
      continue;
    }
    constexpr std::string_view kNames = "\\tnr";
    constexpr std::string_view kMeanings = "\\\t\n\r";
    const auto at = kNames.find(text[1]);
    require(at != kNames.npos);
    out += kMeanings[at];
    text.remove_prefix(2);
  }
  return out;
}

void look_at_name(std::string_view name) {
  const std::string escaped = replica::audit_escaped(name);
  require(std::ranges::none_of(escaped, [](char c) { return static_cast<unsigned char>(c) < 0x20; }));
  require(to_valid_utf8(escaped) == escaped);
  require(restored(escaped) == name);
}

void look_at_request(wire::OpCode op, std::string_view body, std::string_view user) {
  state::Options options;
  options.multi_ops_max = 100;
  replica::ClientWrite write;
  write.op = op;
  write.who = std::make_shared<state::Identities>(
      state::Identities{{"ip", "127.0.0.1"}, {"digest", std::string(user)}});
  const auto note = replica::audit_note(write, body, options);
  if (!note) return;
  replica::AuditTrail trail("keeper");
  trail.finish(*note, nullptr);
  for (const replica::AuditLine& line : trail.take()) {
    require(line.text.find('\n') == line.text.npos);
    require(line.text.starts_with("session=0x0\tuser=127.0.0.1"));
    require(line.text.ends_with("\tresult=failure"));
    require(std::ranges::count(line.text, '\t') <= 7);
    require(to_valid_utf8(line.text) == line.text);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  look_at_name(input);
  if (size < 2) return 0;
  const std::size_t user = std::min<std::size_t>(data[1], size - 2);
  look_at_request(static_cast<wire::OpCode>(data[0]), input.substr(2 + user), input.substr(2, user));
  return 0;
}
