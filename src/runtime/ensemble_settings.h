// SPDX-License-Identifier: Apache-2.0
//
// What a configuration means to agreement: pure translations, no decisions.
#pragma once

#include "config/config.h"
#include "replica/member.h"
#include "zab/history.h"
#include "zab/membership.h"

namespace drover::server {

zab::Membership zab_membership(const Membership& members);
zab::WindowLimits window_limits(const ServerConfig& config);
replica::MemberConfig member_config(const ServerConfig& config);

}  // namespace drover::server
