// SPDX-License-Identifier: Apache-2.0
//
// The audit log of a server process: where it goes, and the lines about the process itself.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "config/config.h"
#include "replica/audit.h"

namespace drover::server {

// Does nothing if there is no audit log. The same for all others.
IoResult<void> open_audit(const LogSettings& log);
void audit_start(const ServerConfig& config, bool success);
// Java writes it when it begins to stop, so the result is `invoked`.
void audit_stop(const ServerConfig& config);

void write_audit_lines(const std::vector<replica::AuditLine>& lines);

// The user of what the server does itself: its Kerberos principal, or else the user of the process.
std::string audit_user(const ServerConfig& config);

}  // namespace drover::server
