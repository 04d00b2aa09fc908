// SPDX-License-Identifier: Apache-2.0
//
// The flags and arguments of one command, understood as ZooKeeper's shell understands them: flags stand
// anywhere, -sw is -s -w, -v1 and -v=1 are -v 1, and -- ends them. What is wrong is said in the words of the
// Java library behind that shell, which scripts have come to look for.
#pragma once

#include <cstdint>
#include <expected>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace drover::cli {

struct Flag {
  std::string_view name;  // without its dash: "s"; one of our own that takes two: "-tree"
  bool takes_value = false;
  std::string_view description = {};
};

// How the flags of a command go together.
enum class Grouping : std::uint8_t { kFree, kAtMostOne, kExactlyOne };

class Flags {
 public:
  bool has(std::string_view name) const { return values_.contains(name); }
  // Of a flag that takes one; empty when it is not there.
  const std::string& value(std::string_view name) const;
  // The others, without the command.
  const std::vector<std::string>& arguments() const { return arguments_; }

 private:
  friend class FlagParser;
  std::map<std::string, std::string, std::less<>> values_;
  std::vector<std::string> arguments_;
};

// `words` without the command itself. The error is a line for the user.
std::expected<Flags, std::string> parse_flags(std::span<const Flag> known, Grouping grouping,
                                              std::span<const std::string> words);

}  // namespace drover::cli
