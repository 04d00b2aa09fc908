#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# What does a scrape of /metrics every second cost the clients?
#
#   bench/metrics_scrape.py                 get and set, eight pairs of runs each
#   bench/metrics_scrape.py --seconds 6 --pairs 12
#
# One server; runs with and without a scraper take turns, so that other load on the machine affects both. The
# cost is the median of the pairs' ratios: of requests a second, and of requests for a second of the server's CPU
# time, which others on the machine disturb less.

import argparse
import json
import pathlib
import statistics
import tempfile
import threading
import time
import urllib.request

from compare import Server, build_tool, free_port

SCRAPE_EVERY_SECONDS = 1.0


class Scraper:
    """Reads /metrics once per second until it is stopped."""

    def __init__(self, port):
        self.url = f"http://127.0.0.1:{port}/metrics"
        self.took_ms = []
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self.run)

    def run(self):
        while True:
            begun = time.monotonic()
            with urllib.request.urlopen(self.url, timeout=10) as answer:
                answer.read()
            self.took_ms.append((time.monotonic() - begun) * 1000)
            if self.stop.wait(max(0.0, SCRAPE_EVERY_SECONDS - (time.monotonic() - begun))):
                return

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        self.thread.join()


class WatchedServer(Server):
    def __init__(self, scratch):
        self.http_port = free_port()
        super().__init__("drover", scratch, ["-Dzookeeper.admin.enableServer=true",
                                             f"-Dzookeeper.admin.serverPort={self.http_port}"])


def measure(server, mode, conns, depth, options):
    load = ["--mode", mode, "--conns", conns, "--depth", depth, "--size", 100, "--keys", 1000,
            "--time", options.seconds, "--warm", 1]
    server.load(*load)  # warm
    quiet, watched, took_ms = [], [], []
    for pair in range(options.pairs):
        def without():
            quiet.append(server.load(*load))

        def scraped():
            with Scraper(server.http_port) as scraper:
                watched.append(server.load(*load))
            took_ms.extend(scraper.took_ms)
        for run in (without, scraped) if pair % 2 == 0 else (scraped, without):
            run()

    def ratio(figure):
        return statistics.median(w[figure] / q[figure] for q, w in zip(quiet, watched))
    return {"mode": mode, "conns": conns, "depth": depth,
            "ops_s": statistics.median(run["ops_s"] for run in quiet),
            "ops_s_scraped": statistics.median(run["ops_s"] for run in watched),
            "ratio": ratio("ops_s"), "cpu_ratio": ratio("ops_per_srv_cpu_s"),
            "scrape_ms": statistics.median(took_ms), "scrapes": len(took_ms)}


def main():
    parser = argparse.ArgumentParser(description="The cost of scraping /metrics every second.")
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--pairs", type=int, default=8)
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    build_tool("zkraw")
    results = []
    with tempfile.TemporaryDirectory() as scratch:
        server = WatchedServer(scratch)
        server.start()
        try:
            for mode, conns, depth in (("get", 8, 16), ("set", 8, 16)):
                row = measure(server, mode, conns, depth, options)
                results.append(row)
                print(f"{mode} {conns}x{depth}: {row['ops_s']:,.0f}/s without, {row['ops_s_scraped']:,.0f}/s scraped, "
                      f"ratio {row['ratio']:.3f}, of CPU time {row['cpu_ratio']:.3f}; a scrape takes {row['scrape_ms']:.1f} ms", flush=True)
        finally:
            server.stop()
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
