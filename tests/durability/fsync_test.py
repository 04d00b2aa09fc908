#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# A disk that fails once: the server must stop, because it cannot make writes durable.
#
# After a failed sync the kernel may have dropped the pages, and a second sync succeeds without them. So
# the first failure of anything the log needs is final: exit code 3, no acknowledgement after it, and after
# a restart everything acknowledged is there. A failed snapshot is harmless: the server continues without it.

import errno
import os
import random
import select
import sys
import time

from harness import (STORAGE_FAILURE_EXIT, Drover, FailingDisk, NotStarted, check, check_equal, p, run,
                     wait_until)
from workload import SEQUENTIAL_ROOT, Worker, drain, pump

SEED = int(os.environ.get("DROVER_SEED", random.SystemRandom().randrange(1 << 32)))
SESSIONS = 3
WRITES_MAX = 2000
# A small count makes a new log file every 10 to 20 writes.
ROLLING = {"snapCount": 20, "preAllocSize": 16, "autopurge.purgeInterval": "50ms"}
WITHOUT_PURGE = {**ROLLING, "autopurge.purgeInterval": 0}  # which syncs the same directory

LOG, LINKS, NEW_LOG = "*/logs/version-2/log.*", "*/logs/version-2/drover.links", "*/logs/version-2/tmp.log.*"
LOG_DIRECTORY = "*/logs/version-2"
SNAPSHOT, SNAPSHOT_DIRECTORY = "*/data/version-2/*snapshot.*", "*/data/version-2"


def failing_server(properties=None):
    # Two directories, so that a pattern says whether the log's or the snapshots' files are meant.
    return Drover(properties=properties, failing_disk=True, separate_logs=True)


def create_until_it_dies(sessions):
    """One write a session at a time. Returns the acknowledged paths, and those that may be there."""
    acknowledged, uncertain = set(), set()
    for n in range(WRITES_MAX):
        paths = [f"/late-{n}-{s}" for s in range(len(sessions))]
        uncertain |= set(paths)
        died = False
        for session, path in zip(sessions, paths):
            try:
                session.send([(p.CREATE, p.create_body(path, path.encode()))])
            except OSError:
                died = True
        for session, path in zip(sessions, paths):
            try:
                err, _ = session.answer()
                check_equal(err, 0, f"create {path}")
                acknowledged.add(path)
            except (ConnectionError, OSError):
                died = True
        if died:
            return acknowledged, uncertain - acknowledged
    raise AssertionError(f"the server lives on after {WRITES_MAX} writes")


def check_restart(server, acknowledged, uncertain):
    server.disk.disarm()
    server.start()
    session = server.session()
    there = session.nodes(sorted(acknowledged | uncertain))
    lost = acknowledged - set(there)
    check(not lost, f"acknowledged and lost: {sorted(lost)[:5]}")
    for path, (data, stat) in there.items():
        check_equal((data, stat.version), (path.encode(), 0), path)
    names = {"/" + name for name in session.children("/")} - {"/zookeeper"}
    check(names <= acknowledged | uncertain, f"nobody wrote {names - acknowledged - uncertain}")
    session.create("/and it goes on")


def check_died_of_storage(server, call):
    check_equal(server.wait_exit(), STORAGE_FAILURE_EXIT, "exit code")
    check_equal(server.disk.hits, 1, "one failed call and no second try")
    errors = [line for line in server.said() if " ERROR " in line]
    check(len(errors) == 1 and call in errors[0], f"one line that names {call}: {errors}")


def fatal_case(name, operation, pattern, call, properties=None, action=FailingDisk.FAIL, nth=1,
               at_once=False):
    """`at_once`: the very next write meets the failure, so not one may be acknowledged."""

    def case():
        with failing_server(properties) as server:
            server.start()
            sessions = [server.session() for _ in range(SESSIONS)]
            sessions[0].create_all([(f"/early-{n}", b"/early-%d" % n) for n in range(5)])
            early = {f"/early-{n}" for n in range(5)}
            server.disk.arm(operation, pattern, action, nth=nth)
            acknowledged, uncertain = create_until_it_dies(sessions)
            check_died_of_storage(server, call)
            check(not (at_once and acknowledged), f"acknowledged without being durable: {acknowledged}")
            check_restart(server, early | acknowledged, uncertain)

    case.__name__ = f"{name} ends the server".replace(" ", "_")
    return case


D = FailingDisk
FATAL = [
    fatal_case("a failed sync of the log", D.FDATASYNC, LOG, "fdatasync", at_once=True),
    fatal_case("a failed write of the log", D.PWRITE, LOG, "write", at_once=True),
    fatal_case("a half written batch", D.PWRITE, LOG, "write", action=D.TEAR, at_once=True),
    fatal_case("a failed sync after many good ones", D.FDATASYNC, LOG, "fdatasync", nth=50),
    fatal_case("a half written batch after many good ones", D.PWRITE, LOG, "write", action=D.TEAR, nth=50),
    fatal_case("a watermark that cannot be written", D.PWRITE, LINKS, "write", at_once=True),
    fatal_case("a link that is not durable", D.FDATASYNC, LINKS, "fdatasync", ROLLING),
    fatal_case("a new log file whose rename fails", D.RENAME, LOG, "rename", ROLLING),
    fatal_case("a new log file whose name is not durable", D.FSYNC, LOG_DIRECTORY, "fsync", WITHOUT_PURGE),
    fatal_case("a new log file whose header is not durable", D.FDATASYNC, NEW_LOG, "fdatasync", ROLLING),
    fatal_case("a new log file without a header", D.PWRITE, NEW_LOG, "write", ROLLING),
    fatal_case("a new log file without blocks", D.FALLOCATE, NEW_LOG, "fallocate", ROLLING),
    fatal_case("an old log file that cannot be trimmed", D.FTRUNCATE, LOG, "ftruncate", ROLLING),
]


def under_load_no_acknowledgement_comes_after_the_failure():
    """The failing call hangs for a moment first: what is acknowledged meanwhile or later was not durable."""
    chooser = random.Random(SEED)
    for _ in range(8):
        with failing_server({"snapCount": 100, "preAllocSize": 16}) as server:
            server.start()
            workers = [Worker(n, chooser.random()) for n in range(SESSIONS)]
            for worker in workers:
                worker.connect(server.port)
                worker.prepare_tree()
            workers[0].session.create(SEQUENTIAL_ROOT)
            operation = chooser.choice((FailingDisk.FDATASYNC, FailingDisk.PWRITE, FailingDisk.FALLOCATE))
            server.disk.arm(operation, LOG, FailingDisk.FAIL, nth=chooser.randint(1, 60), delay_ms=400)
            pump(workers, until=lambda: server.disk.inside)
            # Answers to earlier batches may still be on their way; 200 ms is long for the loopback.
            deadline = time.monotonic() + 0.2
            pump(workers, until=lambda: time.monotonic() > deadline)
            late = pump(workers, until=lambda: False)
            check_equal(late, 0, f"writes acknowledged after the failure (DROVER_SEED={SEED})")
            check_equal(server.wait_exit(), STORAGE_FAILURE_EXIT, "exit code")
            server.disk.disarm()
            server.start()
            for worker in workers:
                worker.connect(server.port)
                worker.verify()


def a_failing_snapshot_does_not_end_the_server(operation, pattern, error):
    with failing_server(ROLLING) as server:
        server.start()
        session = server.session()
        server.disk.arm(operation, pattern, FailingDisk.FAIL, times=FailingDisk.FOR_EVER, error=error)
        acknowledged = set()

        def write_some():
            path = f"/n{len(acknowledged)}"
            session.create(path, path.encode())
            acknowledged.add(path)

        def complaints():
            return [line for line in server.said() if "[snapshot]" in line and "not written" in line]

        def write_until_it_complains():
            write_some()
            return len(complaints()) >= 3

        wait_until(write_until_it_complains, "three failed snapshots")
        check(server.alive() and server.disk.hits >= 3, "the server continues")
        check(all(" ERROR " in line for line in complaints()), f"errors: {complaints()}")
        # Files that a snapshot would have replaced are still needed.
        server.kill()
        check_restart(server, acknowledged, set())
        # When the disk works again, snapshots are written again.
        session = server.session()

        def write_until_a_snapshot():
            write_some()
            return any(" nodes up to zxid " in line for line in server.said())

        wait_until(write_until_a_snapshot, "a snapshot on the healed disk")
        check(server.alive(), "the server lives")


def a_snapshot_that_cannot_be_written_does_not_end_the_server():
    a_failing_snapshot_does_not_end_the_server(FailingDisk.PWRITE, SNAPSHOT, errno.EIO)


def a_snapshot_that_finds_the_disk_full_does_not_end_the_server():
    a_failing_snapshot_does_not_end_the_server(FailingDisk.PWRITE, SNAPSHOT, errno.ENOSPC)


def a_snapshot_that_cannot_be_synced_does_not_end_the_server():
    a_failing_snapshot_does_not_end_the_server(FailingDisk.FDATASYNC, SNAPSHOT, errno.EIO)


def a_snapshot_that_cannot_be_renamed_does_not_end_the_server():
    a_failing_snapshot_does_not_end_the_server(FailingDisk.RENAME, SNAPSHOT, errno.EIO)


def a_snapshot_whose_name_is_not_durable_does_not_end_the_server():
    a_failing_snapshot_does_not_end_the_server(FailingDisk.FSYNC, SNAPSHOT_DIRECTORY, errno.EIO)


def a_purge_that_cannot_delete_does_not_end_the_server():
    with failing_server(ROLLING) as server:
        server.start()
        session = server.session()
        server.disk.arm(FailingDisk.UNLINK, "*/version-2/*", FailingDisk.FAIL, times=FailingDisk.FOR_EVER)
        acknowledged = set()

        def write_until_it_complains():
            path = f"/n{len(acknowledged)}"
            session.create(path, path.encode())
            acknowledged.add(path)
            return sum("[purge]" in line and " WARN " in line for line in server.said()) >= 3

        wait_until(write_until_it_complains, "three failed purges")
        server.kill()
        check_restart(server, acknowledged, set())


def a_purge_whose_sync_of_the_logs_directory_fails_ends_the_server():
    # The error is reported once. If purge ignored it, the next log file's name could be lost without a word.
    with failing_server(ROLLING) as server:
        server.start()
        session = server.session()
        acknowledged = {f"/n{n}" for n in range(50)}
        session.create_all([(path, path.encode()) for path in sorted(acknowledged)])
        # There are no more writes, so purge meets the fault.
        server.disk.arm(FailingDisk.FSYNC, LOG_DIRECTORY, FailingDisk.FAIL)
        check_died_of_storage(server, "fsync")
        check_restart(server, acknowledged, set())


def a_slow_sync_delays_writes_and_nothing_else():
    a_slow_sync_does_not_delay_reads(quick_writes_before=0)


def a_disk_that_becomes_slow_delays_reads_once():
    # After many quick syncs the thread that answers reads may sync by itself. It notices with the first slow
    # one that it should not; a second one would mean that it has not learned.
    a_slow_sync_does_not_delay_reads(quick_writes_before=300)


def a_slow_sync_does_not_delay_reads(quick_writes_before):
    with failing_server() as server:
        server.start()
        writer, reader = server.session(), server.session()
        writer.create("/before", b"data")
        if quick_writes_before:
            for n in range(quick_writes_before):
                writer.create(f"/quick{n}", b"")
            server.disk.arm(FailingDisk.FDATASYNC, LOG, FailingDisk.DELAY, delay_ms=50)
            writer.create("/first", b"")
            check_equal(server.disk.hits, 1, "a sync was slow")
        server.disk.arm(FailingDisk.FDATASYNC, LOG, FailingDisk.DELAY, delay_ms=2000)
        writer.send([(p.CREATE, p.create_body("/slow"))])
        wait_until(lambda: server.disk.inside, "the sync hangs")
        reads, slowest = 0, 0.0
        while server.disk.inside:
            began = time.monotonic()
            check_equal(reader.nodes(["/before"])["/before"][0], b"data", "a read during the sync")
            # A change that is not durable is not shown either: a client might act on it.
            seen = reader.exists("/slow")
            answered = bool(select.select([writer.connection.socket], [], [], 0)[0])
            if server.disk.inside:
                check(not seen, "a write was visible before it was durable")
                check(not answered, "a write was acknowledged before it was durable")
                reads, slowest = reads + 1, max(slowest, time.monotonic() - began)
        check(reads >= 20 and slowest < 1.0, f"reads went on: {reads}, the slowest took {slowest:.2f} s")
        check_equal(writer.answer()[0], 0, "the write is acknowledged in the end")
        check(reader.exists("/slow"), "and visible")
        wait_until(lambda: any("fsync took" in line for line in server.said()), "a warning")


def nothing_is_served_when_the_start_fails(operation, pattern):
    with failing_server() as server:
        server.start()
        server.session().create("/kept", b"/kept")
        server.kill()
        server.disk.arm(operation, pattern, FailingDisk.FAIL)
        try:
            server.start()
        except NotStarted as refusal:
            check(refusal.code not in (0, None) and refusal.code > 0, f"exit code {refusal.code}")
            check(sum(" ERROR " in line for line in refusal.lines) == 1, f"one clear line: {refusal.lines}")
        else:
            raise AssertionError("it started on a disk that does not sync")
        check_equal(server.disk.hits, 1, "failed calls")
        check_restart(server, {"/kept"}, set())


def a_start_whose_sync_of_the_old_log_fails_is_refused():
    nothing_is_served_when_the_start_fails(FailingDisk.FDATASYNC, LOG)


def a_start_whose_side_file_cannot_be_renamed_is_refused():
    nothing_is_served_when_the_start_fails(FailingDisk.RENAME, LINKS)


def a_clean_stop_during_load_keeps_every_acknowledged_write():
    with failing_server({"snapCount": 100}) as server:
        server.start()
        workers = [Worker(n, SEED) for n in range(SESSIONS)]
        for worker in workers:
            worker.connect(server.port)
            worker.prepare_tree()
        workers[0].session.create(SEQUENTIAL_ROOT)
        deadline = time.monotonic() + 0.3
        pump(workers, until=lambda: time.monotonic() > deadline)
        drain(workers)
        check_equal(server.stop(), 0, "exit code")
        server.start()
        for worker in workers:
            worker.connect(server.port)
            worker.verify()


if __name__ == "__main__":
    sys.exit(run("fsync", [
        *FATAL,
        under_load_no_acknowledgement_comes_after_the_failure,
        a_snapshot_that_cannot_be_written_does_not_end_the_server,
        a_snapshot_that_finds_the_disk_full_does_not_end_the_server,
        a_snapshot_that_cannot_be_synced_does_not_end_the_server,
        a_snapshot_that_cannot_be_renamed_does_not_end_the_server,
        a_snapshot_whose_name_is_not_durable_does_not_end_the_server,
        a_purge_that_cannot_delete_does_not_end_the_server,
        a_purge_whose_sync_of_the_logs_directory_fails_ends_the_server,
        a_slow_sync_delays_writes_and_nothing_else,
        a_disk_that_becomes_slow_delays_reads_once,
        a_start_whose_sync_of_the_old_log_fails_is_refused,
        a_start_whose_side_file_cannot_be_renamed_is_refused,
        a_clean_stop_during_load_keeps_every_acknowledged_write,
    ], only=sys.argv[1] if len(sys.argv) > 1 else None))
