#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# The commands of docs/http.md do what the page says: every `console` block is run against a server with the
# page's ports, and each line below a command must occur in what it prints. `…` stands for anything.

import pathlib
import re
import subprocess
import sys
import tempfile

from http_servers import wait_for_http, with_http
from suite import check, check_equal, run

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "http.md"
server = with_http("drover", {"admin.rateLimiterIntervalInMS": 0})


def examples():
    """(command, expected lines) of every console block, in order."""
    for block in re.findall(r"```console\n(.*?)```", PAGE.read_text(), re.S):
        command, expected = None, []
        for line in block.splitlines():
            if line.startswith("$ "):
                if command:
                    yield command, expected
                command, expected = line[2:], []
            elif line:
                expected.append(line)
        if command:
            yield command, expected


def the_examples_of_the_page_work():
    seen = 0
    with tempfile.TemporaryDirectory() as directory:
        for command, expected in examples():
            seen += 1
            command = command.replace(":8080", f":{server.http_port}").replace(":2181", f":{server.port}")
            done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60,
                                  cwd=directory, check=False)
            check(done.returncode == 0, f"{command}: {done.returncode} {done.stderr}")
            for line in expected:
                pattern = ".*".join(re.escape(part) for part in line.split("…"))
                check(re.search(pattern, done.stdout.replace("\r", "")), f"{command}\n{line!r} not in\n{done.stdout}")
    check(seen >= 8, f"only {seen} examples")


def the_metrics_that_are_always_0_are_listed():
    text = (ROOT / "docs" / "compatibility.md").read_text()
    listed = re.search(r"What does not exist here stays 0:(.*?)\n\n", text, re.S)[1]
    source = (ROOT / "src" / "monitor" / "uncounted_metrics.cc").read_text()
    named = re.findall(r'"(\w+)"', source.partition("namespace {")[2])
    check(len(named) > 30, named)
    check_equal(sorted(re.findall(r"`(\w+)`", listed)), sorted(named), "docs/compatibility.md")


if __name__ == "__main__":
    server.start()
    wait_for_http(server.http_port)
    sys.exit(run("http docs", [the_examples_of_the_page_work, the_metrics_that_are_always_0_are_listed]))
