// SPDX-License-Identifier: Apache-2.0
//
// Reports the state of the process to systemd, or to another service manager that set NOTIFY_SOCKET
// (sd_notify(3)).
#pragma once

#include <string_view>

namespace drover::server {

// `state` is "READY=1" or "STOPPING=1". Does nothing if NOTIFY_SOCKET is not set.
void tell_service_manager(std::string_view state);

}  // namespace drover::server
