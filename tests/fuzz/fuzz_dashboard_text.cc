// SPDX-License-Identifier: Apache-2.0
//
// Fuzzes what the dashboard parses: a server's srvr reply, node names and data as parts of a recipe, a Host
// header, ids and base64.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/base64.h"
#include "base/text.h"
#include "dashboard/json.h"
#include "dashboard/member_probe.h"
#include "http/hosts.h"
#include "layouts/recipe.h"

namespace {

using namespace drover::server;
using namespace drover::layouts;

void require(bool condition) {
  if (!condition) std::abort();
}

// A directory whose children are the lines. A name with an odd number of letters is ephemeral.
void look_at_names(std::string_view text) {
  RecipeDirectory directory;
  directory.data = text.substr(0, 8);
  while (!text.empty()) {
    const std::string_view name = text.substr(0, text.find('\n'));
    const std::int64_t owner = name.size() % 2 == 0 ? 0 : 7;
    directory.children.push_back({.name = std::string(name), .owner = owner});
    const bool means_something = std::ranges::find(kInnerDirectories, name) != std::end(kInnerDirectories);
    if (means_something || name == kBesideDirectory) directory.inner[std::string(name)] = directory.children;
    text.remove_prefix(std::min(text.size(), name.size() + 1));
  }
  const auto recipe = recognise_recipe(directory);
  if (!recipe) return;
  // Each node appears at most once, in any of the directories.
  std::size_t nodes = directory.children.size();
  for (const auto& [name, inner] : directory.inner) nodes += inner.size();
  require(recipe->holders.size() + recipe->waiting.size() <= nodes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  if (const auto said = parse_srvr(input)) require(said->mode.size() <= size);
  look_at_names(input);
  (void)is_our_host(input, ServerConfig{});
  std::int64_t id = 0;
  if (parse_hex(input, id)) {
    std::int64_t again = 0;
    require(parse_hex(drover::hex_text(static_cast<std::uint64_t>(id)), again) && again == id);
  }
  require(drover::from_base64(drover::to_base64(input)) == input);
  if (const auto bytes = drover::from_base64(input)) require(bytes->size() <= input.size() / 4 * 3);
  return 0;
}
