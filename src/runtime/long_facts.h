// SPDX-License-Identifier: Apache-2.0
//
// Facts of which there may be a million: who has which ephemeral nodes, and who watches what.
//
// Nobody holds still for them. They are copied in steps, with the locks given back between two, and put in
// order without any. So they are not of one moment; what comes or goes meanwhile may be shown or not.
#pragma once

#include <vector>

#include "monitor/four_letter_words.h"
#include "replica/front.h"
#include "runtime/ephemerals_walk.h"

namespace drover::server {

// Of every session that has any, its paths in order.
std::vector<SessionPaths> ephemerals_by_session(const TreeReader& tree);

// Data watches, by session and by path, and how many there are. The I/O thread of front N has the slot N.
void add_watches(const std::vector<const replica::Front*>& fronts, TreeLock& lock, Facts& facts);

}  // namespace drover::server
