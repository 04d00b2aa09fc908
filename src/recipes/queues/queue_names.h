// SPDX-License-Identifier: Apache-2.0
//
// Names and data of queue items, as Curator and others write them.
//
//   queue-0000000007              FIFO
//   queue-1000000050000000007     priority 5: the sign's complement, 8 hex digits, the sequence
//   queue-|18D2F0A1B00|0000000007 due at this time, milliseconds in hex
//   queue-|invoice_17|0000000007  with an id
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace drover::recipes {

struct ItemName {
  std::string name;
  std::int64_t rank = 0;  // first what has less: a priority, or the time it is due
  std::int32_t sequence = 0;
  std::string id{};
};

// The other layouts' names have a fixed marker before the sequence.
std::optional<ItemName> parse_fifo_name(std::string_view name, std::string_view marker);
std::optional<ItemName> parse_priority_name(std::string_view name);
std::optional<ItemName> parse_delay_name(std::string_view name);
std::optional<ItemName> parse_id_name(std::string_view name);

// The part before the sequence number.
std::string priority_prefix(std::int32_t priority);
std::string delay_prefix(std::int64_t due_ms);
std::string id_prefix(std::string_view id);
// Escapes an id for use in a name.
std::string clean_id(std::string_view id);

// Curator's frame: 00010001, then for each value 01, its length and bytes, then 02. Big-endian.
//   "hello" = 00010001 01 00000005 68656c6c6f 02
std::string frame_values(const std::vector<std::string>& values);
// Empty if it is malformed or has no value.
std::optional<std::vector<std::string>> unframe_values(std::string_view bytes);

}  // namespace drover::recipes
