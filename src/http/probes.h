// SPDX-License-Identifier: Apache-2.0
//
// /live, /ready and /leader: yes (200) or no (503), for orchestrators and load balancers.
#pragma once

#include "http/router.h"
#include "runtime/server_inside.h"

namespace drover::server {

// `inside` outlives the router.
void add_probes(HttpRouter& router, const ServerInside& inside);

}  // namespace drover::server
