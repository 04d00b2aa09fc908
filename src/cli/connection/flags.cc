// SPDX-License-Identifier: Apache-2.0
#include "cli/connection/flags.h"

#include <cstdlib>
#include <optional>

namespace drover::cli {
namespace {

const std::string kNothing;

std::string complaint(std::string_view kind, const std::string& text) {
  return "org.apache.commons.cli." + std::string(kind) + ": " + text;
}

bool is_number(const std::string& word) {
  char* end = nullptr;
  std::strtod(word.c_str(), &end);
  return !word.empty() && *end == '\0';
}

std::string without_double_quotes(const std::string& word) {
  const bool quoted =
      word.size() > 1 && word.front() == '"' && word.back() == '"' && word.find('"', 1) == word.size() - 1;
  return quoted ? word.substr(1, word.size() - 2) : word;
}

}  // namespace

const std::string& Flags::value(std::string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? kNothing : found->second;
}

class FlagParser {
 public:
  FlagParser(std::span<const Flag> known, Grouping grouping) : known_(known), grouping_(grouping) {}

  std::expected<Flags, std::string> parse(std::span<const std::string> words) {
    for (const std::string& word : words) {
      take(word);
      if (problem_) return std::unexpected(*problem_);
    }
    require_value();
    if (!problem_ && grouping_ == Grouping::kExactlyOne && selected_.empty()) {
      problem_ = complaint("MissingOptionException", "Missing required option: " + group_text());
    }
    if (problem_) return std::unexpected(*problem_);
    return std::move(flags_);
  }

 private:
  const Flag* find(std::string_view name) const {
    for (const Flag& flag : known_) {
      if (flag.name == name) return &flag;
    }
    return nullptr;
  }

  // True if the word looks like a flag, so that it cannot be another flag's value.
  bool is_flag(const std::string& word) const {
    if (word.size() < 2 || word[0] != '-') return false;
    const std::string name =
        word.substr(1, word.find('=') == std::string::npos ? word.npos : word.find('=') - 1);
    return find(name) != nullptr || (!name.empty() && find(std::string_view(name).substr(0, 1)) != nullptr);
  }

  void take(const std::string& word) {
    if (only_arguments_) {
      flags_.arguments_.push_back(word);
    } else if (word == "--") {
      only_arguments_ = true;
    } else if (waiting_ != nullptr && (!is_flag(word) || is_number(word))) {
      flags_.values_[std::string(waiting_->name)] = without_double_quotes(word);
      waiting_ = nullptr;
    } else if (word.size() > 1 && word[0] == '-') {
      take_flag(word);
    } else {
      flags_.arguments_.push_back(word);
    }
  }

  void take_flag(const std::string& word) {
    const std::string name = word.substr(1);
    if (const Flag* flag = find(name)) return set(*flag);
    const std::size_t equals = name.find('=');
    if (equals == std::string::npos) return name.size() == 1 ? unknown(word) : take_several(word);
    const Flag* flag = equals == 1 ? find(name.substr(0, 1)) : nullptr;
    if (flag == nullptr || !flag->takes_value) return unknown(word);
    set(*flag, name.substr(equals + 1));
  }

  // "-sw", or "-v1".
  void take_several(const std::string& word) {
    for (std::size_t i = 1; i < word.size() && !problem_; ++i) {
      const Flag* flag = find(std::string_view(word).substr(i, 1));
      if (flag == nullptr) return unknown(word);
      if (flag->takes_value && i + 1 < word.size()) return set(*flag, word.substr(i + 1));
      set(*flag);
    }
  }

  void set(const Flag& flag, std::optional<std::string> value = {}) {
    require_value();
    if (problem_) return;
    if (grouping_ != Grouping::kFree) {
      if (!selected_.empty() && selected_ != flag.name) {
        problem_ =
            complaint("AlreadySelectedException",
                      "The option '" + std::string(flag.name) +
                          "' was specified but an option from this group has already been selected: '" +
                          std::string(selected_) + "'");
        return;
      }
      selected_ = flag.name;
    }
    flags_.values_.try_emplace(std::string(flag.name));
    if (value) {
      flags_.values_[std::string(flag.name)] = *std::move(value);
    } else if (flag.takes_value) {
      waiting_ = &flag;
    }
  }

  void require_value() {
    if (waiting_ == nullptr || problem_) return;
    problem_ =
        complaint("MissingArgumentException", "Missing argument for option: " + std::string(waiting_->name));
  }

  void unknown(const std::string& word) {
    problem_ = complaint("UnrecognizedOptionException", "Unrecognized option: " + word);
  }

  std::string group_text() const {
    std::string text = "[";
    for (const Flag& flag : known_) {
      if (text.size() > 1) text += ", ";
      text += "-" + std::string(flag.name) + " " + std::string(flag.description);
    }
    return text + "]";
  }

  std::span<const Flag> known_;
  Grouping grouping_;
  Flags flags_;
  std::string_view selected_;      // of the group
  const Flag* waiting_ = nullptr;  // for its value
  bool only_arguments_ = false;
  std::optional<std::string> problem_;
};

std::expected<Flags, std::string> parse_flags(std::span<const Flag> known, Grouping grouping,
                                              std::span<const std::string> words) {
  return FlagParser(known, grouping).parse(words);
}

}  // namespace drover::cli
