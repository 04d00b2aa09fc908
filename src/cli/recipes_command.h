// SPDX-License-Identifier: Apache-2.0
//
// `drover locks`, `leaders`, `queues` and `members`: holders, waiters, items and members.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace drover::cli {

int run_locks(const std::vector<std::string>& arguments);
int run_leaders(const std::vector<std::string>& arguments);
int run_queues(const std::vector<std::string>& arguments);
int run_members(const std::vector<std::string>& arguments);

inline constexpr std::string_view kRecipesHelp =
    R"(drover locks|leaders|queues|members: what is going on in the nodes of a recipe

usage: drover locks PATH [options]            locks, read/write locks, semaphores: who holds, who waits
       drover leaders PATH [options]          elections: who leads, who is next
       drover queues PATH [options]           queues: how many items, how old, claimed by whom
       drover members PATH [options]          groups and services: who is there
       drover locks release NODE [--yes]      delete the node of a holder or of one that waits
       drover locks revoke NODE [--yes]       ask a holder to give it back

Layouts of drover, Curator, kazoo and ZooKeeper's own recipes are recognised by the names of their nodes. A NODE
may also be the PATH of a lock that one holds. `release` and `revoke` work for leaders, queues (a claim) and members
as well; they show who will lose what and ask first.

  -R                     everything of that kind below PATH, one line each, as it is found
  --watch                show it again whenever it changes (Ctrl-C ends it)
  --json                 one JSON object for each, on a line
  --claims PATH          where the claims of a queue are (PATH.claims)
  --items N              show so many items of a queue (20)
  --limit N              with -R: look at so many directories (10000)
  --yes                  release and revoke without asking
  -server HOST:PORT,...    127.0.0.1:2181        -timeout MS   of the session (30000)
  --auth SCHEME:TEXT     digest:user:password  -r            a server without a quorum will do
  -client-configuration FILE   zookeeper.client.secure=true and the zookeeper.ssl.* stores: TLS

Addresses of clients come from the word `cons`, where servers allow it (4lw.commands.whitelist). "in line since" is
when the node was made; when it became the holder is not recorded anywhere. The fence is the node's czxid.

Exit codes: 0 shown or done, 1 no such thing there or it failed, 2 wrong usage. More: docs/observing.md.
)";

}  // namespace drover::cli
