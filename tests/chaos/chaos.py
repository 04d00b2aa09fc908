#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Drover servers, clients, and everything that can go wrong with processes, networks and disks; then the
# judgement over what the clients were told (checker.py).
#
#   chaos.py                       one minute with three servers
#   chaos.py --servers 5 --minutes 30
#   DROVER_SEED=n                  repeats the choices of a run; the moments stay random

import argparse
import os
import pathlib
import random
import sys
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "ensemble"))

from ensemble import DROVER, Ensemble  # noqa: E402
from checker import check_history  # noqa: E402
from client import Client, Founder  # noqa: E402
from full_disk_test import enter_namespace  # noqa: E402
from harness import check, wait_until  # noqa: E402
from nemesis import Nemesis, Network, SmallDisk  # noqa: E402
from operations import PENDING, History  # noqa: E402
from suite import run  # noqa: E402
from trees import check_same_everywhere  # noqa: E402
from txn_logs import agreed  # noqa: E402

CLIENTS = 6
FAULT_SECONDS = (0.3, 4.0)
CALM_SECONDS = (0.1, 1.0)
HEAL_SECONDS = 60  # within which a healthy ensemble serves again, on a machine with other things to do
SLOW_MACHINE_SECONDS = 180  # more than asked for, until there are
OPERATIONS_MIN = 100_000
WORTH = {"kills": 2, "stops": 2, "partitions": 2}  # the least that a run must have done to prove something
PROPERTIES = {
    "zookeeper.commitLogCount": 10_000_000,  # Logs must be complete, so nobody may be brought level by SNAP.
    "zookeeper.snapCount": 20000,
    "zookeeper.preAllocSize": 1024,
}


class Run:
    def __init__(self, servers, seconds, seed):
        self.seconds, self.seed = seconds, seed
        self.random = random.Random(f"{seed}/nemesis")
        self.ensemble = Ensemble([DROVER] * servers, properties=PROPERTIES, failing_disks=True,
                                 config={"tickTime": 300, "syncLimit": 5})
        self.network = Network(self.ensemble)
        self.nemesis = Nemesis(self.ensemble, self.network, SmallDisk(self.ensemble[servers]), self.random)
        ports = [member.port for member in self.ensemble]
        self.clients = [Client(number, seed, ports) for number in range(1, CLIENTS + 1)]
        self.founder = Founder(0, seed, ports)

    def play(self):
        with self.ensemble:
            try:
                self.ensemble.start()
                self.founder.found()
                for client in self.clients:
                    client.start()
                self.torture()
                self.end_clients()
                self.judge()
            finally:
                for client in self.clients:
                    client.ending.set()
                self.network.close()

    def torture(self):
        deadline = time.monotonic() + self.seconds
        faults = self.nemesis.next_fault()
        while time.monotonic() < deadline or self.answered() < OPERATIONS_MIN:
            check(time.monotonic() < deadline + SLOW_MACHINE_SECONDS, f"only {self.answered()} operations")
            self.wait_a_moment(CALM_SECONDS)
            fault = next(faults)
            print(f"chaos: {self.answered()} operations, then {fault.__name__}", flush=True)
            with fault():
                self.wait_a_moment(FAULT_SECONDS)
            self.goes_on(fault.__name__)

    def wait_a_moment(self, seconds):
        """How long a fault lasts is part of the fault. A client that fails ends it at once."""
        end = time.monotonic() + self.random.uniform(*seconds)
        while time.monotonic() < end and not any(client.failure for client in self.clients):
            time.sleep(0.02)
        self.check_clients()

    def goes_on(self, after):
        """Healed, it serves again, and every client gets answers."""
        wait_until(self.serves, f"an ensemble that serves after {after}", HEAL_SECONDS)
        before = [client.answered for client in self.clients]

        def all_answered():
            self.nemesis.revive()
            self.check_clients()
            return all(client.answered > count for client, count in zip(self.clients, before))

        wait_until(all_answered, f"answers for every client after {after}", HEAL_SECONDS)

    def serves(self):
        self.nemesis.revive()  # A disk's failure may be noticed late.
        return self.ensemble.serves()

    def check_clients(self):
        for client in self.clients:
            if client.failure:
                raise AssertionError(f"{client.name}: {client.failure}") from client.failure

    def answered(self):
        return sum(client.answered for client in self.clients)

    def end_clients(self):
        for client in self.clients:
            client.ending.set()
        for client in self.clients:
            client.join(HEAL_SECONDS)
        self.check_clients()

    def judge(self):
        trees = check_same_everywhere(self.ensemble)
        for member in self.ensemble:
            member.stop()
        txns = agreed(self.ensemble)
        history = History()
        for client in [self.founder, *self.clients]:
            history.operations += client.history.operations
            history.events += client.history.events
        began = time.monotonic()
        model = check_history(history, txns)
        print(f"chaos: {len(history.operations)} operations and {len(history.events)} events checked in "
              f"{time.monotonic() - began:.1f} s", flush=True)
        check_final_tree(model, trees)
        self.was_worth_something(history)

    def was_worth_something(self, history):
        unknown = sum(op.err is PENDING for op in history.operations)
        counts = ", ".join(f"{count} {name}" for name, count in sorted(self.nemesis.counts.items()))
        print(f"chaos: {counts}; {unknown} operations without an answer, {len(history.events)} events, "
              f"{sum(client.expired for client in self.clients)} sessions expired", flush=True)
        for name, least in WORTH.items():
            check(self.nemesis.counts[name] >= least, f"{self.nemesis.counts[name]} {name}: proves nothing")
        check(len(history.events) >= 100 and unknown >= 10, "too little happened to the clients")
        check(len(history.operations) >= OPERATIONS_MIN, f"{len(history.operations)} operations")


def check_final_tree(model, shown):
    """What the servers show in the end is what the model says."""
    for path, node in model.nodes.items():
        if path:
            check(path in shown, f"{path} is missing")
            check(shown[path][:2] == (node.data, node.stat()), f"{path}: {shown[path]}, not {node.stat()}")
    strangers = {path for path in shown if path not in model.nodes and not path.startswith("/zookeeper")}
    check(strangers <= {"/"}, f"nobody wrote {strangers}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--servers", type=int, default=3)
    parser.add_argument("--minutes", type=float, default=1.0)
    arguments = parser.parse_args()
    enter_namespace()  # for the small disk; needs root
    seed = int(os.environ.get("DROVER_SEED", random.SystemRandom().randrange(1 << 32)))

    def case():
        print(f"chaos: DROVER_SEED={seed}", flush=True)
        Run(arguments.servers, arguments.minutes * 60, seed).play()

    case.__name__ = f"{arguments.servers} servers for {arguments.minutes} minutes, DROVER_SEED={seed}"
    return run("chaos", [case])


if __name__ == "__main__":
    sys.exit(main())
