#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Moves data directories between Java and drover. One server builds a tree with every kind of node and is killed
# or stopped; the other one opens the directory. Every Stat field, ACL and byte must be equal. Afterwards, sequence
# numbers continue, sessions can be resumed, and containers and TTL nodes are still deleted.

import pathlib
import shutil
import struct
import sys
import tempfile
import time

import protocol as p
from servers import KINDS, SUPER_AUTH, MissingDependency
from suite import check, check_equal, run

SESSION_MS = 600000
CONFIG = {"maxSessionTimeout": SESSION_MS}
PATIENCE = 20
ANN = [(p.ALL, "digest", "ann:6q+u+bEVJTdGGyG40XXuyaDlxCA=")]
ACLS = {
    "open": p.OPEN_ACL,
    "read_only": [(p.READ, "world", "anyone")],
    "digest": ANN,
    "ip": [(p.ALL, "ip", "127.0.0.1"), (p.READ, "ip", "10.0.0.0/8")],
    "mixed": [*ANN, (p.READ | p.WRITE, "world", "anyone"), (p.ADMIN, "digest", "bob:x"),
              (-1, "ip", "1.2.3.4")],
    "nothing": [(0, "world", "anyone")],
}


class Session:
    """Raw requests, each of which must succeed."""

    def __init__(self, server, auth=SUPER_AUTH, **fields):
        self.server = server
        self.connection = p.Connection(server.port, timeout=60)
        fields.setdefault("timeout_ms", SESSION_MS)
        check(self.connection.handshake(**fields) is not None, "the server refused the session")
        check(self.connection.timeout_ms > 0, "the session is not valid")
        self.xid = 0
        if auth:
            self.connection.call(p.AUTH_XID, p.AUTH, p.auth_body("digest", auth))

    def pipeline(self, requests):
        """Sends (op, body) pairs in batches, returns the decoders of their bodies."""
        answers = []
        for start in range(0, len(requests), 200):
            batch = requests[start:start + 200]
            frames = b""
            for op, body in batch:
                self.xid += 1
                frames += p.frame(struct.pack(">ii", self.xid, op) + body)
            self.connection.send(frames)
            answers += [self._answer(op) for op, _ in batch]
        return answers

    def _answer(self, op):
        payload = self.connection.receive()
        check(payload is not None, "connection closed")
        _, _, err = p.reply_header(payload)
        check(err == 0, f"{p.OP_NAMES[op]} failed with {p.ERROR_NAMES.get(err, err)}")
        decoder = p.Decoder(payload)
        decoder.at = 16
        return decoder

    def call(self, op, body=b""):
        return self.pipeline([(op, body)])[0]

    def create(self, path, data=b"", acl=p.OPEN_ACL, flags=p.PERSISTENT):
        return self.call(p.CREATE, p.create_body(path, data, acl, flags)).string()

    def exists(self, path):
        self.xid += 1
        _, payload = self.connection.call(self.xid, p.EXISTS, p.path_watch_body(path))
        return p.reply_header(payload)[2] == 0


def build(server):
    """Every kind of node. Returns the live session, which owns the ephemerals."""
    session = Session(server)
    session.create("/kinds")
    for name, data in (("null", None), ("empty", b""), ("text", "wörld".encode()),
                       ("big", b"\xa5" * 1_000_000), ("binary", bytes(range(256)))):
        session.create(f"/kinds/{name}", data)
    session.create("/acls")
    for name, acl in ACLS.items():
        session.create(f"/acls/{name}", name.encode(), acl)
    session.call(p.SET_ACL, p.set_acl_body("/acls/open", ACLS["mixed"]))
    build_ephemerals_and_counters(session)
    build_quota(session)
    build_shapes(session)
    churn(session)
    build_vanishing(session)
    return session


def build_ephemerals_and_counters(session):
    session.create("/ephemeral")
    for flags in (p.EPHEMERAL, p.EPHEMERAL_SEQUENTIAL):
        session.create("/ephemeral/mine", b"e", p.OPEN_ACL, flags)
    session.create("/counter")
    for _ in range(7):
        last = session.create("/counter/n-", b"", p.OPEN_ACL, p.SEQUENTIAL)
        session.call(p.DELETE, p.path_version_body(last))
    check_equal(last, "/counter/n-0000000006")


def build_quota(session):
    for path, data in (("/quota", b""), ("/zookeeper/quota/quota", b""),
                       ("/zookeeper/quota/quota/zookeeper_limits", b"count=10,bytes=1000"),
                       ("/zookeeper/quota/quota/zookeeper_stats", b""), ("/quota/a", b"12345"),
                       ("/quota/b", b"")):
        session.create(path, data)


def build_shapes(session):
    session.create("/unicode")
    for name in ("日本", "é", "ключ", " ", "a b", "...", "퟿", "x" * 500):
        session.create(f"/unicode/{name}", name.encode())
    session.create("/deep")
    session.pipeline([(p.CREATE, p.create_body("/deep" + "/d" * n, str(n).encode())) for n in range(1, 101)])
    session.create("/wide")
    session.pipeline([(p.CREATE, p.create_body(f"/wide/{n:05}", struct.pack(">i", n))) for n in range(1500)])


def churn(session):
    """Versions above zero, deleted nodes, a multi, failed writes in the log."""
    session.pipeline([(p.SET_DATA, p.set_data_body(f"/wide/{n % 40:05}", b"x" * n)) for n in range(300)])
    session.pipeline([(p.DELETE, p.path_version_body(f"/wide/{n:05}")) for n in range(1000, 1100)])
    session.call(p.MULTI, p.multi_body([
        (p.CREATE, p.create_body("/multi", b"m")),
        (p.CREATE, p.create_body("/multi/s-", b"", flags=p.SEQUENTIAL)),
        (p.SET_DATA, p.set_data_body("/multi", b"mm")), (p.CHECK, p.path_version_body("/multi", 1)),
        (p.DELETE, p.path_version_body("/wide/01499"))]))
    for _ in range(5):
        session.connection.call(9999, p.DELETE, p.path_version_body("/nosuch"))
    other = Session(session.server)
    other.create("/ephemeral/of-a-closed-session", b"", p.OPEN_ACL, p.EPHEMERAL)
    other.call(p.CLOSE_SESSION)


def build_vanishing(session):
    """Nodes that the next owner of the directory must delete by itself: it shows that it knows their kind."""
    session.create("/vanishing")
    session.call(p.CREATE_CONTAINER, p.create_body("/vanishing/used", b"", p.OPEN_ACL, p.CONTAINER))
    session.create("/vanishing/used/kid")
    session.call(p.DELETE, p.path_version_body("/vanishing/used/kid"))
    session.call(p.CREATE_TTL, p.create_ttl_body("/vanishing/ttl", b"", p.OPEN_ACL, p.TTL, 1))
    session.call(p.CREATE_CONTAINER, p.create_body("/container", b"c", p.OPEN_ACL, p.CONTAINER))
    session.create("/container/kid")
    session.call(p.CREATE_TTL, p.create_ttl_body("/ttl", b"t", p.OPEN_ACL, p.TTL, 0xFFFFFFFFFF))


def dump(server):
    """path -> (data, all Stat fields, ACL) of the whole tree."""
    session = Session(server)
    tree = {}
    level = ["/"]
    while level:
        reads = [(p.GET_CHILDREN2, p.path_watch_body(path)) for path in level]
        kids = [decoder.vector(decoder.string) for decoder in session.pipeline(reads)]
        datas = session.pipeline([(p.GET_DATA, p.path_watch_body(path)) for path in level])
        acls = session.pipeline([(p.GET_ACL, p.buffer(path)) for path in level])
        for path, data, acl in zip(level, datas, acls):
            tree[path] = (data.buffer(), tuple(data.stat().values()), tuple(acl.vector(acl.acl)))
        level = [f"{path.rstrip('/')}/{kid}" for path, names in zip(level, kids) for kid in sorted(names)
                 if path != "/vanishing"]
    session.call(p.CLOSE_SESSION)
    del tree["/vanishing"]
    return tree


def check_same_tree(before, after):
    check_equal(sorted(after.keys() - before.keys()), [], "nodes that were not there before")
    check_equal(sorted(before.keys() - after.keys()), [], "nodes that are missing")
    for path, expected in before.items():
        for what, mine, theirs in zip(("data", "Stat", "ACL"), after[path], expected):
            check_equal(mine, theirs, f"{what} of {path}")


def check_it_goes_on(server, owner):
    """Checks that need another write. Leaves the tree as it was, except for numbers that count."""
    session = Session(server)
    check_equal(session.create("/counter/n-", b"", p.OPEN_ACL, p.SEQUENTIAL), "/counter/n-0000000007")
    session.create("/quota/c", b"123")
    usage = session.call(p.GET_DATA, p.path_watch_body("/zookeeper/quota/quota/zookeeper_stats")).buffer()
    check_equal(usage, b"count=4,bytes=8", "quota usage")
    resumed = Session(server, session_id=owner.connection.session_id, password=owner.connection.password)
    check_equal(resumed.connection.session_id, owner.connection.session_id, "the resumed session")
    resumed.call(p.CLOSE_SESSION)
    check_equal(session.call(p.GET_CHILDREN, p.path_watch_body("/ephemeral")).vector(bytes), [],
                "ephemerals of a session that was closed after the change of hands")
    deadline = time.monotonic() + PATIENCE
    while session.exists("/vanishing/used") or session.exists("/vanishing/ttl"):
        check(time.monotonic() < deadline, "container or TTL node was not recognised")
    check(session.exists("/container") and session.exists("/ttl"), "a node vanished that should not")


def files(directory, pattern):
    return [path.name for path in pathlib.Path(directory).glob(f"version-2/{pattern}")]


def write_until_there_are(expected, directory, session):
    """Snapshots are taken in the background, by one thread: how many there are depends on the disk."""
    deadline = time.monotonic() + PATIENCE
    for pattern, least in expected:
        while len(files(directory, pattern)) < least:
            check(time.monotonic() < deadline, f"fewer than {least} {pattern}: {files(directory, '*')}")
            session.pipeline([(p.SET_DATA, p.set_data_body("/wide", b"more")) for _ in range(50)])


def hand_over(kinds, properties=None, end="kill", expect_files=()):
    """Builds on kinds[0], then each further kind opens what the one before it left."""
    directory = tempfile.mkdtemp(prefix="compat-data-")
    quick = {"znode.container.checkIntervalMs": "200"}
    try:
        with KINDS[kinds[0]](properties=properties, data_dir=directory, config=CONFIG) as server:
            owner = build(server)
            write_until_there_are(expect_files, directory, owner)
            tree = dump(server)
            getattr(server, end)()
        for position, kind in enumerate(kinds[1:], 1):
            last = position == len(kinds) - 1
            settings = {**(properties or {}), **(quick if last else {})}
            with KINDS[kind](properties=settings, data_dir=directory, config=CONFIG) as server:
                check_same_tree(tree, dump(server))
                if last:
                    check_it_goes_on(server, owner)
                else:
                    tree = change_a_little(server)
                    getattr(server, end)()
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def change_a_little(server):
    session = Session(server)
    session.create("/second_owner", b"was here")
    session.pipeline([(p.SET_DATA, p.set_data_body("/second_owner", b"%d" % n)) for n in range(200)])
    session.call(p.DELETE, p.path_version_body("/kinds/text"))
    session.call(p.CLOSE_SESSION)
    return dump(server)


SMALL_SNAPSHOTS = {"zookeeper.snapCount": "150"}
GZ = {"zookeeper.snapshot.compression.method": "gz", **SMALL_SNAPSHOTS}
SNAPPY = {"zookeeper.snapshot.compression.method": "snappy", **SMALL_SNAPSHOTS}


def java_killed_then_drover():
    hand_over(["java", "drover"])


def drover_killed_then_java():
    hand_over(["drover", "java"])


def java_with_many_snapshots_stopped_then_drover_then_java():
    hand_over(["java", "drover", "java"], SMALL_SNAPSHOTS, "stop", [("snapshot.*", 3), ("log.*", 3)])


def drover_with_many_snapshots_stopped_then_java_then_drover():
    hand_over(["drover", "java", "drover"], SMALL_SNAPSHOTS, "stop", [("snapshot.*", 3), ("log.*", 3)])


def java_gzip_snapshots_then_drover():
    hand_over(["java", "drover"], GZ, expect_files=[("snapshot.*.gz", 2)])


def drover_gzip_snapshots_then_java():
    hand_over(["drover", "java"], GZ, expect_files=[("snapshot.*.gz", 2)])


def java_snappy_snapshots_then_drover():
    hand_over(["java", "drover"], SNAPPY, expect_files=[("snapshot.*.snappy", 2)])


def drover_snappy_snapshots_then_java():
    hand_over(["drover", "java"], SNAPPY, expect_files=[("snapshot.*.snappy", 2)])


def logs_without_a_snapshot_are_trusted_once():
    """snapshot.trust.empty is for one start: it leaves a snapshot, and the next start does not need the key."""
    trusting = {"zookeeper.snapshot.trust.empty": "true"}
    directory = tempfile.mkdtemp(prefix="compat-data-")
    try:
        with KINDS["drover"](data_dir=directory, config=CONFIG) as server:
            owner = build(server)
            tree = dump(server)
            server.kill()
        for name in files(directory, "snapshot.*"):
            (pathlib.Path(directory) / "version-2" / name).unlink()
        with KINDS["drover"](properties=trusting, data_dir=directory, config=CONFIG) as server:
            deadline = time.monotonic() + PATIENCE
            while not files(directory, "snapshot.*"):
                check(time.monotonic() < deadline, "no snapshot was written")
            server.kill()
        with KINDS["drover"](data_dir=directory, config=CONFIG) as server:
            check_same_tree(tree, dump(server))
            Session(server, session_id=owner.connection.session_id, password=owner.connection.password)
    finally:
        shutil.rmtree(directory, ignore_errors=True)


CASES = [
    logs_without_a_snapshot_are_trusted_once, java_killed_then_drover, drover_killed_then_java,
    java_with_many_snapshots_stopped_then_drover_then_java,
    drover_with_many_snapshots_stopped_then_java_then_drover, java_gzip_snapshots_then_drover,
    drover_gzip_snapshots_then_java, java_snappy_snapshots_then_drover, drover_snappy_snapshots_then_java,
]

if __name__ == "__main__":
    only = sys.argv[1] if len(sys.argv) > 1 else None
    if only == "--java-only":  # The test of the test: the Java server hands over to itself.
        KINDS["drover"] = KINDS["java"]
        only = None
    try:
        sys.exit(run("data_dir", CASES, only))
    except MissingDependency as missing:
        print(f"data_dir: FAILED: {missing}\ndata_dir: 0 passed, 1 failed")
        sys.exit(1)
