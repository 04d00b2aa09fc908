#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# kill -9 under load, a hundred times: after the restart, acknowledged writes exist, others exist
# once or not at all, and sessions continue.
#
# A kill comes at a random time, or right before a chosen system call on the data directory:
# between write and sync, between the sync of a file and its rename, in the middle of a purge, during
# recovery. One data directory lives through ten kills, and each directory has other settings, so that
# snapshots, new log files and purges happen all the time.
#
#   DROVER_SEED=n   repeats the choices of a run (the moments of time-based kills stay random)

import collections
import os
import random
import sys
import threading
import time

from harness import Drover, FailingDisk, OK, check, check_equal, p, run, wait_until
from workload import SEQUENTIAL_ROOT, Worker, check_sequence_order, pump

SEED = int(os.environ.get("DROVER_SEED", random.SystemRandom().randrange(1 << 32)))
KILLS_PER_DIRECTORY = 10
WORKERS = 4
LOAD_SECONDS = 0.35
# A call that is never reached must not keep a round waiting.
LOAD_SECONDS_MAX = 1.0
SPECIAL_PATHS = {"/zookeeper", SEQUENTIAL_ROOT}

PURGE_OFTEN = {"autopurge.purgeInterval": "100ms"}
SETTINGS = [
    {},
    {"snapCount": 200},
    {"snapCount": 200, "preAllocSize": 4},
    {"snapCount": 20},
    {"snapCount": 20, "preAllocSize": 1},
    {"snapCount": 100, "snapshot.compression.method": "gz"},
    {"snapCount": 100, "snapshot.compression.method": "snappy", "preAllocSize": 64},
    {"snapCount": 1000, "txnLogSizeLimitInKb": 16},
    {"snapCount": 200, "txnLogSizeLimitInKb": 64, "preAllocSize": 16},
    {"snapCount": 50, "flushDelay": 2, "ioThreads": 3},
]

# What happened in the whole run, and how often it must happen at least.
totals = collections.Counter()
LEAST = {"kills": 100, "kills_at_a_call": 20, "answered": 5000, "unanswered": 500, "kept": 50,
         "snapshots": 50, "purged": 20}


class Round:
    """One kill on a directory that has a past."""

    def __init__(self, server, workers, chooser):
        self.server, self.workers, self.random = server, workers, chooser

    def arm_call(self, calls):
        rare = FailingDisk.RENAME | FailingDisk.UNLINK | FailingDisk.FTRUNCATE | FailingDisk.FSYNC
        operations, most = self.random.choice(((FailingDisk.ANY, calls), (rare, max(1, calls // 8))))
        self.server.disk.arm(operations, f"{self.server.folder}/*", FailingDisk.KILL,
                             nth=self.random.randint(1, most))

    def start(self):
        """Sometimes the first attempt is killed too: recovery must survive its own crash."""
        if self.random.random() < 0.25 and totals["kills"]:
            self.arm_call(12)
            self.server.launch()
            ready = self.server.wait_ready()
            self.server.disk.disarm()
            # It may also be killed when it has said that it serves, by the first thing it does then.
            if not ready or self.server.disk.hits:
                self.server.wait_exit()
                totals["kills_at_a_call"] += self.server.disk.hits
                self.server.start()
        else:
            self.server.start()

    def load_and_kill(self):
        at_a_call = self.random.random() < 0.5
        if at_a_call:
            self.arm_call(400)
        limit = LOAD_SECONDS_MAX if at_a_call else self.random.uniform(0.02, LOAD_SECONDS)
        killer = threading.Timer(limit, self.server.process.kill)
        killer.start()
        totals["answered"] += pump(self.workers, until=lambda: False)
        killer.cancel()
        self.server.wait_exit()
        totals["kills"] += 1
        totals["kills_at_a_call"] += self.server.disk.hits if at_a_call else 0
        self.server.disk.disarm()

    def verify(self):
        for worker in self.workers:
            totals["unanswered"] += len(worker.in_flight)
            totals["kept"] += worker.verify()
        session = self.workers[0].session
        check_sequence_order(session)
        expected = SPECIAL_PATHS | {worker.root for worker in self.workers}
        strangers = {"/" + name for name in session.children("/")} - expected
        check(not strangers, f"nobody wrote {strangers}")

    def count_events(self):
        for line in self.server.said():
            totals["snapshots"] += "[snapshot]" in line and " nodes up to zxid " in line
            totals["purged"] += "[purge] removed" in line


def survive_ten_kills(number, settings):
    chooser = random.Random(f"{SEED}/{number}")
    with Drover(properties={**PURGE_OFTEN, **settings}, failing_disk=True) as server:
        workers = [Worker(n, f"{SEED}/{number}") for n in range(WORKERS)]
        server.start()
        for worker in workers:
            worker.connect(server.port)
            worker.prepare_tree()
        workers[0].session.create(SEQUENTIAL_ROOT)
        for kill in range(KILLS_PER_DIRECTORY):
            this = Round(server, workers, chooser)
            try:
                this.load_and_kill()
                this.count_events()
                this.start()
                for worker in workers:
                    worker.connect(server.port)
                this.verify()
            except Exception as error:
                where = f"DROVER_SEED={SEED}, settings {settings}, kill {kill + 1}"
                raise AssertionError(f"{where}: {error}") from error


def survival_case(number, settings):
    def case():
        survive_ten_kills(number, settings)

    case.__name__ = f"ten kills lose nothing with {settings or 'the default settings'}"
    return case


def the_run_tested_enough():
    """Numbers below these would mean that the cases above proved nothing."""
    counts = (f"{totals[name]} {name.replace('_', ' ')}" for name in LEAST)
    print("kill9: " + ", ".join(counts), flush=True)
    for name, least in LEAST.items():
        check(totals[name] >= least, f"{totals[name]} {name}, expected at least {least}")


def a_session_and_its_ephemerals_survive_a_restart():
    with Drover() as server:
        server.start()
        owner = server.session(timeout_ms=20000)
        owner.create("/mine", b"x", flags=p.EPHEMERAL)
        server.kill()
        server.start()
        other = server.session()
        check(other.exists("/mine"), "the ephemeral is there before its owner is back")
        again = server.session(timeout_ms=20000, resume=owner, last_zxid=owner.last_zxid)
        check_equal((again.id, again.password), (owner.id, owner.password), "the session")
        _, stat = again.nodes(["/mine"])["/mine"]
        check_equal(stat.ephemeralOwner, owner.id, "the owner")
        # The session works: it can write, and its node disappears when it is closed.
        again.create("/mine too", flags=p.EPHEMERAL)
        check_equal(again.call(p.CLOSE_SESSION)[0], OK, "closeSession")
        check(not other.exists("/mine") and not other.exists("/mine too"), "closing deletes the ephemerals")


def a_session_whose_client_stays_away_expires_with_its_ephemerals():
    with Drover(config={"tickTime": 200, "maxSessionTimeout": 60000}) as server:
        server.start()
        owner = server.session(timeout_ms=1000)
        owner.create("/mine", flags=p.EPHEMERAL)
        owner.create("/kept")
        server.kill()
        began = time.monotonic()
        server.start()
        other = server.session(timeout_ms=30000)
        gone = wait_until(lambda: None if other.exists("/mine") else time.monotonic(), "/mine goes away")
        check(gone - began >= 1.0, f"a new server gives a full timeout, not {gone - began:.2f} s")
        check(other.exists("/kept"), "a persistent node stays")
        late = server.session(timeout_ms=1000, resume=owner)
        check_equal((late.valid, late.id), (False, 0), "the expired session cannot be resumed")
        # Nor does the next restart bring it back.
        server.kill()
        server.start()
        check(not server.session().exists("/mine"), "an expired ephemeral stays away")


def a_closed_session_is_not_resurrected():
    with Drover() as server:
        server.start()
        owner = server.session()
        owner.create("/mine", flags=p.EPHEMERAL)
        check_equal(owner.call(p.CLOSE_SESSION)[0], OK, "closeSession")
        server.kill()
        server.start()
        check(not server.session().exists("/mine"), "its ephemeral does not come back")
        check(not server.session(resume=owner).valid, "nor does the session")


def a_wrong_password_does_not_resume_a_recovered_session():
    with Drover() as server:
        server.start()
        owner = server.session()
        server.kill()
        server.start()
        password, owner.password = owner.password, bytes(16)
        check(not server.session(resume=owner).valid, "a wrong password is refused")
        owner.password = password
        check(server.session(resume=owner).valid, "and the right one still works")


if __name__ == "__main__":
    sys.exit(run("kill9", [
        *[survival_case(number, settings) for number, settings in enumerate(SETTINGS)],
        the_run_tested_enough,
        a_session_and_its_ephemerals_survive_a_restart,
        a_session_whose_client_stays_away_expires_with_its_ephemerals,
        a_closed_session_is_not_resurrected,
        a_wrong_password_does_not_resume_a_recovered_session,
    ], only=sys.argv[1] if len(sys.argv) > 1 else None))
