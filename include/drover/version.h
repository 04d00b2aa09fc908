// SPDX-License-Identifier: Apache-2.0
//
// The version, in the form that ZooKeeper's tools parse.
#pragma once

#include <string_view>

namespace drover {

// Clients and scripts compare the ZooKeeper release at the front. The part after the first dash is
// drover's.
inline constexpr std::string_view kVersion = "3.9.5-drover-0.1.0";

// Java prints when its jar was built. A build date here would make two builds of one source differ, so
// this is the day of the release.
inline constexpr std::string_view kFullVersion = "3.9.5-drover-0.1.0, built on 2026-11-15 00:00 UTC";

}  // namespace drover
