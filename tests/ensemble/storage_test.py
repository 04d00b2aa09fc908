#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
#
# Storage faults in an ensemble of three: one server's disk is damaged, fails or is empty, and the others have the
# lost data. Apache ZooKeeper 3.8.0 fails each of these tests: it leads with half of its log, continues after a
# failed fsync, and lets an empty server and a stale one form a quorum without the writes of the third.
#
# A server that does not know its whole history must not vote with what is left of it; it asks the leader. So
# after each fault every server ends with the same tree, and everything acknowledged is in it.

import errno
import shutil
import sys
import time

from ensemble import DROVER, Ensemble  # First: it makes tests/durability and tests/compat importable.
from damage_test import DAMAGES, HEADER_DAMAGES, SECTOR, sector_around, zero
from data_directory import data_of, records_of, zxid_of
from harness import OK, STORAGE_FAILURE_EXIT, FailingDisk, Session, check, check_equal, p, wait_until
from suite import run
from trees import check_same_everywhere

NODES = 300
# Long enough for a dozen elections of servers that are all there.
WATCH_SECONDS = 3.0
LOG = "*/version-2/log.*"
PROPERTIES = {"zookeeper.preAllocSize": 64, "zookeeper.snapCount": 100000}


def three_drovers(**options):
    return Ensemble([DROVER] * 3, properties=PROPERTIES, **options)


def write_nodes(ensemble, numbers):
    with ensemble.leader().client() as session:
        if not session.exists("/data"):
            session.create("/data")
        session.create_all([(f"/data/n{n}", data_of(f"/data/n{n}")) for n in numbers])


def check_everything(ensemble, numbers, what):
    """Checks that every server has all these nodes and the same tree, takes writes, and survives a restart."""
    check_there(ensemble, numbers, what)
    with ensemble.leader().client() as session:
        for number in list(numbers)[::50]:
            path = f"/data/n{number}"
            err, _ = session.call(p.SET_DATA, p.set_data_body(path, data_of(path)))
            check_equal(err, OK, f"{what}: setData {path}")
    stop_all(ensemble)
    ensemble.start()
    check_there(ensemble, numbers, f"{what}, after a restart")


def check_there(ensemble, numbers, what):
    tree = check_same_everywhere(ensemble)
    expected = {f"/data/n{n}" for n in numbers}
    check(expected <= tree.keys(), f"{what}: {len(expected - tree.keys())} acknowledged nodes are lost")
    check(all(tree[path][0] == data_of(path) for path in expected), f"{what}: data of every node")


def stop_all(ensemble, how="kill"):
    for member in ensemble:
        getattr(member, how)()


def logs_of(member):
    return sorted(member.files.glob("log.*"), key=lambda path: zxid_of(path.name))


class Copies:
    """The data directories as they are now, to be damaged again and again."""

    def __init__(self, ensemble):
        self.ensemble = ensemble
        for member in ensemble:
            shutil.copytree(member.files, member.base / "original")

    def restore(self):
        for member in self.ensemble:
            shutil.rmtree(member.files)
            shutil.copytree(member.base / "original", member.files)


def damage(path, change):
    data = bytearray(path.read_bytes())
    changed = change(data)
    path.write_bytes(data if changed is None else changed)


def nobody_serves(ensemble, why):
    """Checks that no server serves, for longer than an election takes."""
    wait_until(lambda: all(member.answers() for member in ensemble.running), "servers that are up")
    deadline = time.monotonic() + WATCH_SECONDS
    while time.monotonic() < deadline:
        modes = [member.mode() for member in ensemble.running]
        check(not any(modes), f"{why}: {modes}")


# M1: one log file, damaged in its middle.


def a_server_whose_log_is_damaged_heals_from_the_others():
    with three_drovers() as ensemble:
        ensemble.start()
        write_nodes(ensemble, range(NODES))
        stop_all(ensemble)
        copies = Copies(ensemble)
        victim = ensemble[3]  # Among equals it would lead.
        log = logs_of(victim)[-1]
        record = records_of(log.read_bytes())[NODES // 2]
        changes = {what: lambda data, change=change: change(data, record) for what, change in DAMAGES.items()}
        for what, change in {**changes, **HEADER_DAMAGES}.items():
            copies.restore()
            damage(log, change)
            ensemble.start()
            check_everything(ensemble, range(NODES), what)
            stop_all(ensemble)


def a_server_whose_only_snapshot_is_damaged_heals_from_the_others():
    with three_drovers() as ensemble:
        ensemble.start()
        write_nodes(ensemble, range(NODES))
        victim = ensemble[3]
        victim.stop()
        victim.wipe()
        ensemble.start(victim.sid)  # What it has now came as a snapshot.
        stop_all(ensemble)
        snapshot = max(victim.files.glob("snapshot.*"), key=lambda path: zxid_of(path.name))
        damage(snapshot, lambda data: zero(data, sector_around(len(data) // 2), SECTOR))
        ensemble.start()
        check_everything(ensemble, range(NODES), "snapshot damaged")


def two_damaged_servers_do_not_outvote_the_intact_one():
    with three_drovers() as ensemble:
        ensemble.start()
        write_nodes(ensemble, range(NODES))
        stop_all(ensemble)
        copies = Copies(ensemble)
        for sid in (2, 3):
            log = logs_of(ensemble[sid])[-1]
            record = records_of(log.read_bytes())[NODES // 2]
            damage(log, lambda data, record=record: zero(data, sector_around(record.entry), SECTOR))
        ensemble.start(wait=False)
        nobody_serves(ensemble, "two of three have lost acknowledged writes, and somebody serves")
        stop_all(ensemble)
        copies.restore()
        ensemble.start()
        check_everything(ensemble, range(NODES), "restored")


# M2: two log files, a hole in the older one that ends at an epoch's beginning.


def a_hole_in_an_older_log_is_not_skipped():
    with three_drovers() as ensemble:
        ensemble.start()
        write_nodes(ensemble, range(100))
        victim = ensemble[3]
        victim.stop()
        ensemble.settle()
        ensemble.start(victim.sid)
        write_nodes(ensemble, range(100, 200))
        stop_all(ensemble, "stop")
        logs = logs_of(victim)
        check(len(logs) >= 2, f"two log files: {logs}")
        record = records_of(logs[0].read_bytes())[50]
        damage(logs[0], lambda data: zero(data, sector_around(record.entry), SECTOR))
        ensemble.start()
        check_everything(ensemble, range(200), "zeroed sector in the older log")


# M3: one sync of the log fails, once.


def one_failed_sync_stops_only_that_server(leads, operation, error):
    with three_drovers(failing_disks=True) as ensemble:
        ensemble.start()
        write_nodes(ensemble, range(100))
        victim = ensemble.leader() if leads else ensemble.followers()[0]
        victim.disk.arm(operation, LOG, FailingDisk.FAIL, nth=5, error=error)
        written = 100
        while victim.running:
            check(written < 10000, "the injected fault never happened")
            written += write_until_refused(ensemble, written)
        check_equal(victim.disk.hits, 1, "failed calls")
        check_equal(victim.process.wait(), STORAGE_FAILURE_EXIT, "exit code")
        victim.kill()
        ensemble.settle()
        more = range(written + 1, written + 101)  # The write between was not acknowledged, so it may be there or not.
        write_nodes(ensemble, more)
        ensemble.start(victim.sid)
        check_everything(ensemble, [*range(written), *more], "one failed call")


def write_until_refused(ensemble, first):
    """One node after the other through one server; returns how many were acknowledged."""
    leader = ensemble.leader()
    if leader is None:
        return 0
    acknowledged = 0
    try:
        session = Session(leader.port)
        while acknowledged < 20:
            path = f"/data/n{first + acknowledged}"
            err, _ = session.call(p.CREATE, p.create_body(path, data_of(path)))
            check(err in (OK, -110), f"create {path}: {err}")  # It may be there: the last one had no answer.
            acknowledged += 1
    except (OSError, AssertionError):
        pass  # The server is going away.
    return acknowledged


def m3_case(leads, operation, name, error):
    def case():
        one_failed_sync_stops_only_that_server(leads, operation, error)

    case.__name__ = f"a {'leader' if leads else 'follower'} whose {name} fails once ends, and loses nothing"
    return case


# M4: a wiped server and a stale one.


def a_wiped_server_and_a_stale_one_do_not_form_a_quorum():
    with three_drovers() as ensemble:
        ensemble.start()
        write_nodes(ensemble, range(50))
        ensemble[1].stop()
        ensemble.settle()
        write_nodes(ensemble, range(50, 150))
        stop_all(ensemble, "stop")
        ensemble[2].wipe()
        ensemble.start(1, 2, wait=False)
        nobody_serves(ensemble, "a stale server and a wiped one serve without a hundred acknowledged writes")
        ensemble.start(3)
        check_everything(ensemble, range(150), "the third is back")


if __name__ == "__main__":
    sys.exit(run("storage", [
        a_server_whose_log_is_damaged_heals_from_the_others,
        a_server_whose_only_snapshot_is_damaged_heals_from_the_others,
        two_damaged_servers_do_not_outvote_the_intact_one,
        a_hole_in_an_older_log_is_not_skipped,
        *[m3_case(leads, operation, name, error)
          for leads in (True, False)
          for operation, name, error in ((FailingDisk.FDATASYNC, "sync of the log", errno.EIO),
                                         (FailingDisk.PWRITE, "write to the log", errno.EIO))],
        a_wiped_server_and_a_stale_one_do_not_form_a_quorum,
    ], only=sys.argv[1] if len(sys.argv) > 1 else None))
