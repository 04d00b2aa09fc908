// SPDX-License-Identifier: Apache-2.0
//
// Keys of ZooKeeper that do nothing here, and what becomes of a configuration that sets one.
//
// No key is ignored in silence. One that promises security or safety ends the start: a server that is less
// protected than its file says is worse than none. Every other one is a line at the start that says why it
// has no effect. docs/configuration.md lists them; a test compares it with this table.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace drover::server {

struct ForeignKey {
  enum class Fate : std::uint8_t { kRefused, kNamed };

  std::string_view name;  // without `zookeeper.`; "jmx.*" is every key that begins with "jmx."
  Fate fate{};
  std::optional<std::string_view> as_it_is;  // a value that asks for what is so anyway, and is fine
  std::string_view reason;

  bool is_family() const { return name.ends_with('*'); }
};

std::span<const ForeignKey> foreign_keys();

// Null: not one of them.
const ForeignKey* find_foreign_key(std::string_view key);

bool asks_for_nothing(const ForeignKey& row, std::string_view value);

}  // namespace drover::server
