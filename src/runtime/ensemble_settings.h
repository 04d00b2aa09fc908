// SPDX-License-Identifier: Apache-2.0
//
// Translates the configuration to settings of the agreement protocol. Makes no decisions.
#pragma once

#include "config/config.h"
#include "replica/member.h"
#include "zab/history.h"

namespace drover::server {

// A standalone server is the only voter.
zab::Membership membership_of(const ServerConfig& config);
// Transactions kept in memory for learners.
zab::WindowLimits window_limits(const ServerConfig& config);
replica::MemberConfig member_config(const ServerConfig& config);
// Must the certificate of another server name a host of the server that it claims to be? By default if
// certificates name hosts at all: ssl.quorum.hostnameVerification, with which every server that is dialled
// must have such a certificate anyway.
bool checks_peer_certificates(const ServerConfig& config);

}  // namespace drover::server
