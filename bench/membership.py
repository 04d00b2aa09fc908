#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# What do clients notice when the members of an ensemble change? Drover beside Java ZooKeeper.
#
#   bench/membership.py               every row
#   bench/membership.py add           a fourth server is added: write latency of the others, time until it votes
#   bench/membership.py replace       a fourth server takes the leader's place: longest gap in a client's writes
#   bench/membership.py --nodes 10000 --seconds 2 --tries 1     a short trial
#
# All servers and the load share this machine; see bench/ensemble.py.

import concurrent.futures
import statistics
import subprocess
import sys
import time

from compare import DROVER
from ensemble import KINDS, VOTERS, Ensemble, join, run, under_load

FOURTH = VOTERS  # its index; it is server.4
WINDOW = 1  # Seconds. An addition takes about as long, and calm seconds beside it would hide it.
P99_RATIO_GOAL = 2
GAP_GOAL_MS = 50
WRITERS = 4  # at each server that stays


class ChangingEnsemble(Ensemble):
    """Three servers, and a fourth that is not a member until `reconfig` adds it."""

    servers = VOTERS + 1

    def config_lines(self, i, home):
        itself = [self.member_line(i)] if i >= VOTERS else []
        return [*super().config_lines(i, home), *itself, "reconfigEnabled=true", "standaloneEnabled=false",
                "skipACL=yes"]

    def member_line(self, i):
        return f"{super().member_line(i)};127.0.0.1:{self.ports[i][0]}"

    def reconfig(self, at, *change, may_disconnect=False):
        """Asks this server for the change. Its answer means that the change is committed, and applied there."""
        command = [str(DROVER), "cli", "-server", f"127.0.0.1:{self.ports[at][0]}", "reconfig", *change]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0 and not (may_disconnect and "ConnectionLoss" in done.stdout):
            sys.exit(f"membership: {self.kind}: {' '.join(command)}: {done.stdout[-500:]}")


def add_row(scratch, options):
    """An empty server is added: how long it takes, and the others' write latency."""
    results = {}
    for kind in KINDS:
        ensemble = ChangingEnsemble(kind, scratch)
        try:
            ensemble.start_all()
            ensemble.fill(options.nodes)
            others = range(VOTERS)
            before = ensemble.write_p99(others, options.seconds, warm=1)
            added, meanwhile = under_load(ensemble, others, lambda: add_fourth(ensemble), WINDOW)
        finally:
            ensemble.stop()
        results[kind] = {"value": added, "p99_before_us": before, "p99_us": meanwhile}
        print(f"  server added           {kind:7} votes after {added:.2f} s with {options.nodes:,} nodes; write p99 of "
              f"the others {before / 1000:.2f} -> {meanwhile / 1000:.2f} ms, {meanwhile / before:.2f}x "
              f"(goal <= {P99_RATIO_GOAL})", flush=True)
    return results


def add_fourth(ensemble):
    """Seconds from the start of the server until it is a voter that serves."""
    begun = time.monotonic()
    join(ensemble, FOURTH)
    ensemble.reconfig(FOURTH, "-add", ensemble.member_line(FOURTH))
    ensemble.wait(lambda: ensemble.role(FOURTH) == "follower")
    return time.monotonic() - begun


def replace_row(scratch, options):
    """The longest gap in the writes of one client, at the servers that stay, when the leader is replaced.

    The load generator waits 10 ms before it connects again, and opens a new session. The gap includes both."""
    results = {}
    for kind in KINDS:
        gaps, lost = [], 0
        for _ in range(options.tries):
            ensemble = ChangingEnsemble(kind, scratch)
            try:
                writers = replace_leader(ensemble, options.seconds)
            finally:
                ensemble.stop()
            gaps.append(max(writer["max_gap_ms"] for writer in writers))
            lost += sum(writer["lost"] for writer in writers)
        results[kind] = {"value": statistics.median(gaps), "all": gaps, "lost_connections": lost}
        print(f"  leader replaced        {kind:7} median {results[kind]['value']:.1f} ms of {gaps} "
              f"(goal <= {GAP_GOAL_MS}); {lost} connections lost", flush=True)
    return results


def replace_leader(ensemble, seconds):
    """Returns the gaps of writers at the other servers while a synced fourth server replaces the leader."""
    ensemble.start_all()
    join(ensemble, FOURTH)
    leader = ensemble.roles().index("leader")
    stay = [i for i in range(VOTERS) if i != leader]

    def replace():
        time.sleep(seconds / 2)
        # Servers, drover's and Java's, disconnect their clients when they change to another leader.
        ensemble.reconfig(stay[0], "-remove", str(leader + 1), "-add", ensemble.member_line(FOURTH),
                          may_disconnect=True)
        ensemble.wait(lambda: any(ensemble.role(i) == "leader" for i in [*stay, FOURTH]))

    with concurrent.futures.ThreadPoolExecutor(1) as thread:
        replaced = thread.submit(replace)
        # No server is killed: this only divides the writes into those before the last second, and those in it.
        result = ensemble.load("--mode", "gap", "--kill-after", seconds * 1000, "--time", 1, servers=stay * WRITERS)
        replaced.result()
    if sum(writer["ok"] for writer in result["writers"]) <= result["writes_before"]:
        sys.exit(f"membership: no writes a second before the end, from {ensemble.kind}: {result}")
    return result["writers"]


def main():
    run("changes of the members, drover beside Java ZooKeeper", {"add": add_row, "replace": replace_row})


if __name__ == "__main__":
    main()
