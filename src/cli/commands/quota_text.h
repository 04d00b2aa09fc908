// SPDX-License-Identifier: Apache-2.0
//
// The text of quota nodes: "count=3,bytes=-1=;byteHardLimit=100;countHardLimit=5". -1 is no limit.
// The stray '=' keeps ZooKeeper 3.4 from reading on.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace drover::cli {

class Quota {
 public:
  static constexpr std::string_view kCount = "count";
  static constexpr std::string_view kBytes = "bytes";
  static constexpr std::string_view kCountHard = "countHardLimit";
  static constexpr std::string_view kBytesHard = "byteHardLimit";

  // Empty if the text is malformed.
  static std::optional<Quota> parse(std::string_view text);

  std::int64_t get(std::string_view key) const;  // -1: none
  void set(std::string_view key, std::int64_t value) { values_[std::string(key)] = value; }
  std::string text() const;

  const std::map<std::string, std::int64_t, std::less<>>& values() const { return values_; }

 private:
  std::map<std::string, std::int64_t, std::less<>> values_;
};

}  // namespace drover::cli
