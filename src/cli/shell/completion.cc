// SPDX-License-Identifier: Apache-2.0
#include "cli/shell/completion.h"

#include <algorithm>

#include "base/child_path.h"
#include "cli/commands/commands.h"
#include "cli/common/text.h"

namespace drover::cli {
namespace {

// A completed command is followed by a blank; a completed path may continue.
void add_commands(Completions& found) {
  for (const Command& command : all_commands()) {
    if (command.name.starts_with(found.typed)) found.words.push_back(std::string(command.name) + " ");
  }
}

void add_flags(Completions& found, const Command& command) {
  for (const Flag& flag : command.flags) {
    const std::string word = "-" + std::string(flag.name);
    if (word.starts_with(found.typed)) found.words.push_back(word + " ");
  }
  if (std::string_view("--json").starts_with(found.typed)) found.words.emplace_back("--json ");
}

void add_paths(Completions& found, const std::function<std::vector<std::string>(const std::string&)>& list) {
  const std::string parent(parent_or_root(found.typed));
  for (const std::string& name : list(parent)) {
    std::string path = child_path(parent, name);
    if (path.starts_with(found.typed)) found.words.push_back(std::move(path));
  }
}

}  // namespace

std::string Completions::common_rest() const {
  if (words.empty()) return {};
  std::string_view common = words.front();
  for (const std::string& word : words) {
    const auto end = std::mismatch(common.begin(), common.end(), word.begin(), word.end()).first;
    common = common.substr(0, static_cast<std::size_t>(end - common.begin()));
  }
  return std::string(common.substr(std::min(common.size(), typed.size())));
}

Completions complete(std::string_view line,
                     const std::function<std::vector<std::string>(const std::string&)>& list) {
  const std::size_t blank = line.find_last_of(" \t");
  Completions found;
  found.typed = blank == std::string_view::npos ? line : line.substr(blank + 1);
  const std::size_t first = line.find_first_not_of(" \t");
  const std::string_view behind = first == std::string_view::npos ? "" : line.substr(first);
  const std::string_view command = behind.substr(0, behind.find_first_of(" \t"));
  if (command.size() == behind.size() || command == "help") {
    add_commands(found);
  } else if (found.typed.starts_with("/")) {
    add_paths(found, list);
  } else if (const Command* known = find_command(command); known != nullptr && found.typed.starts_with("-")) {
    add_flags(found, *known);
  }
  std::sort(found.words.begin(), found.words.end());
  return found;
}

}  // namespace drover::cli
