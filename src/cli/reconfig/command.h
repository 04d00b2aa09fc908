// SPDX-License-Identifier: Apache-2.0
//
// `drover reconfig`: changes the members of a running ensemble, step by step.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace drover::cli {

int run_reconfig(const std::vector<std::string>& arguments);

inline constexpr std::string_view kReconfigHelp =
    R"(drover reconfig: change the members of a running ensemble

usage: drover reconfig show                        members, roles and states
       drover reconfig add LINE...                 add servers: 'server.4=zk4:2888:3888;2181'
       drover reconfig remove ID...                remove servers
       drover reconfig replace ID LINE             put a new server in the place of another; the id may stay
       drover reconfig promote ID...               make observers voters
       drover reconfig demote ID...                make voters observers

LINE is a line of zoo.cfg; ":observer" after the ports adds an observer. Start a new server first, with the present
members and itself in its configuration. The command checks that it runs, that its id is right, and that a quorum
survives; says what it will do; asks; and waits until the server is synced. A server that is not synced yet joins as an
observer first, so it never stops writes. If another operator changes the members meanwhile, it stops. On a failure it
prints the present members and the command to go back; it undoes nothing by itself.

  --dry-run              check and print the steps, change nothing
  --yes                  do not ask
  --force                go on despite problems; those that make it impossible remain
  --wait SECONDS         how long to wait for a server to be synced (120)
  --json                 with show: print one JSON object
  -server HOST:PORT,...  127.0.0.1:2181        -timeout MS   session timeout (30000)
  --auth SCHEME:TEXT     digest:super:password: servers allow it only to who may write /zookeeper/config
  -client-configuration FILE   zookeeper.client.secure=true and the zookeeper.ssl.* stores: TLS
  --sasl-user NAME [--sasl-password-file FILE], --kerberos, --keytab FILE --principal NAME   log in with SASL

Servers need reconfigEnabled=true. States come from the word `srvr` on the client port, which is allowed by default.
Exit codes: 0 done, 1 failed, refused or not confirmed, 2 wrong usage. More: docs/cli.md.
)";

}  // namespace drover::cli
