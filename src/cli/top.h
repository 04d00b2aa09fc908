// SPDX-License-Identifier: Apache-2.0
//
// `drover top`: a live view of an ensemble.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace drover::cli {

int run_top(const std::vector<std::string>& arguments);

inline constexpr std::string_view kTopHelp = R"(drover top: a live screen of an ensemble

usage: drover top [options]

Every member of the configuration (/zookeeper/config) or of -server: its role, zxid and how far it is behind the
leader, requests, sessions, connections, watches, latencies; and where in the tree things change.

  --once                 one look, as text, and the end
  --json                 one JSON object for each look, on a line; with --once only one
  --interval SECONDS     between two looks (1)
  --depth N              of the paths whose changes are counted (2)
  --no-paths             count no changes: the recursive watch on / has every change sent to us
  -server HOST:PORT,...  127.0.0.1:2181        -timeout MS   of the session (30000)
  --auth SCHEME:TEXT     digest:user:password
  -client-configuration FILE   zookeeper.client.secure=true and the zookeeper.ssl.* stores: TLS

Keys: q quit; s r l c w z sort by server, requests, latency, connections, watches, lag; + - depth of paths.

Numbers are what servers say by the words `srvr` and `mntr` (and `conf` for their ids), which need to be in
4lw.commands.whitelist; `srvr` is by default. Requests are packets received, pings included. Latencies are the
servers' own, in ms, since they were started or reset; "answer" is how long `srvr` took from here. Java's members
are shown as ours are. Exit codes: 0, 1 no server answered, 2 wrong usage. More: docs/observing.md.
)";

}  // namespace drover::cli
