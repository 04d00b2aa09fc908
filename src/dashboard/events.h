// SPDX-License-Identifier: Apache-2.0
//
// A stream of Server-Sent Events: changes of the nodes that a page shows, and of this server's role.
//
// Twice a second it compares the zxids of the paths with the last ones sent, all under one short lock.
// Watches would report at once, but they belong to a connection's I/O thread and fire in the path of writes.
// A page that is half a second behind costs the writers nothing, and many changes become one event.
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

// ?paths=: one per line; &since=: the last id that the page has seen, or the zxid of what it shows, so that
// nothing is missed between two streams. `streams` counts the open streams; their number is limited.
HttpResponse events_answer(const ServerInside& inside, const Asker& asker, const HttpRequest& request,
                           std::atomic<int>& streams);

}  // namespace drover::server
