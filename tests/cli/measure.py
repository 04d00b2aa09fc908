#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# How long one command takes from its start to its end, in our shell and in Apache's, on the same server. Not a test:
# run it by hand (PYTHONPATH=../compat ./measure.py).

import statistics
import subprocess
import sys
import time

import shells
from servers import DroverServer

RUNS = {"drover": 100, "java": 10}


def milliseconds(command):
    began = time.perf_counter()
    subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
    return (time.perf_counter() - began) * 1000


if __name__ == "__main__":
    with DroverServer(properties={"zookeeper.forceSync": "yes"}) as server:
        for name, runs in RUNS.items():
            times = [milliseconds(shells.SHELLS[name](server, "ls", "/")) for _ in range(runs)]
            print(f"{name}: median {statistics.median(times):.1f} ms, 90 % below {sorted(times)[int(runs * 0.9)]:.1f} ms, "
                  f"{runs} runs")
    sys.exit(0)
