#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
#
# Runs drover servers and clients under faults of processes, networks and disks, and then checks all replies
# that clients got (checker.py).
#
#   chaos.py                       one minute with three servers
#   chaos.py --servers 5 --minutes 30 --operations 1000000 --tls
#   chaos.py --reconfig            the same, while the members change
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
from harness import check, check_equal, wait_until  # noqa: E402
from joined_logs import agreed_by  # noqa: E402
from members_model import MembersModel  # noqa: E402
from membership import ChangingEnsemble, Operator  # noqa: E402
from nemesis import FalseClock, Nemesis, Network, SmallDisk  # noqa: E402
from operations import PENDING, History  # noqa: E402
from roster import Roster  # noqa: E402
from suite import run  # noqa: E402
from trees import check_same_everywhere  # noqa: E402
from txn_logs import agreed  # noqa: E402

CLIENTS = 6
FAULT_SECONDS = (0.3, 4.0)
CALM_SECONDS = (0.1, 1.0)
HEAL_SECONDS = 60  # within which a healthy ensemble serves again, on a machine with other things to do
SLOW_MACHINE_SECONDS = 180  # more than asked for, until there are
PASSWORD = "for the keys of one run"
CONFIG = {"tickTime": 300, "syncLimit": 5}
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
    """Servers whose members stay the same. What is different when they change is in ChangingRun."""

    worth = WORTH

    def __init__(self, arguments, seed):
        self.seconds, self.operations, self.seed = arguments.minutes * 60, arguments.operations, seed
        self.random = random.Random(f"{seed}/nemesis")
        self.ensemble = self.make_ensemble(arguments)
        self.roster = Roster(self.ensemble, self.sids_of_guests())
        secrets = secrets_of_servers(self.ensemble[1].base) if arguments.tls else {}
        for member in self.ensemble:
            member.clock = FalseClock(member.base)
            member.config.update(secrets)
        self.network = Network(self.ensemble)
        self.nemesis = Nemesis(self.ensemble, self.network, SmallDisk(self.ensemble[arguments.servers]), self.roster,
                               self.random)
        ports = [member.port for member in self.ensemble]
        self.clients = [Client(number, seed, ports) for number in range(1, CLIENTS + 1)]
        self.founder = Founder(0, seed, [member.port for member in self.ensemble if member.sid not in self.roster.off])
        self.guests = [Kazoo(self.ensemble.hosts), CClient(self.ensemble.hosts)]

    def make_ensemble(self, arguments):
        return Ensemble([DROVER] * arguments.servers, properties=PROPERTIES, failing_disks=True, config=CONFIG)

    def sids_of_guests(self):
        """Servers that are not members in the beginning."""
        return set()

    @property
    def recorded(self):
        """The clients whose requests are part of the history."""
        return self.clients

    def play(self):
        with self.ensemble:
            try:
                self.ensemble.start(*sorted(self.ensemble.members.keys() - self.roster.off))
                self.founder.found()
                for client in [*self.guests, *self.recorded]:
                    client.start()
                self.torture()
                self.end_clients()
                self.judge()
            finally:
                for client in self.recorded:
                    client.ending.set()
                for guest in self.guests:
                    guest.end()
                self.network.close()

    def torture(self):
        deadline = time.monotonic() + self.seconds
        faults = self.nemesis.next_fault()
        while time.monotonic() < deadline or self.answered() < self.operations or self.lacking():
            check(time.monotonic() < deadline + SLOW_MACHINE_SECONDS,
                  f"only {self.answered()} operations, and too few of {self.lacking()}: proves nothing")
            self.wait_a_moment(CALM_SECONDS)
            fault = next(faults)
            print(f"chaos: {self.answered()} operations, then {fault.__name__}", flush=True)
            with fault():
                self.wait_a_moment(FAULT_SECONDS)
            self.goes_on(fault.__name__)

    def wait_a_moment(self, seconds):
        """How long a fault lasts is part of the fault. A client that fails ends it at once."""
        end = time.monotonic() + self.random.uniform(*seconds)
        while time.monotonic() < end and not any(client.failure for client in self.recorded):
            time.sleep(0.02)
        self.check_clients()

    def goes_on(self, after):
        """Healed, it serves again, and every client gets answers."""
        wait_until(self.serves, f"an ensemble that serves after {after}", HEAL_SECONDS)
        everybody = [*self.recorded, *self.guests]
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
        for client in self.recorded:
            if client.failure:
                raise AssertionError(f"{client.name}: {client.failure}") from client.failure
        for guest in self.guests:
            guest.check_healthy()

    def counts(self):
        """Counts of each kind of event on the servers."""
        return self.nemesis.counts

    def lacking(self):
        return [name for name, least in self.worth.items() if self.counts()[name] < least]

    def answered(self):
        return sum(client.answered for client in self.clients)

    def end_clients(self):
        for client in self.recorded:
            client.ending.set()
        for client in self.recorded:
            client.join(HEAL_SECONDS)
        self.check_clients()
        for guest in self.guests:
            guest.finish_writing()

    def judge(self):
        trees = check_same_everywhere(self.servers_to_judge())
        for member in self.ensemble:
            member.check_not_diverged()
            member.stop()
        history = History()
        for client in [self.founder, *self.recorded]:
            history.operations += client.history.operations
            history.events += client.history.events
        txns = self.agreed_txns()
        began = time.monotonic()
        model = self.check_history(history, txns)
        print(f"chaos: {len(history.operations)} operations and {len(history.events)} events checked in "
              f"{time.monotonic() - began:.1f} s", flush=True)
        check_final_tree(model, trees)
        for guest in self.guests:
            guest.ledger.check_in(trees)
        self.was_worth_something(history)

    def servers_to_judge(self):
        return list(self.ensemble)

    def agreed_txns(self):
        return agreed(self.ensemble)

    def check_history(self, history, txns):
        return check_history(history, txns, ROOTS)

    def was_worth_something(self, history):
        unknown = sum(op.err is PENDING for op in history.operations)
        counts = ", ".join(f"{count} {name}" for name, count in sorted(self.counts().items()))
        guests = ", ".join(f"{sum(guest.ledger.outcomes)} writes of {guest.name}" for guest in self.guests)
        print(f"chaos: {counts}; {unknown} operations without an answer, {len(history.events)} events, "
              f"{sum(client.expired for client in self.clients)} sessions expired; {guests}", flush=True)
        check(len(history.events) >= 100 and unknown >= 10, "too little happened to the clients")
        check(len(history.operations) >= self.operations, f"{len(history.operations)} operations")


class ChangingRun(Run):
    """An operator changes the members meanwhile."""

    worth = {**WORTH, "added": 1, "removed": 1, "promoted": 1, "demoted": 1}

    def __init__(self, arguments, seed):
        super().__init__(arguments, seed)
        self.operator = Operator(CLIENTS + 1, seed, self.ensemble, self.roster)

    def make_ensemble(self, arguments):
        return ChangingEnsemble(range(1, arguments.servers + 1), CONFIG, PROPERTIES)

    def sids_of_guests(self):
        return self.ensemble.members.keys() - self.ensemble.first

    @property
    def recorded(self):
        return [*self.clients, self.operator]

    def counts(self):
        return self.nemesis.counts + self.operator.counts

    def goes_on(self, after):
        super().goes_on(after)
        self.operator.check_removed()

    def end_clients(self):
        super().end_clients()
        self.operator.last_look()
        wait_until(self.serves, "an ensemble that serves", HEAL_SECONDS)
        self.operator.check_members()

    def servers_to_judge(self):
        return self.operator.servers_inside()

    def agreed_txns(self):
        return agreed_by(self.operator.servers_inside(), self.operator.former)

    def check_history(self, history, txns):
        members = MembersModel(self.operator.first)
        model = check_history(history, txns, ROOTS, members)
        check_equal(members.present.text, self.operator.present.text, "the members in the end")
        print(f"chaos: {len(members.past) - 1} reconfigurations, of {self.operator.asked} that were asked for",
              flush=True)
        return model


def check_final_tree(model, shown):
    """At the end, the servers show the state of the model."""
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
    parser.add_argument("--reconfig", action="store_true", help="the members change; up to five of them")
    arguments = parser.parse_args()
    enter_namespace()  # for the small disk; needs root
    seed = int(os.environ.get("DROVER_SEED", random.SystemRandom().randrange(1 << 32)))

    def case():
        print(f"chaos: DROVER_SEED={seed}", flush=True)
        (ChangingRun if arguments.reconfig else Run)(arguments, seed).play()

    case.__name__ = f"{' '.join(sys.argv[1:]) or '3 servers'}, DROVER_SEED={seed}"
    return run("chaos", [case])


if __name__ == "__main__":
    sys.exit(main())
