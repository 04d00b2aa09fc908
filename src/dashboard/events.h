// SPDX-License-Identifier: Apache-2.0
//
// A stream of Server-Sent Events: changes of the nodes that a page shows, and of this server's role.
//
// Twice a second the zxids of the paths are compared with those told last, all under one short lock. Watches
// would tell at once, but they belong to a connection's I/O thread and fire in the path of writes; a page
// that is half a second behind costs the writers nothing, and a storm of changes becomes one event.
//
//   event: node
//   id: 0x7
//   data: {"path":"/a","exists":true,"mzxid":"0x5","pzxid":"0x7"}
//
//   event: role
//   data: {"mode":"leader","epoch":3,"leader":1}
#pragma once

#include <atomic>

#include "dashboard/access.h"

namespace drover::server {

// ?paths=: one on a line; &since=: the last id that the page has seen, or the zxid of what it shows, so that
// nothing is missed between two streams. `streams` counts those that are open, and bounds them.
HttpResponse events_answer(const ServerInside& inside, const Asker& asker, const HttpRequest& request,
                           std::atomic<int>& streams);

}  // namespace drover::server
