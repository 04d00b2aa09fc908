#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# How fast are three drover servers, compared with three Java ZooKeeper servers?
#
#   bench/ensemble.py                 every row, both ensembles in turn, one table at the end
#   bench/ensemble.py set gap         rows whose name contains one of the words
#   bench/ensemble.py --seconds 5 --tries 5 --json FILE
#
# Three servers and the load share this machine. Ratios of one run mean something, absolute figures do not.
# The load generators are those of bench/compare.py.

import argparse
import concurrent.futures
import functools
import json
import os
import pathlib
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

from compare import BUILD, DROVER, build_tools
from ports import free_port

VOTERS = 3
# name, zkraw arguments, figure, bound: at least (ratio drover/Java) or at most
LOAD_ROWS = [
    ("set 9x16", "set 9 16", "ops_s", (">=", 5.0)),
    ("set 64x16", "set 64 16", "ops_s", (">=", 6.0)),
    ("mixed 90/10 64x16", "mixed 64 16", "ops_s", (">=", 8.0)),
    ("get 9x16", "get 9 16", "ops_s", (">=", 10.0)),
    ("get 64x16", "get 64 16", "ops_s", (">=", 10.0)),
    ("set 1x1 p50", "set 1 1", "p50_us", ("<=", 0.5)),
]
KINDS = ("java", "drover")


class Ensemble:
    """Three servers of one kind on loopback, each with its own directory."""

    servers = VOTERS

    def __init__(self, kind, scratch, tick_ms=2000):
        self.kind = kind
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix=f"{kind}-", dir=scratch))
        self.ports = [(free_port(), free_port(), free_port()) for _ in range(self.servers)]
        self.tick_ms = tick_ms
        self.processes = [None] * self.servers

    def command(self, i):
        home = self.directory / f"server-{i + 1}"
        home.mkdir(exist_ok=True)
        (home / "myid").write_text(f"{i + 1}\n")
        config = home / "zoo.cfg"
        config.write_text("\n".join(self.config_lines(i, home)) + "\n")
        if self.kind == "drover":
            return [str(DROVER), "server", str(config)]
        return ["java", "-cp", "/usr/share/java/zookeeper.jar:/usr/share/java/slf4j-simple.jar",
                "-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
                "org.apache.zookeeper.server.quorum.QuorumPeerMain", str(config)]

    def config_lines(self, i, home):
        return [f"dataDir={home}", f"clientPort={self.ports[i][0]}", f"tickTime={self.tick_ms}", "initLimit=20",
                "syncLimit=5", "maxClientCnxns=0", "maxSessionTimeout=60000", "4lw.commands.whitelist=*",
                "admin.enableServer=false", *map(self.member_line, range(VOTERS))]

    def member_line(self, i):
        _, quorum, election = self.ports[i]
        return f"server.{i + 1}=127.0.0.1:{quorum}:{election}"

    def start(self, i):
        log = open(self.directory / f"log-{i + 1}", "ab")
        self.processes[i] = subprocess.Popen(self.command(i), stdout=log, stderr=log)

    def start_all(self):
        os.sync()  # what earlier rows wrote and removed must not reach the disk during this one
        for i in range(VOTERS):
            self.start(i)
        self.wait(lambda: sorted(filter(None, self.roles())) == ["follower", "follower", "leader"])

    def wait(self, condition, seconds=60):
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > deadline:
                sys.exit(f"ensemble: {self.kind} did not become ready\n{self.last_words()}")
            time.sleep(0.01)

    def last_words(self):
        logs = [self.directory / f"log-{i + 1}" for i in range(self.servers)]
        return "\n".join(f"{log.name}: {log.read_text()[-1000:]}" for log in logs if log.exists())

    def ask(self, i, word):
        try:
            with socket.create_connection(("127.0.0.1", self.ports[i][0]), timeout=1) as connection:
                connection.sendall(word.encode())
                answer = b""
                while chunk := connection.recv(65536):
                    answer += chunk
                return answer.decode()
        except OSError:
            return ""

    def role(self, i):
        """leader or follower; None while it does not serve."""
        answer = self.ask(i, "srvr") if self.processes[i] else ""
        return next((line[6:] for line in answer.splitlines() if line.startswith("Mode: ")), None)

    def roles(self):
        return [self.role(i) for i in range(self.servers)]

    def load(self, *arguments, servers=None):
        chosen = range(VOTERS) if servers is None else servers
        command = [str(BUILD / "zkraw"), "--servers", ",".join(f"127.0.0.1:{self.ports[i][0]}" for i in chosen),
                   "--pid", ",".join(str(p.pid) for p in self.processes if p), *map(str, arguments)]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            sys.exit(f"ensemble: {' '.join(command)}: {done.stderr[-500:]}")
        result = json.loads(done.stdout)
        if result.get("bad") or result.get("errors"):
            sys.exit(f"ensemble: wrong answers from {self.kind}: {result}")
        return result

    def write_p99(self, servers, seconds, warm=0):
        return self.load("--mode", "set", "--conns", 4, "--depth", 4, "--time", seconds, "--warm", warm,
                         servers=servers)["p99_us"]

    def fill(self, nodes):
        self.load("--mode", "fill", "--count", nodes, "--conns", 4, "--depth", 256)

    def stop(self):
        for process in self.processes:
            if process and process.poll() is None:
                process.send_signal(signal.SIGKILL)
                process.wait()
        shutil.rmtree(self.directory, ignore_errors=True)


def load_row(row, scratch, options):
    name, words, figure, _ = row
    mode, connections, depth = words.split()
    results = {}
    for kind in KINDS:
        ensemble = Ensemble(kind, scratch)
        try:
            ensemble.start_all()
            extra = ["--reads", 90] if mode == "mixed" else []
            ensemble.load("--mode", "set", "--conns", 9, "--depth", 16, "--time", 2, "--warm", 0)  # warm up
            result = ensemble.load("--mode", mode, "--conns", connections, "--depth", depth, *extra, "--time",
                                   options.seconds, "--warm", 1)
            results[kind] = {"value": result[figure], "per_cpu": result["ops_per_srv_cpu_s"]}
        finally:
            ensemble.stop()
        print(f"  {name:22} {kind:7} {results[kind]['value']:>12,.0f}   "
              f"{results[kind]['per_cpu']:>10,.0f} per CPU second", flush=True)
    return results


def gap_row(victim, scratch, options):
    """The longest gap in writes when the leader, or a follower, is killed."""
    results = {}
    for kind in KINDS:
        gaps = []
        for _ in range(options.tries):
            ensemble = Ensemble(kind, scratch)
            try:
                ensemble.start_all()
                target = ensemble.roles().index(victim)
                servers = None if victim == "leader" else [i for i in range(VOTERS) if i != target]
                result = ensemble.load("--mode", "gap", "--kill-pid", ensemble.processes[target].pid,
                                       "--kill-after", 2000, "--time", 8, servers=servers)
                gaps.append(result["longest_gap_ms"])
            finally:
                ensemble.stop()
        results[kind] = {"value": statistics.median(gaps), "all": gaps}
        print(f"  {victim} killed           {kind:7} median {results[kind]['value']:.0f} ms of {gaps}", flush=True)
    return results


def join_row(scratch, options):
    """An empty server joins a large tree: how long it takes, and the others' write latency."""
    ensemble = Ensemble("drover", scratch)
    try:
        ensemble.start_all()
        victim = ensemble.roles().index("follower")
        ensemble.fill(options.nodes)
        others = [i for i in range(VOTERS) if i != victim]
        ensemble.processes[victim].send_signal(signal.SIGKILL)
        ensemble.processes[victim].wait()
        ensemble.processes[victim] = None
        shutil.rmtree(ensemble.directory / f"server-{victim + 1}")
        before = ensemble.write_p99(others, 5, warm=1)
        joined, meanwhile = under_load(ensemble, others, lambda: join(ensemble, victim), 5)
        print(f"  empty server joins {options.nodes:,} nodes: {joined:.2f} s; write p99 of the others "
              f"{before / 1000:.2f} -> {meanwhile / 1000:.2f} ms", flush=True)
        return {"drover": {"value": joined, "p99_before_us": before, "p99_us": meanwhile}}
    finally:
        ensemble.stop()


def join(ensemble, i):
    """Starts a server; returns the seconds until it serves."""
    begun = time.monotonic()
    ensemble.start(i)
    ensemble.wait(lambda: ensemble.role(i) == "follower")
    return time.monotonic() - begun


def under_load(ensemble, servers, change, window):
    """Runs `change` while clients of these servers write. Returns its result, and the p99 of the writes.

    A load of `window` seconds is repeated until the change is done; the slowest one counts."""
    with concurrent.futures.ThreadPoolExecutor(1) as thread:
        changed = thread.submit(change)
        p99 = [ensemble.write_p99(servers, window)]
        while not changed.done():
            p99.append(ensemble.write_p99(servers, window))
        return changed.result(), max(p99)


def run(description, rows):
    """Runs the rows that the command line names. A row takes the scratch directory and the options."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("words", nargs="*", help="rows whose name contains one of these")
    parser.add_argument("--seconds", type=int, default=5, help="of each load")
    parser.add_argument("--tries", type=int, default=5, help="of the rows that measure a gap")
    parser.add_argument("--nodes", type=int, default=1_000_000, help="of the rows that sync an empty server")
    parser.add_argument("--json", help="keep the raw results here")
    options = parser.parse_args()
    build_tools()
    scratch = tempfile.mkdtemp(prefix="drover-ensemble-bench-")
    try:
        results = {name: row(scratch, options) for name, row in rows.items()
                   if not options.words or any(word in name for word in options.words)}
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(results, indent=1))
    print_table(results)


def print_table(results):
    print()
    bounds = {row[0]: row[3] for row in LOAD_ROWS}
    for name, result in results.items():
        if "java" not in result:
            continue
        ratio = result["drover"]["value"] / max(result["java"]["value"], 1e-9)
        bound = bounds.get(name)
        reach = f"reach {bound[0]} {bound[1]}" if bound else ""
        print(f"{name:22} java {result['java']['value']:>12,.1f}   drover {result['drover']['value']:>12,.1f}   "
              f"{ratio:8.3f}x  {reach}")


def main():
    rows = {row[0]: functools.partial(load_row, row) for row in LOAD_ROWS}
    rows |= {f"gap {victim}": functools.partial(gap_row, victim) for victim in ("leader", "follower")}
    run("drover ensembles beside Java ZooKeeper's", rows | {"join": join_row})


if __name__ == "__main__":
    main()
