// SPDX-License-Identifier: Apache-2.0
//
// Parses flags and arguments as ZooKeeper's shell does: flags may be anywhere, -sw is -s -w, -v1 and -v=1 are
// -v 1, and -- ends them. Error messages are those of the Java library behind that shell, because scripts
// look for them.
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

// How the flags of a command may be combined.
enum class Grouping : std::uint8_t { kFree, kAtMostOne, kExactlyOne };

class Flags {
 public:
  bool has(std::string_view name) const { return values_.contains(name); }
  // The value of a flag; empty if it was not given.
  const std::string& value(std::string_view name) const;
  // The other arguments, without the command.
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
