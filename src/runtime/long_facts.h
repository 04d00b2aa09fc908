// SPDX-License-Identifier: Apache-2.0
//
// Facts that can have a million entries: the ephemeral nodes of each session, and the watches.
//
// Collecting them does not stop the server. They are copied in steps, with the locks released between steps,
// and sorted without a lock. So they are not a snapshot of one moment: an entry that is added or removed
// meanwhile may be shown or not.
#pragma once

#include <vector>

#include "monitor/four_letter_words.h"
#include "replica/front.h"
#include "runtime/ephemerals_walk.h"

namespace drover::server {

// The paths of every session that owns ephemeral nodes, sorted.
std::vector<SessionPaths> ephemerals_by_session(const TreeReader& tree);

// Adds the data watches, by session and by path, and their number. Each front uses the slot of its I/O
// thread.
void add_watches(const std::vector<const replica::Front*>& fronts, TreeLock& lock, Facts& facts);

}  // namespace drover::server
