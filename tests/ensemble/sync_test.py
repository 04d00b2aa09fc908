#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
#
# How a leader syncs its learners: by a DIFF that begins in its log files, and not too many learners at a time.
# Every combination of drover with Apache ZooKeeper 3.8.0 and 3.9.
#
#   sync_test.py --only TEXT

import argparse
import contextlib
import re
import socket
import struct
import sys

from ensemble import DROVER, JAVA, JAVA39, Ensemble, write_marker  # First: makes tests/durability importable.
from harness import check, check_equal, p, wait_until
from releases import without_unreachable
from strangers_test import OBSERVER_INFO, greeting, refused
from suite import run
from trees import check_same_everywhere

MISSED = 1500  # Java keeps at least 500 in memory, whatever commitLogCount says
PROPERTIES = {"zookeeper.commitLogCount": 10, "zookeeper.snapCount": 100_000}
FROM_THE_LOG = r"is synced with DIFF from the log files|Use txnlog and committedLog for peer sid"
ACK, DIFF, SNAP, LEADER_INFO, ACK_EPOCH = 3, 13, 15, 17, 18


# ---- a DIFF from the log files ---------------------------------------------------------------------------


def write_many(ensemble):
    """Sequential nodes, deletes and changes: order matters."""
    with ensemble.leader().client() as session:
        path = session.create("/many", flags=p.SEQUENTIAL)
        requests = []
        for n in range(MISSED // 3):
            requests += [(p.SET_DATA, p.set_data_body(path, b"%d" % n)), (p.CREATE, p.create_body(f"{path}/{n}")),
                         (p.CREATE, p.create_body(f"{path}/in-order-", flags=p.SEQUENTIAL))]
        check(all(err == 0 for err, _ in session.pipeline(requests)), "every write succeeds")


@contextlib.contextmanager
def one_that_missed_much(leading, learning, factor, restart=False):
    """The ensemble, the learner that came back, and what its leader said."""
    ensemble = Ensemble([learning, DROVER, leading], properties={**PROPERTIES, "zookeeper.snapshotSizeFactor": factor})
    with ensemble:
        ensemble.start()
        ensemble.lead(ensemble[3])
        learner = ensemble[1]
        write_marker(ensemble[3])
        learner.stop()
        write_many(ensemble)
        if restart:
            for member in (ensemble[3], ensemble[2]):
                member.stop()
            ensemble.start(2, 3)
        leader = ensemble.leader()
        check_equal(leader.kind, leading, "leader")
        before = leader.said_bytes()
        ensemble.start(learner.sid)
        yield ensemble, learner, leader.said(before)
        write_marker(learner)
        ensemble.level()
        check_same_everywhere(ensemble)
        learner.stop()  # What it was sent is on its disk.
        ensemble.start(learner.sid)
        check_same_everywhere(ensemble)
        for member in ensemble:
            member.check_not_diverged()


def joins_by_diff_from_log(leading, learning, restart=False):
    def case():
        with one_that_missed_much(leading, learning, 0, restart) as (ensemble, learner, said):
            check(re.search(FROM_THE_LOG, said), f"{ensemble.leader()} reads its log files")
            check_equal(ensemble.how_synced(learner)[:1], ["DIFF"], f"sync of {learner}")
            check("SNAP" not in ensemble.how_synced(learner), "no snapshot")
    case.__name__ = f"{learning}_joins_{leading}_by_diff_from_log" + ("_after_a_restart" if restart else "")
    case.kinds = (leading, learning)
    return case


def joins_by_snap_if_switched_off(leading, learning):
    def case():
        with one_that_missed_much(leading, learning, -1) as (ensemble, learner, said):
            check(not re.search(FROM_THE_LOG, said), "log files are read")
            check_equal(ensemble.how_synced(learner)[:1], ["SNAP"], f"sync of {learner}")
    case.__name__ = f"{learning}_joins_{leading}_by_snap_if_the_log_is_switched_off"
    case.kinds = (leading, learning)
    return case


def a_log_larger_than_a_part_of_the_snapshot_is_not_sent():
    """The default: the state of this test is small, and much smaller than its history."""
    with one_that_missed_much(DROVER, DROVER, 0.33) as (ensemble, learner, said):
        check("no DIFF from the log files" in said and "snapshotSizeFactor" in said, "a line in the log")
        check_equal(ensemble.how_synced(learner)[:1], ["SNAP"], f"sync of {learner}")


a_log_larger_than_a_part_of_the_snapshot_is_not_sent.kinds = (DROVER,)


# ---- not too many at a time ------------------------------------------------------------------------------


class SilentObserver:
    """Follows the handshake until it should acknowledge NEWLEADER, and then says nothing."""

    def __init__(self, leader, sid, last_zxid):
        self.socket = socket.create_connection(("127.0.0.1", leader.quorum_port), timeout=60)
        self.socket.sendall(greeting(OBSERVER_INFO, sid, 0))
        kind, self.new_leader = self.packet()
        check_equal(kind, LEADER_INFO, "answer to OBSERVERINFO")
        self.send(ACK_EPOCH, last_zxid, struct.pack(">i", 0))

    def send(self, kind, zxid, data=None):
        body = struct.pack(">i", -1) if data is None else struct.pack(">i", len(data)) + data
        self.socket.sendall(struct.pack(">iq", kind, zxid) + body + struct.pack(">i", -1))

    def receive(self, count):
        received = b""
        while len(received) < count:
            part = self.socket.recv(count - len(received))
            if not part:
                raise ConnectionError("closed")
            received += part
        return received

    def packet(self):
        kind, zxid, length = struct.unpack(">iqi", self.receive(16))
        self.receive(max(length, 0))
        self.receive(4)  # no identities
        return kind, zxid

    def way(self):
        """DIFF, TRUNC or SNAP; None if the leader closes the link instead."""
        with contextlib.suppress(ConnectionError):
            return self.packet()[0]
        return None

    def acknowledge(self):
        self.send(ACK, self.new_leader)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()


def one_observer_at_a_time(kind, way):
    key = {DIFF: "leader.maxConcurrentDiffSyncs", SNAP: "leader.maxConcurrentSnapSyncs"}[way]

    def case():
        with Ensemble([kind] * 3 + [DROVER] * 2, observers=(4, 5),
                      properties={f"zookeeper.{key}": 1, "zookeeper.snapshotSizeFactor": -1}) as ensemble:
            leader = ensemble.start(1, 2, 3).leader()
            ensemble.level()
            zxid = int(leader.zxid(), 16) if way == DIFF else -1
            with SilentObserver(leader, 4, zxid) as first:
                check_equal(first.way(), way, "sync of the first observer")
                with SilentObserver(leader, 5, zxid) as second:
                    check_equal(second.way(), None, "sync of the second observer")
                follower = ensemble.followers()[0]
                follower.stop()
                if way == SNAP:
                    follower.wipe()
                ensemble.start(follower.sid)
                check(ensemble.leader() is leader, "no server had to look for a leader")
                if kind == DROVER:
                    check_equal(refused(leader, "learner_syncs_rejected"), 1, "observers refused")
                first.acknowledge()
                # Until the leader has read that, it may refuse once more.
                wait_until(lambda: another_is_synced(leader, zxid, way), "a sync of the next observer")
    case.__name__ = f"{kind}_syncs_one_observer_at_a_time_with_{'DIFF' if way == DIFF else 'SNAP'}"
    case.kinds = (kind,)
    return case


def another_is_synced(leader, zxid, way):
    with SilentObserver(leader, 5, zxid) as another:
        return another.way() == way


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", help="run the cases whose name contains this")
    arguments = parser.parse_args()
    cases = [joins_by_diff_from_log(leading, learning)
             for leading, learning in ((DROVER, JAVA), (DROVER, JAVA39), (DROVER, DROVER), (JAVA, DROVER),
                                       (JAVA39, DROVER))]
    cases += [joins_by_diff_from_log(DROVER, DROVER, restart=True),
              joins_by_snap_if_switched_off(DROVER, JAVA), joins_by_snap_if_switched_off(DROVER, DROVER),
              a_log_larger_than_a_part_of_the_snapshot_is_not_sent]
    cases += [one_observer_at_a_time(kind, way) for kind in (DROVER, JAVA, JAVA39) for way in (DIFF, SNAP)]
    return run("sync", without_unreachable("sync", cases), arguments.only)


if __name__ == "__main__":
    sys.exit(main())
