// SPDX-License-Identifier: Apache-2.0
//
// The one place that says which version this is, in the form that ZooKeeper's tools parse.
#pragma once

#include <string_view>

namespace drover {

// Clients and scripts read the ZooKeeper release off the front and compare it; what follows the first dash
// is ours.
inline constexpr std::string_view kVersion = "3.9.5-drover-0.1.0";

// Java prints when its jar was built. A build date here would make two builds of one source differ, so
// this is the day of the release.
inline constexpr std::string_view kFullVersion = "3.9.5-drover-0.1.0, built on 2026-11-15 00:00 UTC";

}  // namespace drover
