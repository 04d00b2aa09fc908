// SPDX-License-Identifier: Apache-2.0
//
// The data of a time lease, as kazoo writes it:
//
//   {"version": 1, "holder": "host-7", "end": "2026-11-15T18:46:36"}
//
// The end is in UTC and whole seconds.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace drover::recipes {

struct LeaseData {
  std::string holder;
  std::chrono::sys_seconds end;
};

std::string encode_lease(const LeaseData& lease);
// Empty: other data, or another version.
std::optional<LeaseData> decode_lease(std::string_view text);

}  // namespace drover::recipes
