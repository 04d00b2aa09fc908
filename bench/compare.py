#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# How fast is drover, compared with Java ZooKeeper and with the ceiling of this machine?
#
#   bench/compare.py                  every row, all servers in turn, one table at the end
#   bench/compare.py get set          rows whose name contains one of the words
#   bench/compare.py --seconds 10     longer rows;  --json FILE  keeps the raw results
#   bench/compare.py --before FILE    this build beside an older drover binary, the load rows only
#
# Servers take turns on the same machine within minutes, so ratios mean something where absolute figures do
# not. The ceiling is `zkecho`, which answers the same protocol from a constant and keeps no tree. Load comes
# from the project's load generators (zkraw, zkecho), whose sources are looked for in DROVER_LOAD_TOOLS, by
# default ../shared/tools beside the checkout. The Java server is Debian's `zookeeper` package.

import argparse
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "tests" / "compat"))
from ports import free_port  # noqa: E402  (the path above must come first)

TOOLS = pathlib.Path(os.environ.get("DROVER_LOAD_TOOLS", ROOT.parent / "shared" / "tools"))
BUILD = ROOT / "build" / "bench"
DROVER = pathlib.Path(os.environ.get("DROVER", ROOT / "build" / "release" / "bin" / "drover"))
NODES = 1_000_000


def build_tools():
    for tool in ("zkraw", "zkecho"):
        build_tool(tool)


def build_tool(tool, *flags, libraries=()):
    BUILD.mkdir(parents=True, exist_ok=True)
    source = TOOLS / f"{tool}.cc"
    if not source.exists():
        sys.exit(f"compare: {source} is missing; set DROVER_LOAD_TOOLS to the load generators' folder")
    binary = BUILD / tool
    if not binary.exists() or binary.stat().st_mtime < source.stat().st_mtime:
        subprocess.run(["g++", "-O2", "-std=c++17", "-pthread", *flags, "-o", binary, source, *libraries], check=True)


def rss_bytes(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    return 0


class Server:
    """One server process on a loopback port, with its own data directory."""

    def __init__(self, kind, scratch, properties=(), binary=DROVER):
        self.kind = kind
        self.binary = binary
        self.properties = list(properties)
        self.port = free_port()
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix=f"{kind}-", dir=scratch))
        self.process = None

    def command(self):
        config = self.directory / "zoo.cfg"
        config.write_text(
            f"dataDir={self.directory}/data\nclientPort={self.port}\nclientPortAddress=127.0.0.1\n"
            "maxClientCnxns=0\nmaxCnxns=0\ntickTime=2000\nmaxSessionTimeout=60000\n4lw.commands.whitelist=*\n"
            "admin.enableServer=false\n")
        if self.kind in ("drover", "before"):
            return [str(self.binary), "server", str(config), *self.properties]
        if self.kind == "zkecho":
            return [str(BUILD / "zkecho"), str(self.port), "--log", str(self.directory / "log")]
        return ["java", "-cp", "/usr/share/java/zookeeper.jar:/usr/share/java/slf4j-simple.jar",
                "-Dorg.slf4j.simpleLogger.defaultLogLevel=error", "org.apache.zookeeper.server.ZooKeeperServerMain",
                str(config)]

    def start(self):
        log = open(self.directory / "stderr", "ab")
        os.sync()  # what earlier rows wrote and removed must not reach the disk during this one
        begun = time.monotonic()
        self.process = subprocess.Popen(self.command(), stdout=log, stderr=log)
        while True:
            try:
                # Java accepts before it can answer, and then drops what it accepted: ask again soon.
                with socket.create_connection(("127.0.0.1", self.port), timeout=0.5) as connection:
                    # A session, not only an open port: Java listens before it can serve.
                    connection.sendall(bytes.fromhex("0000002d" + "00" * 12 + "00007530" + "00" * 8 + "00000010")
                                       + bytes(17))
                    if len(connection.recv(64)) >= 36:
                        return time.monotonic() - begun
            except OSError:
                pass
            if self.process.poll() is not None:
                sys.exit(f"compare: {self.kind} ended: {(self.directory / 'stderr').read_text()[-500:]}")
            time.sleep(0.002)

    def stop(self, sig=signal.SIGTERM):
        self.process.send_signal(sig)
        self.process.wait()

    def load(self, *arguments):
        command = [str(BUILD / "zkraw"), "--servers", f"127.0.0.1:{self.port}", "--pid", str(self.process.pid),
                   *map(str, arguments)]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            sys.exit(f"compare: {' '.join(command)}: {done.stderr[-500:]}")
        result = json.loads(done.stdout)
        if result.get("bad") or result.get("errors") or result.get("missed"):
            sys.exit(f"compare: wrong answers from {self.kind}: {result}")
        return result


# name, zkraw arguments, servers, figure shown, (target as ratio to Java, target as share of the ceiling)
LOAD_ROWS = [
    ("get 8x16", "get 8 16", "ops_s", 12.0, 0.35),
    ("get 64x1", "get 64 1", "ops_s", None, 0.60),
    ("get 1x1 p50", "get 1 1", "p50_us", 0.65, None),
    ("set 8x16", "set 8 16", "ops_s", 3.5, 0.55),
    ("set 64x16", "set 64 16", "ops_s", 6.0, None),
    ("create 64x16", "create 64 16", "ops_s", 6.0, None),
    ("mixed 90/10 64x16", "mixed 64 16", "ops_s", 8.0, None),
    ("set 1x1 p50", "set 1 1", "p50_us", 0.5, None),
]


def load_row(scratch, row, seconds, tries):
    """Runs the servers in turn, several times; returns the median run of each."""
    name, _, figure, _, _ = row
    runs = {"java": [], "drover": [], "zkecho": []}
    for kind in list(runs) * tries:
        runs[kind].append(one_run(Server(kind, scratch), row, seconds))
    return name, {kind: sorted(all_of, key=lambda run: run[figure])[tries // 2] for kind, all_of in runs.items()}


def one_run(server, row, seconds):
    mode, conns, depth = row[1].split()
    server.start()
    warm = 4 if server.kind == "java" else 1  # the JVM's compiler needs its time
    result = server.load("--mode", mode, "--conns", conns, "--depth", depth, "--size", 100, "--keys", 1000,
                         "--reads", 90, "--time", seconds, "--warm", warm)
    server.stop()
    shutil.rmtree(server.directory)
    return result


def before_row(scratch, row, seconds, tries, before):
    """Runs this build and an older one in turn; returns the ratio of each pair of runs."""
    pairs = []
    for attempt in range(tries):
        kinds = ["before", "drover"] if attempt % 2 == 0 else ["drover", "before"]
        pairs.append({kind: one_run(Server(kind, scratch, binary=before if kind == "before" else DROVER), row, seconds)
                      for kind in kinds})
    return pairs


def ratios(pairs, figure):
    return sorted(pair["drover"][figure] / pair["before"][figure] for pair in pairs)


def compare_with(options, wanted):
    print("| row | per server CPU second: median (least, most) | figure: median (least, most) |\n|---|---|---|", flush=True)
    for row in filter(lambda row: wanted(row[0]), LOAD_ROWS):
        pairs = before_row(options.scratch, row, options.seconds, options.tries, options.before)
        cells = [f"{of[len(of) // 2]:.3f} ({of[0]:.3f}, {of[-1]:.3f})"
                 for of in (ratios(pairs, "ops_per_srv_cpu_s"), ratios(pairs, row[2]))]
        print(f"| {row[0]} | {' | '.join(cells)} |", flush=True)


def memory_row(scratch):
    results = {}
    for kind in ("java", "drover"):
        server = Server(kind, scratch)
        empty_start = server.start()
        time.sleep(0.5)  # until what start-up allocated has settled
        idle = rss_bytes(server.process.pid)
        fill = server.load("--mode", "fill", "--count", NODES, "--conns", 4, "--depth", 256, "--size", 100)
        full = rss_bytes(server.process.pid)
        latency = server.load("--mode", "set", "--conns", 1, "--depth", 1, "--time", 3, "--warm", 1)
        server.stop(signal.SIGKILL)
        restart = server.start()
        after = rss_bytes(server.process.pid)
        server.stop()
        shutil.rmtree(server.directory)
        results[kind] = {"empty_start_s": empty_start, "idle_rss_mb": idle / 1e6, "fill_ops_s": fill["ops_s"],
                         "rss_bytes_per_node": full / NODES, "restart_s": restart,
                         "rss_after_restart_mb": after / 1e6, "set_p99_us_on_million": latency["p99_us"]}
    return results


def sessions_row(scratch):
    results = {}
    for kind in ("java", "drover"):
        server = Server(kind, scratch)
        server.start()
        connect = server.load("--mode", "connect", "--conns", 10000, "--conc", 64, "--hold", 10)
        watch = server.load("--mode", "watch", "--conns", 10000, "--reps", 5)
        server.stop()
        shutil.rmtree(server.directory)
        results[kind] = {"sessions_s": connect["sessions_s"], "rss_bytes_session": connect["rss_bytes_session"],
                         "ping_cores": connect["hold_cpu_s"] / connect["hold_s"], "watch_last_ms": watch["last_ms"],
                         "watch_all_ms": watch["last_all_ms"]}
    return results


def snapshot_row(scratch, seconds):
    """Write latency on a million nodes, without a snapshot and while snapshots are written all the time."""
    results = {}
    for what, properties in (("without", ["-Dzookeeper.snapCount=100000000"]), ("with", ["-Dzookeeper.snapSizeLimitInKb=64"])):
        server = Server("drover", scratch, properties)
        server.start()
        server.load("--mode", "fill", "--count", NODES, "--conns", 4, "--depth", 256, "--size", 100)
        before = len(snapshots_of(server))
        load = server.load("--mode", "set", "--conns", 8, "--depth", 4, "--time", seconds, "--warm", 1)
        results[f"{what} snapshots"] = {"p50_us": load["p50_us"], "p99_us": load["p99_us"],
                                        "snapshots_meanwhile": len(snapshots_of(server)) - before}
        server.stop()
        shutil.rmtree(server.directory)
    return results


def snapshots_of(server):
    return list((server.directory / "data" / "version-2").glob("snapshot.*"))


def verdict(row, results):
    _, _, figure, java_target, ceiling_target = row
    java, drover, echo = (results[k] for k in ("java", "drover", "zkecho"))
    notes = []
    if java_target is not None:
        smaller = figure == "p50_us"
        ratio = drover[figure] / java[figure]
        reached = ratio <= java_target if smaller else ratio >= java_target
        notes.append(f"{ratio:.2f}x Java ({'≤' if smaller else '≥'} {java_target}: {'yes' if reached else 'NO'})")
        if not smaller and drover["ops_per_srv_cpu_s"] and java["ops_per_srv_cpu_s"]:
            notes.append(f"{drover['ops_per_srv_cpu_s'] / java['ops_per_srv_cpu_s']:.1f}x per CPU s")
    if ceiling_target is not None:
        share = drover[figure] / echo[figure]
        reached = share >= ceiling_target
        notes.append(f"{100 * share:.0f} % of the ceiling (≥ {100 * ceiling_target:.0f}: {'yes' if reached else 'NO'})")
        if drover["ops_per_srv_cpu_s"] and echo["ops_per_srv_cpu_s"]:
            notes.append(f"{100 * drover['ops_per_srv_cpu_s'] / echo['ops_per_srv_cpu_s']:.0f} % per CPU s")
    return "; ".join(notes)


def figure_text(result, figure):
    if figure == "p50_us":
        return f"{result['p50_us']:.0f} µs"
    per_cpu = result["ops_per_srv_cpu_s"]
    return f"{result['ops_s'] / 1000:.0f} k/s ({per_cpu / 1000:.0f} k/CPU s)"


def main():
    parser = argparse.ArgumentParser(description="drover beside Java ZooKeeper and the machine's ceiling")
    parser.add_argument("words", nargs="*", help="only rows whose name contains one of these")
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--tries", type=int, default=1, help="runs of each row and server; the median counts")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--before", type=pathlib.Path, help="an older drover binary to compare this build with")
    parser.add_argument("--scratch", type=pathlib.Path, default=ROOT / "build" / "bench")
    options = parser.parse_args()
    build_tools()
    wanted = lambda name: not options.words or any(word in name for word in options.words)
    if options.before:
        return compare_with(options, wanted)
    raw = {}
    print("| row | Java 3.8.0 | drover | ceiling | |\n|---|---|---|---|---|", flush=True)
    for row in LOAD_ROWS:
        if not wanted(row[0]):
            continue
        name, results = load_row(options.scratch, row, options.seconds, options.tries)
        raw[name] = results
        cells = [figure_text(results[kind], row[2]) for kind in ("java", "drover", "zkecho")]
        print(f"| {name} | {' | '.join(cells)} | {verdict(row, results)} |", flush=True)
    for name, run in (("memory", lambda: memory_row(options.scratch)), ("sessions", lambda: sessions_row(options.scratch)),
                      ("snapshot", lambda: snapshot_row(options.scratch, 2 * options.seconds))):
        if wanted(name):
            raw[name] = run()
            print(f"\n{name}: {json.dumps(raw[name], indent=2)}", flush=True)
    if options.json:
        options.json.write_text(json.dumps(raw, indent=2))


if __name__ == "__main__":
    main()
