// SPDX-License-Identifier: Apache-2.0
//
// `drover inspect members`: shows the memberships on a disk. With --force it makes the server a quorum of its
// own, for the day when a quorum of the others is lost for good.
#pragma once

#include <string>

#include "tools/context.h"
#include "tools/force_membership.h"
#include "tools/membership_survey.h"

namespace drover::tools {

struct MembersCommand {
  MembershipSource source;
  zab::Membership forced{};  // no servers: only show
  ForceOptions force{};
};

Outcome run_members(const Context& context, const MembersCommand& command, const ForceWorld& world);

}  // namespace drover::tools
