// SPDX-License-Identifier: Apache-2.0
//
// Removes directories that have stayed empty, for servers or nodes without containers.
//
//   Reaper reaper(client, "/locks", {.check_every = 30s});    // every child of /locks
//
// A node is removed if it had no children in several checks in a row and none came and went in between. Nodes
// with children are never removed: the server refuses it. Nodes with data are kept, unless configured
// otherwise. Several reapers for one directory do no harm.
//
// Recipes must create such a directory again if it is gone (kNoNode), as all of drover's do.
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
  // Starts at once.
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
