// SPDX-License-Identifier: Apache-2.0
#include "recipes/queues/queue_names.h"

#include <algorithm>

#include "base/number.h"
#include "layouts/sequence.h"

namespace drover::recipes {
namespace {

constexpr std::string_view kQueue = "queue-";
constexpr std::uint32_t kFrameVersion = 0x00010001;
constexpr char kValueFollows = 1;
constexpr char kEnd = 2;
constexpr std::size_t kPriorityDigits = 8;

std::string upper_hex(std::uint64_t value, std::size_t digits_min) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string text;
  do {
    text.insert(text.begin(), kDigits[value & 15]);
    value >>= 4;
  } while (value != 0 || text.size() < digits_min);
  return text;
}

void append_u32(std::string& out, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift & 0xFF);
}

// Removes it from the front.
std::optional<std::uint32_t> take_u32(std::string_view& bytes) {
  if (bytes.size() < 4) return std::nullopt;
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<std::uint8_t>(bytes[i]);
  bytes.remove_prefix(4);
  return value;
}

struct Fields {
  std::string_view field;
  std::int32_t sequence = 0;
};
// queue-|field|sequence
std::optional<Fields> fields_of(std::string_view name) {
  if (!name.starts_with("queue-|")) return std::nullopt;
  const std::string_view rest = name.substr(kQueue.size() + 1);
  const std::size_t bar = rest.find('|');
  if (bar == std::string_view::npos) return std::nullopt;
  const auto sequence = layouts::sequence_of(rest, "|");
  if (!sequence) return std::nullopt;
  return Fields{rest.substr(0, bar), *sequence};
}

}  // namespace

std::optional<ItemName> parse_fifo_name(std::string_view name, std::string_view marker) {
  const auto sequence = layouts::sequence_of(name, marker);
  if (!sequence) return std::nullopt;
  return ItemName{.name = std::string(name), .sequence = *sequence};
}

std::optional<ItemName> parse_priority_name(std::string_view name) {
  constexpr std::size_t kPrefix = kQueue.size() + 1 + kPriorityDigits;
  if (!name.starts_with(kQueue) || name.size() <= kPrefix) return std::nullopt;
  const auto digits = parse_number<std::uint32_t>(name.substr(kQueue.size() + 1, kPriorityDigits), 16);
  const char sign = name[kQueue.size()];
  if (!digits) return std::nullopt;
  const auto priority = static_cast<std::int32_t>(*digits);
  if (sign != (priority >= 0 ? '1' : '0')) return std::nullopt;
  const auto sequence = layouts::sequence_of(name, name.substr(0, kPrefix));
  if (!sequence) return std::nullopt;
  return ItemName{.name = std::string(name), .rank = priority, .sequence = *sequence};
}

std::optional<ItemName> parse_delay_name(std::string_view name) {
  const auto fields = fields_of(name);
  const auto due_ms = fields ? parse_number<std::int64_t>(fields->field, 16) : std::nullopt;
  if (!due_ms) return std::nullopt;
  return ItemName{.name = std::string(name), .rank = *due_ms, .sequence = fields->sequence};
}

std::optional<ItemName> parse_id_name(std::string_view name) {
  const auto fields = fields_of(name);
  if (!fields) return std::nullopt;
  return ItemName{.name = std::string(name), .sequence = fields->sequence, .id = std::string(fields->field)};
}

std::string priority_prefix(std::int32_t priority) {
  return std::string(kQueue) + (priority >= 0 ? '1' : '0') +
         upper_hex(static_cast<std::uint32_t>(priority), kPriorityDigits);
}
std::string delay_prefix(std::int64_t due_ms) {
  return "queue-|" + upper_hex(static_cast<std::uint64_t>(std::max<std::int64_t>(due_ms, 0)), 1) + "|";
}
std::string id_prefix(std::string_view id) { return "queue-|" + clean_id(id) + "|"; }

std::string clean_id(std::string_view id) {
  std::string clean(id);
  for (char& each : clean) {
    if (each == '/' || each == '|') each = '_';
  }
  return clean;
}

std::string frame_values(const std::vector<std::string>& values) {
  std::string out;
  append_u32(out, kFrameVersion);
  for (const std::string& value : values) {
    out += kValueFollows;
    append_u32(out, static_cast<std::uint32_t>(value.size()));
    out += value;
  }
  out += kEnd;
  return out;
}

std::optional<std::vector<std::string>> unframe_values(std::string_view bytes) {
  std::vector<std::string> values;
  if (take_u32(bytes) != kFrameVersion) return std::nullopt;
  while (bytes.starts_with(kValueFollows)) {
    bytes.remove_prefix(1);
    const auto length = take_u32(bytes);
    if (!length || *length > bytes.size()) return std::nullopt;
    values.emplace_back(bytes.substr(0, *length));
    bytes.remove_prefix(*length);
  }
  if (!bytes.starts_with(kEnd) || values.empty()) return std::nullopt;
  return values;
}

}  // namespace drover::recipes
