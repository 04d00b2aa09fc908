// SPDX-License-Identifier: Apache-2.0
//
// Removes directories that have stayed empty, on servers without container nodes or for nodes that are none.
//
//   Reaper reaper(client, "/locks", {.check_every = 30s});    // every child of /locks
//
// A node is removed when it had no children in several checks in a row and none came and went in between.
// What has children is never removed: the server refuses it. Nodes with data are left alone, unless told
// otherwise. Several reapers of the same place do no harm.
//
// Recipes that use such a directory make it again when it is gone (kNoNode), as all here do.
//
// Curator: Reaper and ChildReaper, until container nodes. kazoo: nothing.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "drover/client.h"

namespace drover::recipes {

struct ReaperOptions {
  std::chrono::milliseconds check_every{60'000};
  int checks = 3;  // in a row
  bool with_data = false;
};

class Reaper {
 public:
  // Begins at once.
  Reaper(Client client, std::string parent, ReaperOptions options = {});
  Reaper(Reaper&&) noexcept = default;
  Reaper& operator=(Reaper&& other) noexcept;
  ~Reaper();

  std::uint64_t removed() const;  // so far

 private:
  class State;
  std::shared_ptr<State> state_;
};

}  // namespace drover::recipes
