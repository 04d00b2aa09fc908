// SPDX-License-Identifier: Apache-2.0
#include "layouts/names.h"

#include <algorithm>
#include <array>

#include "base/number.h"
#include "layouts/sequence.h"

namespace drover::layouts {
namespace {

constexpr std::string_view kProtected = "_c_";
constexpr std::size_t kUuidLength = 36, kHexLength = 32;

bool is_hex(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
}

bool is_upper_hex(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789ABCDEF") == std::string_view::npos;
}

bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

bool is_uuid(std::string_view text) {
  if (text.size() != kUuidLength) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? text[i] != '-' : !is_hex(text.substr(i, 1))) return false;
  }
  return true;
}

// The rest of the name after "_c_<uuid>-"; go-zookeeper writes the uuid without dashes.
std::optional<std::string_view> behind_protection(std::string_view name) {
  if (!name.starts_with(kProtected)) return std::nullopt;
  name.remove_prefix(kProtected.size());
  for (const std::size_t length : {kUuidLength, kHexLength}) {
    if (name.size() <= length || name[length] != '-') continue;
    const std::string_view id = name.substr(0, length);
    if (is_uuid(id) || (length == kHexLength && is_hex(id))) return name.substr(length + 1);
  }
  return std::nullopt;
}

std::optional<ReadName> read_kazoo(std::string_view name) {
  if (name.size() < kHexLength || !is_hex(name.substr(0, kHexLength))) return std::nullopt;
  const std::string_view rest = name.substr(kHexLength);
  const Part part{std::string(name)};
  if (rest.empty()) return ReadName{Shape::kHex, part};
  if (rest == "__party__") return ReadName{Shape::kParty, part};
  if (const auto sequence = sequence_of(rest, "__lock__"); sequence && rest.starts_with("__lock__")) {
    return ReadName{Shape::kKazooLock, {part.name, *sequence, Role::kPlain}};
  }
  if (const auto sequence = sequence_of(rest, "__rlock__"); sequence && rest.starts_with("__rlock__")) {
    return ReadName{Shape::kKazooRead, {part.name, *sequence, Role::kReader}};
  }
  // A kazoo lock that uses Curator's names is not a party.
  if (rest.starts_with("-") && !sequence_of(rest, "-lock-")) return ReadName{Shape::kShallowParty, part};
  return std::nullopt;
}

std::string decimal_of_hex(std::string_view text) {
  return std::to_string(static_cast<std::int64_t>(parse_number<std::uint64_t>(text, 16).value_or(0)));
}

// "queue-", then what Curator's queues put before the sequence number.
std::optional<ReadName> read_item(std::string_view name) {
  constexpr std::string_view kQueue = "queue-";
  if (!name.starts_with(kQueue)) return std::nullopt;
  const std::string_view rest = name.substr(kQueue.size());
  const std::string text(name);
  if (const auto sequence = parse_sequence(rest)) return ReadName{Shape::kItem, {text, *sequence}};
  if (rest.starts_with('|')) {
    const std::size_t bar = rest.rfind('|');
    const auto sequence = parse_sequence(rest.substr(bar + 1));
    if (!sequence || bar == 0) return std::nullopt;
    const std::string_view key = rest.substr(1, bar - 1);
    // Times of this century have eleven hex digits.
    if (is_upper_hex(key) && key.size() == 11)
      return ReadName{Shape::kDueItem, {text, *sequence, {}, decimal_of_hex(key)}};
    return ReadName{Shape::kIdItem, {text, *sequence, {}, std::string(key)}};
  }
  constexpr std::size_t kPriorityLength = 9;
  if (rest.size() < kPriorityLength || (rest[0] != '0' && rest[0] != '1')) return std::nullopt;
  const std::string_view priority = rest.substr(1, kPriorityLength - 1);
  const auto sequence = parse_sequence(rest.substr(kPriorityLength));
  if (!sequence || !is_upper_hex(priority)) return std::nullopt;
  const std::uint32_t bits = parse_number<std::uint32_t>(priority, 16).value_or(0);
  return ReadName{Shape::kPriorityItem,
                  {text, *sequence, {}, std::to_string(static_cast<std::int32_t>(bits))}};
}

// kazoo's "entry-100-0000000007".
std::optional<ReadName> read_entry(std::string_view name) {
  constexpr std::string_view kEntry = "entry-";
  if (!name.starts_with(kEntry)) return std::nullopt;
  const std::string_view rest = name.substr(kEntry.size());
  const std::size_t dash = rest.find('-');
  if (dash == std::string_view::npos || !is_digits(rest.substr(0, dash))) return std::nullopt;
  const auto sequence = parse_sequence(rest.substr(dash + 1));
  if (!sequence) return std::nullopt;
  return ReadName{Shape::kEntry, {std::string(name), *sequence, {}, std::string(rest.substr(0, dash))}};
}

// "x-<session>-<seq>", the session in decimal with a sign or in 16 hex digits.
std::optional<ReadName> read_session_lock(std::string_view name) {
  for (const std::string_view marker : {"x-", "lock-"}) {
    if (!name.starts_with(marker)) continue;
    std::string_view rest = name.substr(marker.size());
    if (rest.starts_with('-')) rest.remove_prefix(1);
    const std::size_t dash = rest.find('-');
    if (dash == std::string_view::npos || !is_hex(rest.substr(0, dash))) continue;
    const auto sequence = parse_sequence(rest.substr(dash + 1));
    if (sequence) return ReadName{Shape::kSessionLock, {std::string(name), *sequence}};
  }
  return std::nullopt;
}

struct Marker {
  std::string_view text;
  Shape shape;
  Role role = Role::kPlain;
};

// Names with an optional prefix: a guid, or Curator's protection.
constexpr std::array kAnywhere{
    Marker{"__READ__", Shape::kRead, Role::kReader},
    Marker{"__WRIT__", Shape::kWrite, Role::kWriter},
    Marker{"latch-", Shape::kLatch},
    Marker{"lease-", Shape::kLease},
    Marker{"lock-", Shape::kLock},
    Marker{"-read-", Shape::kDocumentRead, Role::kReader},
    Marker{"-write-", Shape::kDocumentWrite, Role::kWriter},
};
// Too short to be unambiguous without Curator's protection.
constexpr std::array kOnlyProtected{Marker{"t-", Shape::kTurn}, Marker{"turn-", Shape::kTurn},
                                    Marker{"q-", Shape::kNativeItem}, Marker{"m-", Shape::kMember}};

// A marker starts the name or follows a dash: "block-0000000001" is not a lock.
std::optional<ReadName> read_marked(std::string_view name) {
  for (const Marker& marker : kAnywhere) {
    const auto sequence = sequence_of(name, marker.text);
    if (!sequence) continue;
    const std::size_t at = name.rfind(marker.text);
    if (at != 0 && name[at - 1] != '-' && marker.text[0] != '-') continue;
    return ReadName{marker.shape, {std::string(name), *sequence, marker.role}};
  }
  return std::nullopt;
}

}  // namespace

ReadName read_name(std::string_view name) {
  if (const auto rest = behind_protection(name)) {
    for (const Marker& marker : kOnlyProtected) {
      if (!rest->starts_with(marker.text)) continue;
      if (const auto sequence = parse_sequence(rest->substr(marker.text.size()))) {
        return {marker.shape, {std::string(name), *sequence}};
      }
    }
  }
  for (const auto& read : {read_kazoo, read_item, read_entry, read_session_lock, read_marked}) {
    if (auto found = read(name)) return *std::move(found);
  }
  if (const auto sequence = sequence_of(name, "qn-"); sequence && name.starts_with("qn-")) {
    return {Shape::kSimpleItem, {std::string(name), *sequence}};
  }
  if (const auto sequence = sequence_of(name, "n_")) {
    const std::size_t at = name.rfind("n_");
    if (at == 0 || name[at - 1] == '-') return {Shape::kCandidate, {std::string(name), *sequence}};
  }
  return {Shape::kOther, {std::string(name)}};
}

}  // namespace drover::layouts
