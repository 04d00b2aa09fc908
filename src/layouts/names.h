// SPDX-License-Identifier: Apache-2.0
//
// Classifies one node name. layout.h combines all names of a directory.
#pragma once

#include <cstdint>
#include <string_view>

#include "layouts/layout.h"

namespace drover::layouts {

enum class Shape : std::uint8_t {
  kOther,
  kLock,           // [_c_<uuid>-]lock-<seq>
  kRead,           // [_c_<uuid>-]__READ__<seq>
  kWrite,          // [_c_<uuid>-]__WRIT__<seq>
  kLatch,          // [_c_<uuid>-]latch-<seq>
  kLease,          // [_c_<uuid>-]lease-<seq>
  kTurn,           // _c_<uuid>-t-<seq>
  kKazooLock,      // <32 hex>__lock__<seq>
  kKazooRead,      // <32 hex>__rlock__<seq>
  kSessionLock,    // x-<session>-<seq>, lock-<session>-<seq>: ZooKeeper's WriteLock
  kDocumentRead,   // <guid>-read-<seq>
  kDocumentWrite,  // <guid>-write-<seq>
  kCandidate,      // [<guid>-]n_<seq>: ZooKeeper's LeaderElectionSupport
  kItem,           // queue-<seq>
  kPriorityItem,   // queue-<sign><8 hex><seq>
  kDueItem,        // queue-|<ms in hex>|<seq>
  kIdItem,         // queue-|<id>|<seq>
  kSimpleItem,     // qn-<seq>
  kNativeItem,     // _c_<uuid>-q-<seq>
  kEntry,          // entry-<priority>-<seq>: kazoo's
  kParty,          // <32 hex>__party__
  kShallowParty,   // <32 hex>-<name>
  kMember,         // _c_<uuid>-m-<seq>: drover's group without member names
  kHex,            // <32 hex>: kazoo's lease
};

struct ReadName {
  Shape shape = Shape::kOther;
  Part part{};
};

ReadName read_name(std::string_view name);

}  // namespace drover::layouts
