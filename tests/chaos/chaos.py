#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
#
# Runs drover servers and clients under faults of processes, networks and disks, and then checks all replies
# that clients got (checker.py).
#
#   chaos.py                       one minute with three servers
#   chaos.py --servers 5 --minutes 30 --operations 1000000 --tls
#   DROVER_SEED=n                  repeats the choices of a run; the moments stay random
#
# Debian's interpreter is used on purpose, because kazoo is a Debian module (python3-kazoo).

import argparse
import os
import pathlib
import random
import sys
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "ensemble"))

from ensemble import DROVER, Ensemble  # noqa: E402
from certificates import SERVER_NAMES, Authority  # noqa: E402
from checker import check_history  # noqa: E402
from client import Client, Founder  # noqa: E402
from full_disk_test import enter_namespace  # noqa: E402
from guests import ROOTS, CClient, Kazoo  # noqa: E402
from harness import check, wait_until  # noqa: E402
from nemesis import FalseClock, Nemesis, Network, SmallDisk  # noqa: E402
from operations import PENDING, History  # noqa: E402
from suite import run  # noqa: E402
from trees import check_same_everywhere  # noqa: E402
from txn_logs import agreed  # noqa: E402

CLIENTS = 6
FAULT_SECONDS = (0.3, 4.0)
CALM_SECONDS = (0.1, 1.0)
HEAL_SECONDS = 60  # within which a healthy ensemble serves again, on a machine with other things to do
SLOW_MACHINE_SECONDS = 180  # more than asked for, until there are
PASSWORD = "for the keys of one run"
WORTH = {"kills": 2, "stops": 2, "partitions": 2}  # the least that a run must have done to prove something
PROPERTIES = {
    "zookeeper.commitLogCount": 10_000_000,  # Logs must be complete, so nobody may be synced with SNAP.
    "zookeeper.snapCount": 20000,
    "zookeeper.preAllocSize": 1024,
}


def secrets_of_servers(folder):
    """TLS between servers, with one key for all of them."""
    authority = Authority(folder, "authority")
    key = authority.issue("/O=drover/CN=server", SERVER_NAMES).pem(folder / "keys.pem", PASSWORD)
    return {"sslQuorum": "true", "ssl.quorum.keyStore.location": key,
            "ssl.quorum.keyStore.password": PASSWORD,
            "ssl.quorum.trustStore.location": authority.trust(folder / "trusted.pem", "PEM", PASSWORD)}


class Run:
    def __init__(self, arguments, seed):
        self.seconds, self.operations, self.seed = arguments.minutes * 60, arguments.operations, seed
        self.random = random.Random(f"{seed}/nemesis")
        self.ensemble = Ensemble([DROVER] * arguments.servers, properties=PROPERTIES, failing_disks=True,
                                 config={"tickTime": 300, "syncLimit": 5})
        secrets = secrets_of_servers(self.ensemble[1].base) if arguments.tls else {}
        for member in self.ensemble:
            member.clock = FalseClock(member.base)
            member.config.update(secrets)
        self.network = Network(self.ensemble)
        self.nemesis = Nemesis(self.ensemble, self.network, SmallDisk(self.ensemble[arguments.servers]),
                               self.random)
        ports = [member.port for member in self.ensemble]
        self.clients = [Client(number, seed, ports) for number in range(1, CLIENTS + 1)]
        self.founder = Founder(0, seed, ports)
        self.guests = [Kazoo(self.ensemble.hosts), CClient(self.ensemble.hosts)]

    def play(self):
        with self.ensemble:
            try:
                self.ensemble.start()
                self.founder.found()
                for client in [*self.guests, *self.clients]:
                    client.start()
                self.torture()
                self.end_clients()
                self.judge()
            finally:
                for client in self.clients:
                    client.ending.set()
                for guest in self.guests:
                    guest.end()
                self.network.close()

    def torture(self):
        deadline = time.monotonic() + self.seconds
        faults = self.nemesis.next_fault()
        while time.monotonic() < deadline or self.answered() < self.operations:
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
        everybody = [*self.clients, *self.guests]
        before = [client.answered for client in everybody]

        def all_answered():
            self.nemesis.revive()
            self.check_clients()
            return all(client.answered > count for client, count in zip(everybody, before))

        wait_until(all_answered, f"answers for every client after {after}", HEAL_SECONDS)

    def serves(self):
        self.nemesis.revive()  # A disk's failure may be noticed late.
        return self.ensemble.serves()

    def check_clients(self):
        for client in self.clients:
            if client.failure:
                raise AssertionError(f"{client.name}: {client.failure}") from client.failure
        for guest in self.guests:
            guest.check_healthy()

    def answered(self):
        return sum(client.answered for client in self.clients)

    def end_clients(self):
        for client in self.clients:
            client.ending.set()
        for client in self.clients:
            client.join(HEAL_SECONDS)
        self.check_clients()
        for guest in self.guests:
            guest.finish_writing()

    def judge(self):
        trees = check_same_everywhere(self.ensemble)
        for member in self.ensemble:
            member.check_not_diverged()
            member.stop()
        txns = agreed(self.ensemble)
        history = History()
        for client in [self.founder, *self.clients]:
            history.operations += client.history.operations
            history.events += client.history.events
        began = time.monotonic()
        model = check_history(history, txns, ROOTS)
        print(f"chaos: {len(history.operations)} operations and {len(history.events)} events checked in "
              f"{time.monotonic() - began:.1f} s", flush=True)
        check_final_tree(model, trees)
        for guest in self.guests:
            guest.ledger.check_in(trees)
        self.was_worth_something(history)

    def was_worth_something(self, history):
        unknown = sum(op.err is PENDING for op in history.operations)
        counts = ", ".join(f"{count} {name}" for name, count in sorted(self.nemesis.counts.items()))
        guests = ", ".join(f"{sum(guest.ledger.outcomes)} writes of {guest.name}" for guest in self.guests)
        print(f"chaos: {counts}; {unknown} operations without an answer, {len(history.events)} events, "
              f"{sum(client.expired for client in self.clients)} sessions expired; {guests}", flush=True)
        for name, least in WORTH.items():
            check(self.nemesis.counts[name] >= least, f"{self.nemesis.counts[name]} {name}: proves nothing")
        check(len(history.events) >= 100 and unknown >= 10, "too little happened to the clients")
        check(len(history.operations) >= self.operations, f"{len(history.operations)} operations")


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
    parser.add_argument("--minutes", type=float, default=1.0, help="at least; longer until there are enough")
    parser.add_argument("--operations", type=int, default=100_000, help="that must be answered at least")
    parser.add_argument("--tls", action="store_true", help="between the servers")
    arguments = parser.parse_args()
    enter_namespace()  # for the small disk; needs root
    seed = int(os.environ.get("DROVER_SEED", random.SystemRandom().randrange(1 << 32)))

    def case():
        print(f"chaos: DROVER_SEED={seed}", flush=True)
        Run(arguments, seed).play()

    case.__name__ = f"{' '.join(sys.argv[1:]) or '3 servers'}, DROVER_SEED={seed}"
    return run("chaos", [case])


if __name__ == "__main__":
    sys.exit(main())
