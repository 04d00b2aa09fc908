// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>

#include "http/message.h"

namespace drover::server {

// Asked of every request that has a route, before its body is read: the answer, if it ends here.
using HttpGuard = std::function<std::optional<HttpResponse>(const HttpRequest&)>;

}  // namespace drover::server
