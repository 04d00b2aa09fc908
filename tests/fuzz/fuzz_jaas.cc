// SPDX-License-Identifier: Apache-2.0
//
// Fuzzes JAAS files: the syntax, and the meaning of each section. Each message must be one line, and an
// option that was accepted must come back when it is written with quotes.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "sasl/jaas.h"
#include "sasl/login.h"

namespace {

using namespace drover::sasl;

void require(bool condition) {
  if (!condition) std::abort();
}

bool is_one_line(std::string_view text) {
  return std::ranges::none_of(text, [](char c) { return static_cast<unsigned char>(c) < ' '; });
}

std::optional<std::string> no_property(std::string_view) { return std::nullopt; }

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '\n') {
      result += "\\n";
    } else if (c == '\r') {
      result += "\\r";
    } else {
      if (c == '"' || c == '\\') result += '\\';
      result += c;
    }
  }
  return result + '"';
}

void require_round_trip(const JaasEntry& entry) {
  for (const auto& [name, value] : entry.options) {
    // It would be expanded again.
    if (value.reveal().find("${") != std::string::npos) continue;
    const std::string text = "S { M required " + quoted(name) + "=" + quoted(value.reveal()) + "; };";
    if (text.size() > kJaasBytesMax) continue;
    const auto again = parse_jaas(text, no_property);
    require(again && again->at(0).entries.at(0).options.at(name).reveal() == value.reveal());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto file = parse_jaas(input, no_property);
  if (!file) {
    require(is_one_line(file.error().message) && file.error().line > 0);
    return 0;
  }
  for (const JaasSection& section : *file) {
    require(find_section(*file, section.name) == &section);
    for (const JaasEntry& entry : section.entries) require_round_trip(entry);
    const auto login = server_login_of(section);
    if (!login) require(is_one_line(login.error().message));
  }
  return 0;
}
