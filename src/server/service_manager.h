// SPDX-License-Identifier: Apache-2.0
//
// Tells systemd, or whoever else has set NOTIFY_SOCKET, how the process is doing (sd_notify(3)).
#pragma once

#include <string_view>

namespace drover::server {

// "READY=1", "STOPPING=1". Nothing happens, and nobody minds, when nobody asked for it.
void tell_service_manager(std::string_view state);

}  // namespace drover::server
