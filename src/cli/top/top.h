// SPDX-License-Identifier: Apache-2.0
//
// `drover top`: a live view of an ensemble.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace drover::cli {

int run_top(const std::vector<std::string>& arguments);

inline constexpr std::string_view kTopHelp = R"(drover top: live screen of an ensemble

usage: drover top [options]

Shows every member of /zookeeper/config and every address of -server: role, zxid, lag behind the leader, requests,
sessions, connections, watches, latencies; and which paths change most.

  --once                 print one sample as text and exit
  --json                 print one JSON object per sample
  --interval SECONDS     between two samples (1)
  --depth N              depth of the paths for which changes are counted (2)
  --no-paths             do not count changes; otherwise a recursive watch on / sends every change
  -server HOST:PORT,...  127.0.0.1:2181        -timeout MS   session timeout (30000)
  --auth SCHEME:TEXT     digest:user:password
  -client-configuration FILE   zookeeper.client.secure=true and the zookeeper.ssl.* stores: TLS
  --sasl-user NAME [--sasl-password-file FILE], --kerberos, --keytab FILE --principal NAME   log in with SASL

Keys: q quit; s r l c w z sort by server, requests, latency, connections, watches, lag; + - depth of paths.

The numbers come from the words `srvr` and `mntr` (and `conf` for ids), which must be in 4lw.commands.whitelist;
`srvr` is there by default. Requests are received packets, including pings. Latencies are the servers' own, in ms, since
their start or reset; "answer" is how long `srvr` took. Java servers are shown, too.
Exit codes: 0 success, 1 no server answered, 2 wrong usage. More: docs/observing.md.
)";

}  // namespace drover::cli
