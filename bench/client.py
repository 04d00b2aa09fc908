#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# How expensive is our client, compared with ZooKeeper's C client? Both use the same drover server, in one run; for locks
# also the C client on Java's server.
#
#   bench/client.py                 every row
#   bench/client.py get lock        rows whose name contains one of the words
#   bench/client.py --seconds 5 --tries 3 --json FILE
#
# The C client is driven by `zkload` (see bench/compare.py for where it comes from), ours by `client_load`.

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

from compare import BUILD, DROVER, Server, build_tool

CLIENT_LOAD = DROVER.parent / "client_load"
WATCHES = 100_000


def build():
    build_tool("zkload", "-DTHREADED", libraries=["-lzookeeper_mt"])
    subprocess.run(["cmake", "--build", str(DROVER.parent.parent), "--target", "client_load"], check=True,
                   stdout=subprocess.DEVNULL)


def run(command):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"client: {command}: {done.stdout[-300:]} {done.stderr[-500:]}")
    return json.loads(done.stdout)


def address(server):
    return f"127.0.0.1:{server.port}"


def c_client(server, mode, seconds):
    result = run([BUILD / "zkload", "--servers", address(server), "--mode", mode, "--sessions", 8, "--depth", 16,
                  "--time", seconds, "--warm", 1])
    if result.get("bad") or result.get("errors") or result.get("violations"):
        sys.exit(f"client: wrong answers: {result}")
    return result


def get_row(server, seconds):
    """Gets per second of the client's own CPU, 8 sessions with 16 in flight each."""
    theirs = c_client(server, "get", seconds)
    row = {"c": theirs["ops"] / theirs["cli_cpu_s"]}
    for executor in ("own", "io"):
        ours = run([CLIENT_LOAD, address(server), "get", 8, 16, seconds, executor])
        row[f"drover, {executor} thread"] = ours["ops_per_cli_cpu_s"]
    return row


def lock_row(server, seconds):
    """Hand-overs of one contended lock per second, 8 contenders with a session each."""
    row = {}
    java = Server("java", server.directory)
    java.start()
    try:
        row["c on Java"] = c_client(java, "lock", seconds)["handoffs_s"]
    finally:
        java.stop()
    row["c"] = c_client(server, "lock", seconds)["handoffs_s"]
    for executor in ("own", "io"):
        row[f"drover, {executor} thread"] = run([CLIENT_LOAD, address(server), "lock", 8, seconds, executor])["handoffs_s"]
    return row


def watches_row(server, _):
    """Seconds from a lost connection until this many data watches are set again on the next one."""
    return {f"{WATCHES:,} re-armed, s": run([CLIENT_LOAD, address(server), "watches", WATCHES])["rearmed_s"]}


ROWS = {"get 8x16 per client CPU s": get_row, "lock hand-overs/s": lock_row, "watches": watches_row}


def main():
    parser = argparse.ArgumentParser(description="our client beside ZooKeeper's C client")
    parser.add_argument("words", nargs="*", help="only rows whose name contains one of these")
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--tries", type=int, default=3, help="runs of each row; the median counts")
    parser.add_argument("--json")
    options = parser.parse_args()
    build()
    results = {}
    with tempfile.TemporaryDirectory(prefix="bench-client-") as scratch:
        server = Server("drover", scratch)
        server.start()
        try:
            for name, row in ROWS.items():
                if options.words and not any(word in name for word in options.words):
                    continue
                tries = [row(server, options.seconds) for _ in range(options.tries)]
                results[name] = {key: statistics.median(one[key] for one in tries) for key in tries[0]}
                figures = ", ".join(f"{key}: {value:,.3f}" for key, value in results[name].items())
                print(f"{name:28} {figures}", flush=True)
        finally:
            server.stop()
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
