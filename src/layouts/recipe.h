// SPDX-License-Identifier: Apache-2.0
//
// Recognises the coordination recipe in a directory: which recipe, who holds it, and who waits in which
// order.
//
// A pure function of names, owners and data. layout.h interprets the names. This file handles the
// rest: directories inside a recipe's directory, the owners of nodes, and what kazoo puts next to a
// semaphore. Groups and barriers have no names of their own: they are directories that contain only ephemeral
// nodes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "layouts/directories.h"

namespace drover::layouts {

struct RecipeNode {
  std::string name;
  std::int64_t owner = 0;  // session of an ephemeral node; 0: not ephemeral
  std::int64_t ctime = 0;
  std::int64_t czxid = 0;
  std::string data{};  // only its beginning
};

struct RecipeDirectory {
  std::string data;
  std::vector<RecipeNode> children;
  // The children of relevant children, and of the directory that kazoo puts beside a semaphore.
  std::map<std::string, std::vector<RecipeNode>, std::less<>> inner;
  // The number of children that are not included above, by directory ("" is this one). All of them are
  // younger.
  std::map<std::string, std::size_t, std::less<>> unseen{};
};

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
  std::string directory{};  // "leases" below the recipe, "-__lock__" beside it; empty: the recipe itself
  std::string_view mode{};  // "read" or "write", for a read/write lock
};

struct Recipe {
  RecipeKind kind{};
  std::string_view layout;  // the library; empty: all libraries use the same layout
  std::vector<RecipeEntry> holders;
  std::vector<RecipeEntry> waiting;  // next first
  std::optional<std::int64_t> capacity{};
  // Nodes that were not read, and are most likely of the same kind.
  std::size_t holders_unseen = 0;
  std::size_t waiting_unseen = 0;
};

// None: not a known recipe.
std::optional<Recipe> recognise_recipe(const RecipeDirectory& directory);

}  // namespace drover::layouts
