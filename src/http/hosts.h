// SPDX-License-Identifier: Apache-2.0
//
// The names by which this server may be asked over HTTP: the one list, for every path that has secrets.
//
// A page whose name somebody has made to point here (DNS rebinding) is of our own origin for a browser, and
// could ask for everything that this machine's user may. So a name that nobody configured is not ours.
#pragma once

#include <string_view>

#include "config/config.h"

namespace drover::server {

// Of the header Host, with or without a port. One that is missing is ours: who sends none is no browser.
bool is_our_host(std::string_view host_header, const ServerConfig& config);

}  // namespace drover::server
