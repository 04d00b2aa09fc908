# SPDX-License-Identifier: Apache-2.0
#
# Data directories to be damaged: 300 acknowledged nodes in one or several log files, with or without
# snapshots between them, and checks of what a server does with the damaged copy.

import shutil
import struct

from harness import Drover, NotStarted, check, check_equal, wait_until

NODES = 300
LOG_HEADER = 16
RECORD_HEADER = 12  # checksum:long, length:int; then the entry, then 'B'

FULL, REFUSED = "everything", "refused"


def zxid_of(name):
    return int(name.split(".")[1], 16)


class Record:
    """Where one record of a log file lies."""

    def __init__(self, offset, length):
        self.checksum = offset
        self.length = offset + 8
        self.entry = offset + RECORD_HEADER
        self.trailer = self.entry + length
        self.end = self.trailer + 1


def records_of(data):
    records = []
    at = LOG_HEADER
    while at + RECORD_HEADER <= len(data):
        length = struct.unpack_from(">i", data, at + 8)[0]
        if length == 0:
            break
        records.append(Record(at, length))
        at = records[-1].end
    return records


class DataDirectory:
    """A data directory with 300 acknowledged nodes, of which every experiment damages a fresh copy."""

    def __init__(self, server):
        self.server = server
        self.original = server.folder / "original"
        shutil.copytree(server.data_dir, self.original)
        self.logs = self.names("log.*")
        self.snapshots = self.names("snapshot.*")

    def names(self, pattern):
        return sorted((path.name for path in (self.original / "version-2").glob(pattern)), key=zxid_of)

    def path(self, name):
        return self.server.data_dir / "version-2" / name

    def read(self, name):
        return (self.original / "version-2" / name).read_bytes()

    def restore(self):
        shutil.rmtree(self.server.data_dir)
        shutil.copytree(self.original, self.server.data_dir)

    def keep(self):
        """Later experiments start from the copy as it is now."""
        shutil.rmtree(self.original)
        shutil.copytree(self.server.data_dir, self.original)

    def outcome(self, what):
        """Starts the server on the damaged copy: FULL or REFUSED, anything else fails the test."""
        try:
            self.server.start()
        except NotStarted as refusal:
            check_refusal(refusal, what)
            return REFUSED
        session = self.server.session()
        nodes = session.below("/data") if session.exists("/data") else {}
        self.server.kill()
        check(len(nodes) == NODES, f"{what}: it serves {len(nodes)} of {NODES} nodes")
        for path, (data, _) in nodes.items():
            check_equal(data, data_of(path), f"{what}: {path}")
        return FULL

    def after(self, what, name, change):
        """The outcome after `change(bytearray of the file)`, which may return the new content."""
        self.restore()
        data = bytearray(self.read(name))
        changed = change(data)
        self.path(name).write_bytes(data if changed is None else changed)
        return self.outcome(f"{what} in {name}")


def check_refusal(refusal, what):
    check_equal(refusal.code, 1, f"{what}: exit code ({refusal.lines})")
    errors = [line for line in refusal.lines if " ERROR " in line]
    names_files = any("log" in line or "snapshot" in line for line in errors)
    clear = len(errors) == 1 and "cannot start: " in errors[0] and names_files
    check(clear, f"{what}: one line that says what is wrong: {refusal.lines}")


def data_of(path):
    return path.encode() * 10


def write_nodes(session, numbers):
    session.create_all([(f"/data/n{n}", data_of(f"/data/n{n}")) for n in numbers])


class Prepared:
    """Context: a data directory after `restarts` restarts in the middle of writing, killed at the end."""

    def __init__(self, properties=None, restarts=0):
        # Small files, because each experiment copies them.
        self.server = Drover(properties={"preAllocSize": 64, **(properties or {})})
        self.parts = restarts + 1

    def __enter__(self):
        self.server.start()
        self.server.session().create("/data")
        for part in range(self.parts):
            first, end = part * NODES // self.parts, (part + 1) * NODES // self.parts
            write_nodes(self.server.session(), range(first, end))
            self.server.kill()
            if part + 1 < self.parts:
                self.between_parts()
                self.server.start()
        return DataDirectory(self.server)

    def between_parts(self):
        pass

    def __exit__(self, *failure):
        return self.server.__exit__(*failure)


class WithSnapshots(Prepared):
    """Context: the same with a snapshot in front of each part but the first, and every log."""

    def __init__(self, restarts=2, **properties):
        super().__init__({"autopurge.purgeInterval": 0, **properties}, restarts)

    def between_parts(self):
        # A server that had to replay more than half of snapCount takes a snapshot at once.
        self.server.properties["snapCount"] = 20
        self.server.start()
        wait_until(self.snapshot_is_done, "a snapshot")
        self.server.kill()
        del self.server.properties["snapCount"]

    def snapshot_is_done(self):
        return any("[snapshot]" in line and " nodes up to zxid " in line for line in self.server.said())


class Purged(WithSnapshots):
    """Context: the same after many snapshots and purges, three of them kept."""

    KEPT = 3

    def __init__(self):
        purge = {"autopurge.purgeInterval": "50ms", "autopurge.snapRetainCount": self.KEPT}
        super().__init__(restarts=6, **purge)

    def snapshot_is_done(self):
        # Snapshots go first, then the logs that only they needed.
        snapshots = list(self.server.snapshots.glob("snapshot.*"))
        logs = list(self.server.snapshots.glob("log.*"))
        return super().snapshot_is_done() and len(snapshots) <= self.KEPT and len(logs) <= self.KEPT + 2
