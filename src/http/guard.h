// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>

#include "http/message.h"

namespace drover::server {

// Called for every request that has a route, before its body is read. Returns an answer to reject the
// request.
using HttpGuard = std::function<std::optional<HttpResponse>(const HttpRequest&)>;

}  // namespace drover::server
