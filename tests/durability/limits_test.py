#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Hostile clients against one server with low limits. Each attack ends with an error or a closed connection,
# memory stays bounded, and whoever behaves is served all the time.
#
# The attacks run one after the other against the same process, as they would in life, and the last cases look
# at what is left of it.

import contextlib
import socket
import struct
import sys
import time

from harness import BAD_ARGUMENTS, NO_NODE, OK, Drover, Session, check, check_equal, is_closed, p, run, wait_until

FRAME_MAX = 4 << 20
DEADLINE_SECONDS = 1.0
# The server looks once a second for those who took too long.
SWEEP_SECONDS = 1.5
CONNECTIONS_PER_ADDRESS = 40
CONNECTIONS = 100
WATCHES_PER_SESSION = 1000
MULTI_OPERATIONS = 100000
IDENTITIES = 16
CHILDREN = 100000
LEVELS = 2000
MEGABYTE = 1 << 20

# Resident memory that one attack may cost while it lasts, beyond what was in use before it.
ATTACK_MB = 96
# What the server may hold at the end: 100,000 nodes, a few large ones, and its buffers.
END_MB = 400

SETTINGS = {
    "jute.maxbuffer": FRAME_MAX,
    "nio.sessionlessCnxnTimeout": int(DEADLINE_SECONDS * 1000),
    "frameTimeoutMs": int(DEADLINE_SECONDS * 1000),
    "maxCnxns": CONNECTIONS,
    "maxWatchesPerSession": WATCHES_PER_SESSION,
    "maxMultiOps": MULTI_OPERATIONS,
    "maxAuthIdsPerConnection": IDENTITIES,
    "4lw.commands.whitelist": "*",
    "preAllocSize": 1024,
}

server = Drover(properties=SETTINGS, config={"maxClientCnxns": CONNECTIONS_PER_ADDRESS, "maxSessionTimeout": 120000})


def connect_from(address):
    return socket.create_connection(("127.0.0.1", server.port), timeout=20, source_address=(address, 0))


class Bystander:
    """A well-behaved client from another address, which must be served whatever the others do."""

    def __enter__(self):
        self.session = Session(server.port, timeout_ms=60000, address="127.0.0.9")
        self.slowest = 0.0
        return self

    def look(self):
        began = time.monotonic()
        check(self.session.exists("/zookeeper"), "the bystander reads")
        self.slowest = max(self.slowest, time.monotonic() - began)
        check(self.slowest < 5.0, f"the bystander waited {self.slowest:.1f} s")

    def __exit__(self, kind, *_):
        if kind is None:
            self.look()
            err, _ = self.session.call(p.SET_DATA, p.set_data_body("/zookeeper", b""))
            check_equal(err, OK, "the bystander writes")
        self.session.close()


@contextlib.contextmanager
def bounded_memory(megabytes=ATTACK_MB):
    """Watches the peak, not only the end: writing 5 to clear_refs resets VmHWM."""
    with open(f"/proc/{server.process.pid}/clear_refs", "w", encoding="ascii") as file:
        file.write("5")
    before = server.memory_mb()
    yield
    grown = server.memory_mb("VmHWM") - before
    check(grown < megabytes, f"the attack cost {grown:.0f} MB at its peak, {megabytes} are allowed")


def connected():
    connection = p.Connection(server.port, timeout=30)
    check(connection.handshake(timeout_ms=10000) is not None, "a session")
    return connection


def counter(name):
    return int(server.monitor()["zk_" + name])


# ---- frames and records ------------------------------------------------------------------------------------


def frames_of_impossible_length_close_the_connection():
    rejected = counter("large_requests_rejected")
    attacks = 0
    with Bystander(), bounded_memory():
        for length in (-1, -2147483648, FRAME_MAX + 1, 0x7FFFFFFF, 0x40000000):
            for connection in (p.Connection(server.port), connected()):
                connection.send(struct.pack(">i", length) + b"x" * 100)
                check(is_closed(connection), f"a frame of {length} bytes closes the connection")
                connection.close()
                attacks += 1
    check_equal(counter("large_requests_rejected") - rejected, attacks, "large_requests_rejected")


def a_frame_of_the_full_length_is_only_paid_for_when_it_comes():
    """The length alone must not reserve memory: forty connections would cost forty times the limit."""
    with Bystander(), bounded_memory(32):
        connections = [connected() for _ in range(CONNECTIONS_PER_ADDRESS - 5)]
        for connection in connections:
            connection.send(struct.pack(">i", FRAME_MAX) + b"x" * 100)
        check_equal(server.word("ruok"), "imok", "ruok")
        for connection in connections:
            connection.close()


def counts_that_the_frame_cannot_hold_are_errors():
    huge = (0x7FFFFFFF, 0x10000000, 65536)
    with Bystander(), bounded_memory():
        for count in huge:
            bomb = p.int32(count)
            bodies = {
                p.CREATE: p.buffer("/bomb") + p.buffer(b"") + bomb,
                p.SET_ACL: p.buffer("/") + bomb,
                p.SET_DATA: p.buffer("/") + bomb,
                p.GET_DATA: bomb,
                p.EXISTS: bomb + b"/x",
                p.SET_WATCHES: p.int64(0) + bomb,
                p.SET_WATCHES2: p.int64(0) + p.int32(0) * 4 + bomb,
                p.MULTI: struct.pack(">ibi", p.CREATE, 0, -1) + bomb,
                p.RECONFIG: bomb,
            }
            for op, body in bodies.items():
                connection = connected()
                _, payload = connection.call(1, op, body)
                err = None if payload is None else p.reply_header(payload)[2]
                check(err is None or err < 0, f"{p.OP_NAMES[op]} with a count of {count}: answer {err}")
                connection.close()
            connection = p.Connection(server.port)
            connection.send(p.frame(struct.pack(">iqiq", 0, 0, 10000, 0) + bomb + b"x" * 8))
            check(is_closed(connection), f"a password of {count} bytes closes the connection")


# ---- slowness ----------------------------------------------------------------------------------------------


def a_first_frame_that_never_ends_closes_the_connection():
    expired = counter("sessionless_connections_expired")
    request = p.frame(p.connect_request())
    beginnings = (b"", request[:1], request[:4], request[:20], request[:-1])
    with Bystander():
        began = time.monotonic()
        connections = []
        for beginning in beginnings:
            connection = p.Connection(server.port)
            connection.send(beginning)
            connections.append(connection)
        for connection, beginning in zip(connections, beginnings):
            check(is_closed(connection, 10), f"{len(beginning)} bytes of a first frame: closed in the end")
        took = time.monotonic() - began
        check(took >= DEADLINE_SECONDS * 0.9, f"closed after {took:.1f} s, before the deadline")
    check_equal(counter("sessionless_connections_expired") - expired, len(beginnings), "sessionless_connections_expired")


def a_byte_now_and_then_does_not_extend_the_deadline():
    request = p.frame(p.connect_request())
    connection = p.Connection(server.port)
    connection.socket.settimeout(0.1)
    began = time.monotonic()
    closed = False
    for byte in request:
        with contextlib.suppress(TimeoutError):
            connection.send(bytes([byte]))
            # Waiting for an answer is the pause between two bytes.
            closed = connection.receive() is None
        if closed:
            break
    took = time.monotonic() - began
    check(closed, f"{len(request)} bytes in {took:.1f} s were not too slow")
    check(took < DEADLINE_SECONDS + SWEEP_SECONDS + 2, f"closed only after {took:.1f} s")


def a_request_that_has_begun_must_end():
    connection = connected()
    connection.send(struct.pack(">i", 1000) + b"x" * 500)
    check(is_closed(connection, 10), "half a request is not waited for any longer than the deadline")
    # Idleness between frames is no crime.
    idle = Session(server.port, timeout_ms=60000)
    other = p.Connection(server.port)
    check(is_closed(other, 10), "a connection without a session is closed")
    check(idle.exists("/"), "a session that was silent for as long is not")
    idle.close()


# ---- connections -------------------------------------------------------------------------------------------


def survivors(connections):
    """Those that the server has not closed: they get a session."""
    kept = []
    for connection in connections:
        with contextlib.suppress(OSError):
            connection.sendall(p.frame(p.connect_request(timeout_ms=10000)))
    for connection in connections:
        connection.settimeout(20)
        with contextlib.suppress(OSError):
            if connection.recv(100):
                kept.append(connection)
    return kept


def no_address_gets_more_than_its_connections():
    rejected = counter("connection_rejected")
    with Bystander() as bystander:
        flood = [connect_from("127.0.0.1") for _ in range(3 * CONNECTIONS_PER_ADDRESS)]
        kept = survivors(flood)
        check(0 < len(kept) <= CONNECTIONS_PER_ADDRESS, f"{len(kept)} of {len(flood)} connections were let in")
        bystander.look()
        for connection in flood:
            connection.close()
    check(counter_soon("connection_rejected") - rejected >= len(flood) - CONNECTIONS_PER_ADDRESS, "connection_rejected moved")
    connected().close()


def counter_soon(name):
    """The flood must have left before 127.0.0.1 may ask again."""
    return wait_until(lambda: try_counter(name), "the address may connect again")


def try_counter(name):
    with contextlib.suppress(OSError, KeyError):
        return counter(name)
    return None


def the_server_gets_no_more_than_its_connections():
    with Bystander() as bystander:
        flood = []
        for n in range(20, 26):
            flood += [connect_from(f"127.0.0.{n}") for _ in range(CONNECTIONS_PER_ADDRESS)]
        kept = survivors(flood)
        check(0 < len(kept) <= CONNECTIONS, f"{len(kept)} of {len(flood)} connections were let in")
        bystander.look()
        for connection in flood:
            connection.close()
    counter_soon("connection_rejected")


# ---- memory ------------------------------------------------------------------------------------------------


def make_large_node():
    session = Session(server.port)
    if not session.exists("/large"):
        session.create("/large", b"x" * MEGABYTE)
    session.close()


def idle_connections_keep_no_large_buffers():
    """Each has once read and once written a few megabytes; what it costs to keep it open is not that much."""
    make_large_node()
    with Bystander():
        before = server.memory_mb()
        sessions = [Session(server.port, timeout_ms=60000) for _ in range(CONNECTIONS_PER_ADDRESS - 5)]
        for session in sessions:
            check_equal(len(session.nodes(["/large"])["/large"][0]), MEGABYTE, "a large reply")
            # A large request in two parts, so that the first has to be kept for a moment.
            request = p.frame(struct.pack(">ii", session.xid + 1, p.SET_DATA)
                              + p.set_data_body("/large", b"x" * MEGABYTE))
            session.connection.socket.sendall(request[:MEGABYTE // 2])
            check_equal(server.word("ruok"), "imok", "ruok")
            session.connection.socket.sendall(request[MEGABYTE // 2:])
            session.xid += 1
            check_equal(session.answer()[0], OK, "a large request")
        grown = server.memory_mb() - before
        for session in sessions:
            session.close()
        check(grown < 24, f"{len(sessions)} idle connections hold {grown:.0f} MB")


def pipelined_reads_that_nobody_collects(first_requests):
    make_large_node()
    with Bystander() as bystander, bounded_memory():
        attackers = []
        for _ in range(4):
            connection = connected()
            connection.socket.setblocking(False)
            read = p.frame(struct.pack(">ii", 1, p.GET_DATA) + p.path_watch_body("/large"))
            with contextlib.suppress(BlockingIOError):
                connection.socket.send(first_requests + read * 1000)
            attackers.append(connection)
        # Each reply is a megabyte; a server that answered them all would hold four thousand of them.
        for _ in range(200):
            bystander.look()
        for connection in attackers:
            connection.close()


def a_reader_that_never_reads_costs_little():
    pipelined_reads_that_nobody_collects(b"")


def a_reader_that_never_reads_behind_a_write_costs_little():
    """The reads wait for the write and then all become due at once."""
    write = p.frame(struct.pack(">ii", 1, p.SET_DATA) + p.set_data_body("/large", b"x" * MEGABYTE))
    pipelined_reads_that_nobody_collects(write)


def memory_goes_back_when_the_clients_do():
    """Right behind the readers above, whose answers nobody collected."""
    used = server.memory_mb()
    check(used < 200, f"{used:.0f} MB resident with a tree of a few megabytes")


def a_reader_that_was_slow_gets_everything_in_the_end():
    make_large_node()
    session = Session(server.port)
    requests = [(p.GET_DATA, p.path_watch_body("/large"))] * 100
    session.send(requests)
    with Bystander() as bystander:
        for _ in range(50):
            bystander.look()
    for _ in requests:
        err, decoder = session.answer()
        check_equal((err, len(decoder.buffer())), (OK, MEGABYTE), "a reply after the pause")
    session.close()


def watches_beyond_the_limit_are_errors():
    with Bystander(), bounded_memory():
        session = Session(server.port)
        answers = session.pipeline([(p.EXISTS, p.path_watch_body(f"/none-{n}", True))
                                    for n in range(WATCHES_PER_SESSION + 500)])
        errors = [err for err, _ in answers]
        check(all(err == NO_NODE for err in errors[:WATCHES_PER_SESSION]), "watches up to the limit are set")
        check(all(err not in (OK, NO_NODE) for err in errors[WATCHES_PER_SESSION:]), f"beyond it: {set(errors)}")
        check(session.exists("/"), "the session goes on without more watches")
        check_equal(session.call(p.ADD_WATCH, p.buffer("/") + p.int32(1))[0] < 0, True, "addWatch at the limit")
        check(counter("watch_count") <= WATCHES_PER_SESSION, "watch_count")
        session.close()


def set_watches_with_a_hundred_thousand_paths_is_an_error():
    paths = [f"/{n}" for n in range(100000)]
    with Bystander(), bounded_memory():
        for op, body in ((p.SET_WATCHES, p.set_watches_body(0, exist=paths)),
                         (p.SET_WATCHES, p.set_watches_body(0, data=paths)),
                         (p.SET_WATCHES2, p.set_watches_body(0, persistent=paths, recursive=[]))):
            connection = connected()
            connection.request(1, op, body)
            err = reply_of(connection, 1)
            check(err is None or err < 0 or not body_sets_watches(body), f"{p.OP_NAMES[op]}: answer {err}")
            check(counter("watch_count") <= WATCHES_PER_SESSION, "watch_count")
            connection.close()


def body_sets_watches(body):
    """A data watch on a node that does not exist is an event and no watch."""
    return struct.unpack_from(">i", body, 8)[0] == 0


def reply_of(connection, xid):
    """The error of the reply to `xid`, past any number of events; None when the connection was closed."""
    while (payload := connection.receive()) is not None:
        if p.reply_header(payload)[0] == xid:
            return p.reply_header(payload)[2]
    return None


def a_multi_with_too_many_operations_is_an_error():
    check_op = (p.CHECK, p.path_version_body("/"))
    with Bystander(), bounded_memory(256):
        session = Session(server.port)
        err, _ = session.call(p.MULTI, p.multi_body([check_op] * (MULTI_OPERATIONS + 1)))
        check(err < 0, f"{MULTI_OPERATIONS + 1} operations: answer {err}")
        err, _ = session.call(p.MULTI, p.multi_body([check_op] * 1000))
        check_equal(err, OK, "a reasonable multi")
        session.close()


def nested_and_endless_multis_are_errors():
    inner = p.multi_body([(p.CHECK, p.path_version_body("/"))])
    with Bystander(), bounded_memory():
        for body in (p.multi_body([(p.MULTI, inner)] * 1000), p.multi_body([(p.CHECK, p.path_version_body("/"))], end=b""),
                     b"", struct.pack(">ibi", 9999, 0, -1) * 100):
            connection = connected()
            _, payload = connection.call(1, p.MULTI, body)
            check(payload is None or p.reply_header(payload)[2] < 0, "a malformed multi is an error")
            connection.close()


def a_path_of_a_megabyte_is_an_error():
    path = "/" + "x" * (MEGABYTE - 1)
    with Bystander(), bounded_memory():
        session = Session(server.port)
        check_equal(session.call(p.CREATE, p.create_body(path))[0], BAD_ARGUMENTS, "create")
        for op in (p.EXISTS, p.GET_DATA, p.GET_CHILDREN):
            check(session.call(op, p.path_watch_body(path, True))[0] < 0, p.OP_NAMES[op])
        check(session.call(p.SET_DATA, p.set_data_body(path, b""))[0] < 0, "setData")
        check(session.call(p.DELETE, p.path_version_body(path))[0] < 0, "delete")
        session.close()


def an_acl_with_a_hundred_thousand_entries_is_an_error():
    acl = [(31, "ip", f"10.{n >> 16}.{n >> 8 & 255}.{n & 255}") for n in range(100000)]
    with Bystander(), bounded_memory():
        session = Session(server.port)
        check(session.call(p.CREATE, p.create_body("/acl", b"", acl=acl))[0] < 0, "create")
        check(session.call(p.SET_ACL, p.set_acl_body("/", acl))[0] < 0, "setACL")
        session.close()


def identities_beyond_the_limit_close_the_connection():
    failed = counter("auth_failed_count")
    with Bystander(), bounded_memory():
        connection = connected()
        accepted = 0
        for n in range(10 * IDENTITIES):
            connection.request(p.AUTH_XID, p.AUTH, p.auth_body("digest", f"user{n}:password"))
            payload = connection.receive()
            if payload is None or p.reply_header(payload)[2] != OK:
                break
            accepted += 1
        check(0 < accepted <= IDENTITIES, f"{accepted} identities were accepted")
        check(is_closed(connection), "the connection is closed")
    check_equal(counter("auth_failed_count") - failed, 1, "auth_failed_count")


def a_flood_of_four_letter_words_is_survived():
    with Bystander() as bystander, bounded_memory():
        for n in range(300):
            # Some never read the answer, some do not even finish the word.
            with contextlib.closing(connect_from("127.0.0.1")) as connection:
                connection.sendall((b"mntr", b"cons", b"dump", b"ruo", b"wchp", b"srvr")[n % 6])
                if n % 50 == 0:
                    bystander.look()
    counter_soon("packets_received")


# ---- shapes of the tree ------------------------------------------------------------------------------------


def a_hundred_thousand_children_are_listed():
    with Bystander() as bystander:
        session = Session(server.port, timeout_ms=60000)
        session.create("/wide")
        for start in range(0, CHILDREN, 2000):
            parts = [(p.CREATE, p.create_body(f"/wide/child-{n:06}")) for n in range(start, start + 2000)]
            check_equal(session.call(p.MULTI, p.multi_body(parts))[0], OK, "multi of 2000 creates")
            bystander.look()
        with bounded_memory():
            for _ in range(5):
                check_equal(len(session.children("/wide")), CHILDREN, "children")
                bystander.look()
        session.close()


def two_thousand_levels_are_no_recursion():
    with Bystander():
        session = Session(server.port, timeout_ms=60000)
        paths = ["/d" * level for level in range(1, LEVELS + 1)]
        session.create_all([(path, b"") for path in paths])
        check(session.exists(paths[-1]), "the deepest node")
        check_equal(session.call(p.ADD_WATCH, p.buffer("/") + p.int32(1))[0], OK, "a recursive watch above it all")
        check_equal(session.call(p.SET_DATA, p.set_data_body(paths[-1], b"x"))[0], OK, "setData of the deepest")
        err, decoder = session.call(p.GET_ALL_CHILDREN_NUMBER, p.buffer("/d"))
        check_equal((err, decoder.int32()), (OK, LEVELS - 1), "getAllChildrenNumber")
        session.close()


# ---- what is left ------------------------------------------------------------------------------------------


def after_all_of_it_the_server_is_well():
    check(server.alive(), "the process lives")
    check_equal(server.word("ruok"), "imok", "ruok")
    used = server.memory_mb()
    check(used < END_MB, f"{used:.0f} MB resident, at most {END_MB} are allowed")
    facts = server.monitor()
    for name in ("connection_rejected", "large_requests_rejected", "sessionless_connections_expired",
                 "auth_failed_count", "packets_received", "packets_sent", "bytes_received_count"):
        check(int(facts["zk_" + name]) > 0, f"{name} moved")
    check(int(facts["zk_watch_count"]) == 0, "no watch is left of the clients that went away")
    errors = [line for line in server.said() if " ERROR " in line]
    check(not errors, f"errors in the log: {errors[:3]}")
    check(len(server.said()) < 1000, f"{len(server.said())} log lines: a flood must not flood the log")


def and_everything_is_there_after_a_kill():
    server.kill()
    server.start()
    session = Session(server.port)
    check_equal(len(session.children("/wide")), CHILDREN, "children")
    check(session.exists("/d" * LEVELS), "the deepest node")
    check_equal(session.nodes(["/large"])["/large"][0], b"x" * MEGABYTE, "the large node")
    check(not session.exists("/bomb") and not session.exists("/acl"), "nothing of what was refused")


if __name__ == "__main__":
    with server.start():
        code = run("limits", [
            frames_of_impossible_length_close_the_connection,
            a_frame_of_the_full_length_is_only_paid_for_when_it_comes,
            counts_that_the_frame_cannot_hold_are_errors,
            a_first_frame_that_never_ends_closes_the_connection,
            a_byte_now_and_then_does_not_extend_the_deadline,
            a_request_that_has_begun_must_end,
            no_address_gets_more_than_its_connections,
            the_server_gets_no_more_than_its_connections,
            idle_connections_keep_no_large_buffers,
            a_reader_that_never_reads_costs_little,
            a_reader_that_never_reads_behind_a_write_costs_little,
            memory_goes_back_when_the_clients_do,
            a_reader_that_was_slow_gets_everything_in_the_end,
            watches_beyond_the_limit_are_errors,
            set_watches_with_a_hundred_thousand_paths_is_an_error,
            a_multi_with_too_many_operations_is_an_error,
            nested_and_endless_multis_are_errors,
            a_path_of_a_megabyte_is_an_error,
            an_acl_with_a_hundred_thousand_entries_is_an_error,
            identities_beyond_the_limit_close_the_connection,
            a_flood_of_four_letter_words_is_survived,
            a_hundred_thousand_children_are_listed,
            two_thousand_levels_are_no_recursion,
            after_all_of_it_the_server_is_well,
            and_everything_is_there_after_a_kill,
        ], only=sys.argv[1] if len(sys.argv) > 1 else None)
    sys.exit(code)
