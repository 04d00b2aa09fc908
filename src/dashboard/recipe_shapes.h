// SPDX-License-Identifier: Apache-2.0
//
// Which coordination recipe do the nodes of a directory belong to, who holds, and who waits in which order?
//
// A pure function of names, owners and data. What names say is asked of layouts/layout.h; here is what is
// beside them: directories inside a recipe's, whose nodes they are, what kazoo puts next to a semaphore.
// Groups and barriers have no names of their own: they are directories of nothing but ephemeral nodes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace drover::server {

struct RecipeNode {
  std::string name;
  std::int64_t owner = 0;  // session of an ephemeral node; 0: not one
  std::int64_t ctime = 0;
  std::string data{};  // the beginning of it
};

struct RecipeDirectory {
  std::string data;
  std::vector<RecipeNode> children;
  // The children of those children that mean something, and of what kazoo puts beside a semaphore.
  std::map<std::string, std::vector<RecipeNode>, std::less<>> inner;
  // How many more there are than those above, all of them younger: by directory, "" is this one.
  std::map<std::string, std::size_t, std::less<>> unseen{};
};
inline constexpr std::string_view kInnerDirectories[] = {"leases", "locks", "entries", "taken"};
inline constexpr std::string_view kBesideDirectory = "-__lock__";

enum class RecipeKind : std::uint8_t {
  kLock,
  kElection,
  kReadWriteLock,
  kSemaphore,
  kQueue,
  kBarrier,
  kMembership
};
std::string_view name_of(RecipeKind kind);

struct RecipeEntry {
  RecipeNode node;
  std::string directory{};  // of the node: "leases" below the recipe, "-__lock__" beside it; empty: itself
  std::string_view mode{};  // "read", "write"; of a read/write lock
};

struct Recipe {
  RecipeKind kind{};
  std::string_view layout;  // whose; empty: it looks the same everywhere
  std::vector<RecipeEntry> holders;
  std::vector<RecipeEntry> waiting;  // next first
  std::optional<std::int64_t> capacity{};
  // Nodes that were not looked at, and most likely more of the same.
  std::size_t holders_unseen = 0;
  std::size_t waiting_unseen = 0;
};

// None: it is no recipe that we know.
std::optional<Recipe> recognise_recipe(const RecipeDirectory& directory);

}  // namespace drover::server
