#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
#
# The leader's process is frozen (SIGSTOP, a machine that is migrated). Its connections stay open, so only silence
# tells its followers. Drover's followers leave drover's leader after leader.silenceLimitMs.
#
#   frozen_test.py [TEXT]                       the tests, or those whose name contains TEXT
#   frozen_test.py --measure ROUNDS LIMIT_MS KIND KIND KIND
#       with tickTime 2000 and syncLimit 5: seconds from SIGSTOP of server 1, which leads, until a write of a
#       client of server 2 succeeds again. LIMIT_MS is leader.silenceLimitMs: -1 the default, 0 off

import contextlib
import statistics
import sys
import time

from ensemble import DROVER, JAVA, Ensemble  # First: it makes tests/durability and tests/compat importable.
from harness import Session, check, check_equal, p, wait_until
from suite import run

COMMON = {"tickTime": 2000, "initLimit": 10, "syncLimit": 5}
TIMEOUT_MS = 30_000
EARLY = "the leader has not pinged for"  # in the log of a follower that leaves


class Writer:
    """A client of one server that keeps its session, reconnects, and writes on."""

    def __init__(self, member):
        self.member = member
        self.session = Session(member.port, timeout_ms=TIMEOUT_MS, patience=60.0)
        self.session.create("/counter")
        self.written = 0

    def write(self):
        """Returns when a write has succeeded, however often it takes a new connection."""
        while True:
            with contextlib.suppress(OSError, AssertionError):
                error, _ = self.session.call(p.SET_DATA, p.set_data_body("/counter", str(self.written + 1).encode()))
                check_equal(error, 0, "setData")
                self.written += 1
                return
            self._reconnect()

    def _reconnect(self):
        before = self.session
        before.connection.socket.close()

        def connected():
            with contextlib.suppress(OSError, AssertionError):
                self.session = Session(self.member.port, TIMEOUT_MS, before, before.last_zxid, patience=60.0)
                return True
            return False

        wait_until(connected, f"a connection to {self.member}", 60)
        check(self.session.valid, "the session has survived")


def counter_at(session):
    error, decoder = session.call(p.GET_DATA, p.path_watch_body("/counter"))
    check_equal(error, 0, "getData")
    return int(decoder.buffer() or 0)


def start(kinds, config=None):
    ensemble = Ensemble(kinds, config=config)
    ensemble.start()
    ensemble.lead(ensemble[1])
    return ensemble


def let_the_leader_freeze(kinds):
    """Another server leads, a session of a follower goes on, and the old leader comes back as a follower."""
    with start(kinds) as ensemble:
        writer = Writer(ensemble[2])
        # A client of the old leader: what is it told when the leader goes on?
        patient = Session(ensemble[1].port, timeout_ms=TIMEOUT_MS, patience=60.0)
        check_equal(counter_at(patient), 0, "counter")
        writer.write()
        ensemble[1].pause()
        try:
            writer.write()
            check(EARLY in ensemble[2].said(), "the follower did not wait for syncLimit")
            # It waits in the old leader's socket. Asked behind a sync, a deposed leader has no answer.
            patient.send([(p.SYNC, p.buffer("/counter")), (p.GET_DATA, p.path_watch_body("/counter"))])
        finally:
            ensemble[1].unpause()
        with contextlib.suppress(OSError):
            patient.answer()
            error, decoder = patient.answer()
            check_equal((error, int(decoder.buffer())), (0, writer.written), "what is read after a sync")
        wait_until(lambda: ensemble.serves() and ensemble[1].mode() == "follower", "the old leader follows", 30)
        writer.write()
        ensemble.level()
        with ensemble[1].client() as session:
            check_equal(counter_at(session), writer.written, "counter at the old leader")


def frozen_case(kinds):
    def case():
        let_the_leader_freeze(kinds)
    case.__name__ = f"the_leader_of_{'_'.join(kinds)}_freezes"
    return case


def measure(rounds, limit_ms, kinds):
    """Light load: one write at a time, 20 in a second."""
    gaps, stale = [], 0
    for _ in range(rounds):
        with start(kinds, {**COMMON, "leader.silenceLimitMs": limit_ms}) as ensemble:
            writer = Writer(ensemble[2])
            patient = Session(ensemble[1].port, timeout_ms=TIMEOUT_MS, patience=60.0)
            for _ in range(40):
                writer.write()
                time.sleep(0.05)
            ensemble[1].pause()
            began = time.monotonic()
            try:
                writer.write()
                gaps.append(time.monotonic() - began)
                # A plain read, without a sync: it may be answered before the old leader knows.
                patient.send([(p.GET_DATA, p.path_watch_body("/counter"))])
            finally:
                ensemble[1].unpause()
            with contextlib.suppress(OSError):
                _, decoder = patient.answer()
                stale += int(decoder.buffer() or 0) < writer.written
            wait_until(lambda: ensemble.serves() and ensemble[1].mode() == "follower", "the old leader follows", 60)
    print(f"{' '.join(kinds)}, leader.silenceLimitMs {limit_ms}: {' '.join(f'{gap:.2f}' for gap in sorted(gaps))} s, "
          f"median {statistics.median(gaps):.2f}; plain reads that the old leader answered from its old state: {stale}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        measure(int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:7])
        sys.exit(0)
    sys.exit(run("frozen", [frozen_case([DROVER] * 3), frozen_case([DROVER, DROVER, JAVA])],
                 only=sys.argv[1] if len(sys.argv) > 1 else None))
