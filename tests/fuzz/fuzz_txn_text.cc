// SPDX-License-Identifier: Apache-2.0
//
// Arbitrary log entries as `drover inspect` prints them. They must not crash it, break a line of JSON in two,
// or send control characters to a terminal.
//
// Input: entries. Each is two bytes of length and the bytes.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/ensure.h"
#include "tools/node_history.h"
#include "tools/txn_text.h"
#include "wire/txns.h"

namespace {

using namespace drover;

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

void check_lines(std::string_view text) {
  for (const char c : text) ENSURE(!is_control(c) || c == '\n', "no control character is shown");
}

void show(const wire::TxnEntry& txn, std::size_t bytes) {
  std::string text;
  tools::append_text(text, txn, bytes, {.data = true});
  check_lines(text);
  std::string json;
  tools::append_json(json, txn, bytes, {.data = true});
  check_lines(json);
  ENSURE(std::ranges::count(json, '\n') == 1 && json.ends_with("}\n"), "a transaction is one line of JSON");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tools::NodeHistory history("/a");
  std::string_view input(reinterpret_cast<const char*>(data), size);
  while (input.size() >= 2) {
    const std::size_t length = static_cast<std::size_t>(static_cast<std::uint8_t>(input[0])) << 8 |
                               static_cast<std::uint8_t>(input[1]);
    const std::string_view entry = input.substr(2, length);
    input.remove_prefix(2 + entry.size());
    const auto txn = wire::decode_entry(entry);
    if (!txn) continue;
    show(*txn, entry.size());
    (void)tools::touches(*txn, "/a");
    (void)history.apply(*txn);
  }
  return 0;
}
