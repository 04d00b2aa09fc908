// SPDX-License-Identifier: Apache-2.0
//
// ZooKeeper's keys that have no effect in Drover, and how the server reacts to them.
//
// No key is ignored silently. A key that promises security or safety makes the start fail: a server that is
// less protected than its file says is worse than no server. Every other key gets one line at the start that
// says why it has no effect. docs/configuration.md lists them; a test compares it with this table.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace drover::server {

struct ForeignKey {
  enum class Fate : std::uint8_t { kRefused, kNamed };

  std::string_view name;  // without `zookeeper.`; "jmx.*" matches every key that begins with "jmx."
  Fate fate{};
  std::optional<std::string_view> as_it_is;  // a value that matches our behaviour, and is accepted
  std::string_view reason;

  bool is_family() const { return name.ends_with('*'); }
};

std::span<const ForeignKey> foreign_keys();

// Null: the key is not in the table.
const ForeignKey* find_foreign_key(std::string_view key);

bool asks_for_nothing(const ForeignKey& row, std::string_view value);

}  // namespace drover::server
