// SPDX-License-Identifier: Apache-2.0
//
// Makes a stopped server a quorum of its own, when a quorum of the others is lost for good.
//
// Nothing is added to the log. A server starts with the committed membership of its files unless its data
// names a later one (host::recover_memberships). So it is enough to commit a membership whose version is
// later than everything on this disk. Three changes, each atomic and durable before the next:
//
//   1. acceptedEpoch   is raised by kForcedEpochsSkipped. A promise only refuses leaders, so this is safe
//                      by itself. The version of the new membership is the start of this epoch, and the next
//                      leader's epoch is later. The servers that are given up may have reached epochs of
//                      which this disk knows nothing. Two leaders of one epoch would use the same zxids for
//                      different transactions, and a sync with such a server would mix the two histories.
//   2. currentEpoch    gets a new history id. A lost server that comes back stops when it meets the new
//                      leader, and keeps its data ("Two histories" in docs/operating.md). Otherwise it would
//                      cut off what it has acknowledged and this server has not.
//   3. zoo.cfg         names the new dynamic file. This is the decision.
//
// The protections come first, so the new membership is never in force without them. After a crash before the
// third step the old membership is in force, which has no quorum: the server does not serve, and the command
// can be repeated.
//
// Only a membership in which this server is a quorum by itself is accepted. With two survivors in it, both
// would have to be forced, and nothing would prove that one of them has the other's history. All others join
// with a reconfiguration, which syncs them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "tools/context.h"
#include "tools/membership_survey.h"

namespace drover::tools {

// More elections than servers hold before an operator notices that they lack a quorum, and fewer than the
// jump that other servers believe (zab/epoch_claim.h).
inline constexpr std::uint32_t kForcedEpochsSkipped = 1000;

struct ForceOptions {
  std::string backup{};  // directory of the copy; empty: beside zoo.cfg, with the time in its name
  bool yes = false;      // do not ask
};

struct ForceWorld {
  std::int64_t now_ms = 0;
  std::uint64_t new_history_id = 0;  // random, not 0
  std::function<bool()> confirm;     // asks the user
  // Says which process uses the directory without its lock; "" if none.
  std::function<std::string(const std::string& directory)> user_of = [](const std::string&) {
    return std::string();
  };
  // The user who owns the path, if that is not the one who runs this; else "".
  std::function<std::string(const std::string& path)> other_owner_of = [](const std::string&) {
    return std::string();
  };
};

Outcome force_membership(const Context& context, const MembershipSource& source,
                         const zab::Membership& members, const ForceOptions& options,
                         const ForceWorld& world);

}  // namespace drover::tools
