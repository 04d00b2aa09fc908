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
    R"(drover locks|leaders|queues|members: shows the state of locks, elections, queues and groups

usage: drover locks PATH [options]            locks, read/write locks, semaphores: who holds, who waits
       drover leaders PATH [options]          elections: who leads, who is next
       drover queues PATH [options]           queues: items, their age, who works on them
       drover members PATH [options]          groups and services: who is present
       drover locks release NODE [--yes]      delete the node of a holder or a waiter
       drover locks revoke NODE [--yes]       ask a holder to release it

Recipes of drover, Curator, kazoo and ZooKeeper are recognised by the names of their nodes. NODE may also be the
PATH of a lock with one holder. `release` and `revoke` also work for leaders, queues (claims) and members; they show
who will lose what and ask first.

  -R                     find everything of that kind below PATH, one line each
  --watch                show every change, until Ctrl-C
  --json                 print one JSON object per line
  --claims PATH          directory of a queue's claims (PATH.claims)
  --items N              number of items of a queue to show (20)
  --limit N              with -R: read at most N directories (10000)
  --yes                  release and revoke without asking
  -server HOST:PORT,...    127.0.0.1:2181        -timeout MS   session timeout (30000)
  --auth SCHEME:TEXT     digest:user:password  -r            accept a read-only server
  -client-configuration FILE   zookeeper.client.secure=true and the zookeeper.ssl.* stores: TLS
  --sasl-user NAME [--sasl-password-file FILE], --kerberos, --keytab FILE --principal NAME   log in with SASL

Client addresses come from the four-letter word `cons`, if servers allow it (4lw.commands.whitelist). "in line since" is when the
node was created; nothing records when its owner got the lock. The fence is the node's czxid.

Exit codes: 0 success, 1 not found or failed, 2 wrong usage. More: docs/observing.md.
)";

}  // namespace drover::cli
