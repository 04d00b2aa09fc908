#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Damaged files: the server starts with everything that was acknowledged, or it says in one line why it does
# not start. It never serves a shortened tree.
#
# Apache ZooKeeper 3.8 takes a zeroed sector, a flipped length or a cut file in the middle of its log for the
# end of it and silently serves half of the nodes (ZooKeeper's FileTxnIterator continues with the next
# file). These are the same experiments.

import os
import random
import struct
import sys

from data_directory import (FULL, LOG_HEADER, NODES, RECORD_HEADER, REFUSED, Prepared, Purged, WithSnapshots,
                            records_of, zxid_of)
from harness import Drover, NotStarted, check, check_equal, run

SEED = int(os.environ.get("DROVER_SEED", random.SystemRandom().randrange(1 << 32)))
SECTOR = 512
RANDOM_DAMAGES = 40



def flip(data, at, bit=0):
    data[at] ^= 1 << bit


def zero(data, begin, size):
    data[begin:begin + size] = bytes(size)


def sector_around(at):
    return at // SECTOR * SECTOR


# Each changes a log's bytes at one record in its middle.
DAMAGES = {
    "payload flip": lambda data, r: flip(data, r.entry + 40),
    "zxid flip": lambda data, r: flip(data, r.entry + 12 + 7),
    "checksum flip": lambda data, r: flip(data, r.checksum + 7),
    "checksum flip in its unused half": lambda data, r: flip(data, r.checksum + 1),
    "length flip, low bit": lambda data, r: flip(data, r.length + 3),
    "length flip, one more sector": lambda data, r: flip(data, r.length + 2, 1),
    "length flip, negative": lambda data, r: flip(data, r.length, 7),
    "length flip, huge": lambda data, r: flip(data, r.length, 6),
    "trailer flip": lambda data, r: flip(data, r.trailer),
    "zeroed length": lambda data, r: zero(data, r.length, 4),
    "zeroed checksum and length": lambda data, r: zero(data, r.checksum, RECORD_HEADER),
    "zeroed record": lambda data, r: zero(data, r.checksum, r.end - r.checksum),
    "zeroed sector": lambda data, r: zero(data, sector_around(r.entry), SECTOR),
    "zeroed page": lambda data, r: zero(data, r.checksum // 4096 * 4096, 4096),
    "record cut out": lambda data, r: data[:r.checksum] + data[r.end:],
    "record doubled": lambda data, r: data[:r.end] + data[r.checksum:r.end] + data[r.end:],
    "zeros to the end": lambda data, r: data[:r.checksum] + bytes(len(data) - r.checksum),
    "cut between two records": lambda data, r: data[:r.checksum],
    "cut in a record": lambda data, r: data[:r.entry + 10],
    "cut in a record's header": lambda data, r: data[:r.checksum + 5],
}

HEADER_DAMAGES = {
    "magic flip": lambda data: flip(data, 0),
    "zeroed header": lambda data: zero(data, 0, LOG_HEADER),
    "zeroed first sector": lambda data: zero(data, 0, SECTOR),
    "cut in the header": lambda data: data[:7],
    "cut behind the header": lambda data: data[:LOG_HEADER],
    "cut to nothing": lambda data: b"",
}


def damage_one_record_each(directory, name):
    records = records_of(directory.read(name))
    middle = records[len(records) // 2]
    for what, damage in DAMAGES.items():
        directory.after(what, name, lambda data, damage=damage: damage(data, middle))
    for what, damage in HEADER_DAMAGES.items():
        directory.after(what, name, damage)


def the_only_log_file_damaged_in_its_middle():
    with Prepared() as directory:
        check_equal(directory.outcome("no damage"), FULL, "no damage")
        directory.restore()
        check_equal(len(directory.logs), 1, "log files")
        damage_one_record_each(directory, directory.logs[0])


def the_older_of_two_log_files_damaged():
    with Prepared(restarts=1) as directory:
        check_equal(directory.outcome("no damage"), FULL, "no damage")
        check_equal(len(directory.logs), 2, "log files")
        damage_one_record_each(directory, directory.logs[0])
        last = records_of(directory.read(directory.logs[0]))[-1]
        # The shape that Java cannot see: the file ends cleanly, only too early.
        directory.after("last record cut off", directory.logs[0], lambda data: data[:last.checksum])
        directory.after("last record zeroed", directory.logs[0],
                        lambda data: zero(data, last.checksum, last.end - last.checksum))


def the_newest_of_two_log_files_damaged():
    with Prepared(restarts=1) as directory:
        damage_one_record_each(directory, directory.logs[1])


def a_missing_log_file_is_noticed():
    with Prepared(restarts=2) as directory:
        for name in directory.logs:
            directory.restore()
            directory.path(name).unlink()
            check_equal(directory.outcome(f"{name} is missing"), REFUSED, f"start without {name}")


def damage_is_detected_without_the_side_file():
    """A directory that Java wrote has no drover.links. What breaks in the middle shows all the same."""
    middle_damages = [what for what in DAMAGES if not what.startswith(("cut", "zeros to"))]
    with Prepared() as directory:
        directory.path("drover.links").unlink()
        directory.keep()
        name = directory.logs[0]
        records = records_of(directory.read(name))
        for what in middle_damages:
            directory.after(f"{what} without drover.links", name,
                            lambda data, what=what: DAMAGES[what](data, records[len(records) // 2]))


def damage_to_the_side_file_loses_nothing():
    with Prepared(restarts=1) as directory:
        size = len(directory.read("drover.links"))
        for at in (0, 9, 512, 520, 530, 1024, 1030, 1060, 1070):
            check(at < size, "the side file is as long as expected")
            outcome = directory.after(f"flip at {at}", "drover.links", lambda data, at=at: flip(data, at))
            check_equal(outcome, FULL, f"logs and snapshots are intact, drover.links is damaged at {at}")
        check_equal(directory.after("cut", "drover.links", lambda data: data[:600]), FULL, "side file cut")
        check_equal(directory.after("emptied", "drover.links", lambda data: b""), FULL, "side file emptied")


def random_damage_to_logs(restarts):
    chooser = random.Random(f"{SEED}/{restarts}")
    outcomes = []
    with Prepared(restarts=restarts) as directory:
        for _ in range(RANDOM_DAMAGES):
            name = chooser.choice(directory.logs)
            end = records_of(directory.read(name))[-1].end
            at, bit = chooser.randrange(end), chooser.randrange(8)
            what, change = chooser.choice((
                ("bit flip", lambda data: flip(data, at, bit)),
                ("zeroed sector", lambda data: zero(data, sector_around(at), SECTOR)),
                ("cut", lambda data: data[:at]),
            ))
            outcomes.append(directory.after(f"DROVER_SEED={SEED}: {what} at {at} bit {bit}", name, change))
    check(REFUSED in outcomes, "damage in a log file is noticed at least sometimes")


def random_damage_to_the_only_log_file():
    random_damage_to_logs(0)


def random_damage_to_one_of_three_log_files():
    random_damage_to_logs(2)


def a_torn_tail_is_not_damage():
    """Bytes that a crash leaves after the last acknowledged write: parts of a batch that was never synced."""
    with Prepared() as directory:
        name = directory.logs[0]
        records = records_of(directory.read(name))
        last = records[-1]
        pattern = directory.read(name)[last.checksum:last.end]
        zxid = struct.unpack_from(">q", pattern, RECORD_HEADER + 12)[0]
        following = bytearray(pattern)
        struct.pack_into(">q", following, RECORD_HEADER + 12, zxid + 1)

        def tail(extra):
            return lambda data: data[:last.end] + extra + data[last.end + len(extra):]

        tails = {
            "a byte of a checksum": following[:1],
            "a checksum": following[:8],
            "half a header": following[:10],
            "a header": following[:RECORD_HEADER],
            "half a record": following[:len(following) // 2],
            "a record without its trailer": following[:-1],
            "a record with a wrong checksum": following,
            "a sector that never came, in front of one that did": bytes(SECTOR) + following,
            "noise": random.Random(SEED).randbytes(2000),
        }
        for what, extra in tails.items():
            outcome = directory.after(what, name, tail(bytes(extra)))
            check_equal(outcome, FULL, f"{what} behind the last record")
        check_equal(directory.after("cut behind the last record", name, lambda data: data[:last.end]), FULL,
                    "a log without its preallocated zeros")


def an_empty_new_log_file_is_not_damage():
    with Prepared() as directory:
        for content in (b"", b"ZKLG", b"ZKLG\0\0\0\2" + bytes(8), bytes(4096)):
            directory.restore()
            directory.path(f"log.{NODES + 100:x}").write_bytes(content)
            # A full start is wished for; refusing is the least.
            directory.outcome(f"a new log file with {content[:8]!r}")


def keep_only_the_newest_snapshot(directory):
    """The files after many purges: one snapshot and the logs that it needs."""
    newest = directory.snapshots[-1]
    for name in directory.snapshots[:-1]:
        directory.path(name).unlink()
    needed = [name for name in directory.logs if zxid_of(name) <= zxid_of(newest)][-1:]
    for name in directory.logs:
        if zxid_of(name) < zxid_of(needed[0] if needed else directory.logs[0]):
            directory.path(name).unlink()
    directory.keep()
    return newest


def bit_flips_in_the_only_snapshot():
    with WithSnapshots() as directory:
        newest = keep_only_the_newest_snapshot(directory)
        check_equal(directory.outcome("no damage"), FULL, "only the newest snapshot")
        size = len(directory.read(newest))
        chooser = random.Random(SEED)
        places = [0, 5, 17, size - 14, size - 6, size - 1]
        for at in places + [chooser.randrange(size) for _ in range(RANDOM_DAMAGES)]:
            bit = chooser.randrange(8)
            directory.after(f"DROVER_SEED={SEED}: flip at {at} of {size}, bit {bit}", newest,
                            lambda data, at=at, bit=bit: flip(data, at, bit))
        directory.after("cut in half", newest, lambda data: data[:size // 2])
        directory.after("zeroed sector", newest, lambda data: zero(data, SECTOR, SECTOR))
        directory.after("emptied", newest, lambda data: b"")


def the_newest_snapshot_damaged_while_logs_cover_the_gap(**properties):
    with WithSnapshots(**properties) as directory:
        newest = directory.snapshots[-1]
        size = len(directory.read(newest))
        for at in (0, size // 3, size // 2, size - 20):
            outcome = directory.after(f"flip at {at}", newest, lambda data, at=at: flip(data, at))
            check_equal(outcome, FULL, f"an older snapshot and the logs have everything (flip at {at})")
        check_equal(directory.after("emptied", newest, lambda data: b""), FULL, "newest snapshot emptied")
        outcome = directory.after("cut", newest, lambda data: data[:size // 2])
        check_equal(outcome, FULL, "newest snapshot cut")
        directory.restore()
        directory.path(newest).unlink()
        check_equal(directory.outcome("newest snapshot missing"), FULL, "newest snapshot missing")


def an_older_snapshot_replaces_a_damaged_one():
    the_newest_snapshot_damaged_while_logs_cover_the_gap()


def an_older_snapshot_replaces_a_damaged_one_with_gzip():
    the_newest_snapshot_damaged_while_logs_cover_the_gap(**{"snapshot.compression.method": "gz"})


def an_older_snapshot_replaces_a_damaged_one_with_snappy():
    the_newest_snapshot_damaged_while_logs_cover_the_gap(**{"snapshot.compression.method": "snappy"})


def every_snapshot_that_purge_keeps_is_a_starting_point():
    with Purged() as directory:
        check_equal(len(directory.snapshots), Purged.KEPT, "snapshots")
        check(zxid_of(directory.logs[0]) > 1, f"logs were purged too: {directory.logs}")
        for damaged in range(Purged.KEPT):
            directory.restore()
            for name in directory.snapshots[Purged.KEPT - damaged:]:
                directory.path(name).write_bytes(directory.read(name)[:-100])
            what = f"the {damaged} newest snapshots cut"
            check_equal(directory.outcome(what), FULL, what)
        directory.restore()
        for name in directory.snapshots:
            directory.path(name).write_bytes(directory.read(name)[:-100])
        check_equal(directory.outcome("all snapshots cut"), REFUSED, "all snapshots cut")


def a_log_missing_between_an_older_snapshot_and_the_rest_is_noticed():
    with WithSnapshots() as directory:
        newest, older = directory.snapshots[-1], directory.snapshots[-2]
        gap = [name for name in directory.logs if zxid_of(older) < zxid_of(name) <= zxid_of(newest)]
        check(gap, f"there is a log file between {older} and {newest}: {directory.logs}")
        data = bytearray(directory.read(newest))
        flip(data, len(data) // 2)
        directory.path(newest).write_bytes(data)
        directory.path(gap[0]).unlink()
        what = f"{newest} damaged, {gap[0]} missing"
        check_equal(directory.outcome(what), REFUSED, what)


def logs_without_any_snapshot_are_refused():
    with Prepared() as directory:
        for name in directory.snapshots:
            directory.path(name).unlink()
        check_equal(directory.outcome("no snapshot"), REFUSED, "logs without a snapshot")


def a_second_server_on_the_same_directory_is_refused():
    with Prepared() as directory:
        first = directory.server.start()
        with Drover(data_dir=first.data_dir) as second:
            try:
                second.start()
                raise AssertionError("two servers serve one data directory")
            except NotStarted as refusal:
                check_equal(refusal.code, 1, "exit code")
                check(len(refusal.lines) == 1 and "in use by another server" in refusal.lines[0],
                      f"one clear line: {refusal.lines}")
        session = first.session()
        session.create("/data/after")
        check_equal(len(session.children("/data")), NODES + 1, "the first server is not disturbed")
        first.kill()
        # The lock dies with its owner.
        first.start()


def a_refused_start_changes_nothing():
    """After the damaged file is restored from a backup, everything is back, even after many attempts to start."""
    with Prepared(restarts=1) as directory:
        name = directory.logs[0]
        whole = directory.read(name)
        middle = records_of(whole)[len(records_of(whole)) // 2]
        damaged = bytearray(whole)
        zero(damaged, sector_around(middle.entry), SECTOR)
        directory.path(name).write_bytes(damaged)
        for attempt in range(3):
            check_equal(directory.outcome(f"zeroed sector, attempt {attempt}"), REFUSED, "a zeroed sector")
        for path in directory.server.logs.iterdir():
            if path.name != name:
                check(path.read_bytes() == directory.read(path.name), f"a refused start changed {path.name}")
        directory.path(name).write_bytes(whole)
        check_equal(directory.outcome("restored from the backup"), FULL, "after the file was restored")


if __name__ == "__main__":
    sys.exit(run("damage", [
        the_only_log_file_damaged_in_its_middle,
        the_older_of_two_log_files_damaged,
        the_newest_of_two_log_files_damaged,
        a_missing_log_file_is_noticed,
        damage_is_detected_without_the_side_file,
        damage_to_the_side_file_loses_nothing,
        random_damage_to_the_only_log_file,
        random_damage_to_one_of_three_log_files,
        a_torn_tail_is_not_damage,
        an_empty_new_log_file_is_not_damage,
        bit_flips_in_the_only_snapshot,
        an_older_snapshot_replaces_a_damaged_one,
        an_older_snapshot_replaces_a_damaged_one_with_gzip,
        an_older_snapshot_replaces_a_damaged_one_with_snappy,
        every_snapshot_that_purge_keeps_is_a_starting_point,
        a_log_missing_between_an_older_snapshot_and_the_rest_is_noticed,
        logs_without_any_snapshot_are_refused,
        a_second_server_on_the_same_directory_is_refused,
        a_refused_start_changes_nothing,
    ], only=sys.argv[1] if len(sys.argv) > 1 else None))
