#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Clients that try to make one server hold more than it can: replies that are never read, watches, huge multis,
# paths and ACLs, and trees of unusual shape. Memory stays bounded at its peak, goes back afterwards, and who
# behaves is served.

import struct
import sys

from harness import BAD_ARGUMENTS, NO_NODE, OK, FailingDisk, Session, check, check_equal, p, run, wait_until
from hostile import CONNECTIONS_PER_ADDRESS, MULTI_OPERATIONS, WATCHES_PER_SESSION, Target, request_frame

CHILDREN = 100000
LEVELS = 2000
MEGABYTE = 1 << 20
# Enough to be noticed, and not so much that a server which fails the test takes the machine with it.
ATTACKERS = 2
READS = 300
# The time of a write behind which reads must queue.
SLOW_SYNC_MS = 700
QUIET_MB = 160
# 100,000 small nodes, a large one, and buffers.
END_MB = 300

server = Target()


def make_large_node():
    session = Session(server.port)
    if not session.exists("/large"):
        session.create("/large", b"x" * MEGABYTE)
    session.close()


def idle_connections_keep_no_large_buffers():
    """Each has once read and once written a few megabytes; what it costs to keep it open is not that much."""
    make_large_node()
    with server.bystander():
        before = server.memory_mb()
        sessions = [Session(server.port, timeout_ms=60000) for _ in range(CONNECTIONS_PER_ADDRESS - 5)]
        for session in sessions:
            check_equal(len(session.nodes(["/large"])["/large"][0]), MEGABYTE, "a large reply")
            # A large request in two parts, so that the first has to be kept for a moment.
            request = session.frame(p.SET_DATA, p.set_data_body("/large", b"x" * MEGABYTE))
            session.connection.socket.sendall(request[:MEGABYTE // 2])
            check_equal(server.word("ruok"), "imok", "ruok")
            session.connection.socket.sendall(request[MEGABYTE // 2:])
            check_equal(session.answer()[0], OK, "a large request")
        server.check_memory(before + 24, f"{len(sessions)} idle connections")
        for session in sessions:
            session.close()


def pipelined_reads_whose_replies_are_not_read(first_requests):
    make_large_node()
    with server.bystander() as bystander, server.bounded_memory():
        read = request_frame(1, p.GET_DATA, p.path_watch_body("/large"))
        attackers = [server.connected() for _ in range(ATTACKERS)]
        if first_requests:
            server.disk.arm(FailingDisk.FDATASYNC, "*/log.*", FailingDisk.DELAY, delay_ms=SLOW_SYNC_MS)
        for connection in attackers:
            connection.send(first_requests + read * READS)
        if first_requests:
            wait_until(lambda: server.disk.hits and not server.disk.inside, "the slow sync is over")
        # Each reply is a megabyte, and a server that answered them all would hold several hundred of them.
        for _ in range(200):
            bystander.look()
        for connection in attackers:
            connection.close()


def a_reader_that_never_reads_costs_little():
    pipelined_reads_whose_replies_are_not_read(b"")


def a_reader_that_never_reads_after_a_write_costs_little():
    """The reads wait for the write and then all become due at once."""
    write = request_frame(1, p.SET_DATA, p.set_data_body("/large", b"x" * MEGABYTE))
    pipelined_reads_whose_replies_are_not_read(write)


def memory_is_released_when_the_clients_leave():
    """Right behind the readers above, whose answers nobody collected."""
    server.check_memory(QUIET_MB, "a tree of a few megabytes and nobody connected")


def a_reader_that_was_slow_gets_everything_in_the_end():
    """Held back at the high-water mark, not dropped: every reply comes, in order."""
    make_large_node()
    session = Session(server.port)
    requests = [(p.GET_DATA, p.path_watch_body("/large"))] * 100
    session.send(requests)
    with server.bystander() as bystander:
        for _ in range(50):
            bystander.look()
    for _ in requests:
        err, decoder = session.answer()
        check_equal((err, len(decoder.buffer())), (OK, MEGABYTE), "a reply after the pause")
    session.close()


def watches_beyond_the_limit_are_errors():
    with server.bystander(), server.bounded_memory():
        session = Session(server.port)
        answers = session.pipeline([(p.EXISTS, p.path_watch_body(f"/none-{n}", True))
                                    for n in range(WATCHES_PER_SESSION + 500)])
        errors = [err for err, _ in answers]
        check(all(err == NO_NODE for err in errors[:WATCHES_PER_SESSION]), "watches up to the limit are set")
        beyond = set(errors[WATCHES_PER_SESSION:])
        check(not beyond & {OK, NO_NODE}, f"watches beyond the limit are errors: {beyond}")
        check(session.exists("/"), "the session continues without more watches")
        check(session.call(p.ADD_WATCH, p.buffer("/") + p.int32(1))[0] < 0, "addWatch at the limit")
        check(server.counter("watch_count") <= WATCHES_PER_SESSION, "watch_count")
        session.close()


def set_watches_with_a_hundred_thousand_paths_sets_no_more_than_the_limit():
    paths = [f"/{n}" for n in range(100000)]
    # Data watches on nodes that are gone become events at once, so there the answer may well be OK.
    attacks = {
        "exist watches": (p.SET_WATCHES, p.set_watches_body(0, exist=paths), True),
        "data watches": (p.SET_WATCHES, p.set_watches_body(0, data=paths), False),
        "persistent watches": (p.SET_WATCHES2, p.set_watches_body(0, persistent=paths, recursive=[]), True),
        "recursive watches": (p.SET_WATCHES2, p.set_watches_body(0, persistent=[], recursive=paths), True),
    }
    with server.bystander(), server.bounded_memory():
        for what, (op, body, must_fail) in attacks.items():
            connection = server.connected()
            connection.request(1, op, body)
            err = reply_of(connection, 1)
            check(not must_fail or err is None or err < 0, f"{what}: answer {err}")
            # A persistent watch stands in the data table and in the child table, and counts in both.
            most = WATCHES_PER_SESSION * (2 if what == "persistent watches" else 1)
            check(server.counter("watch_count") <= most, f"{what}: watch_count")
            connection.close()


def reply_of(connection, xid):
    """The error of the reply to `xid`, past any number of events; None when the connection was closed."""
    while (payload := connection.receive()) is not None:
        if p.reply_header(payload)[0] == xid:
            return p.reply_header(payload)[2]
    return None


def a_multi_with_too_many_operations_is_an_error():
    check_op = (p.CHECK, p.path_version_body("/"))
    with server.bystander(), server.bounded_memory(256):
        session = Session(server.port)
        err, _ = session.call(p.MULTI, p.multi_body([check_op] * (MULTI_OPERATIONS + 1)))
        check(err < 0, f"{MULTI_OPERATIONS + 1} operations: answer {err}")
        err, _ = session.call(p.MULTI, p.multi_body([check_op] * 1000))
        check_equal(err, OK, "a reasonable multi")
        session.close()


def nested_and_endless_multis_are_errors():
    inner = p.multi_body([(p.CHECK, p.path_version_body("/"))])
    with server.bystander(), server.bounded_memory():
        for body in (b"", p.multi_body([(p.MULTI, inner)] * 1000), inner[:-len(p.MULTI_END)],
                     struct.pack(">ibi", 9999, 0, -1) * 100):
            connection = server.connected()
            _, payload = connection.call(1, p.MULTI, body)
            check(payload is None or p.reply_header(payload)[2] < 0, "a malformed multi is an error")
            connection.close()


def a_path_of_a_megabyte_is_an_error():
    path = "/" + "x" * (MEGABYTE - 1)
    with server.bystander(), server.bounded_memory():
        session = Session(server.port)
        check_equal(session.call(p.CREATE, p.create_body(path))[0], BAD_ARGUMENTS, "create")
        for op in (p.EXISTS, p.GET_DATA, p.GET_CHILDREN):
            check(session.call(op, p.path_watch_body(path, True))[0] < 0, p.OP_NAMES[op])
        check(session.call(p.SET_DATA, p.set_data_body(path, b""))[0] < 0, "setData")
        check(session.call(p.DELETE, p.path_version_body(path))[0] < 0, "delete")
        session.close()


def an_acl_with_a_hundred_thousand_entries_is_an_error():
    acl = [(31, "ip", f"10.{n >> 16}.{n >> 8 & 255}.{n & 255}") for n in range(100000)]
    with server.bystander(), server.bounded_memory():
        session = Session(server.port)
        check(session.call(p.CREATE, p.create_body("/acl", b"", acl=acl))[0] < 0, "create")
        check(session.call(p.SET_ACL, p.set_acl_body("/", acl))[0] < 0, "setACL")
        session.close()


def a_hundred_thousand_children_are_listed():
    with server.bystander() as bystander:
        session = Session(server.port, timeout_ms=60000)
        session.create("/wide")
        for start in range(0, CHILDREN, 2000):
            parts = [(p.CREATE, p.create_body(f"/wide/child-{n:06}")) for n in range(start, start + 2000)]
            check_equal(session.call(p.MULTI, p.multi_body(parts))[0], OK, "multi of 2000 creates")
            bystander.look()
        with server.bounded_memory():
            for _ in range(5):
                check_equal(len(session.children("/wide")), CHILDREN, "children")
                bystander.look()
        session.close()


def two_thousand_levels_do_not_overflow_the_stack():
    with server.bystander():
        session = Session(server.port, timeout_ms=60000)
        paths = ["/d" * level for level in range(1, LEVELS + 1)]
        session.create_all([(path, b"") for path in paths])
        check(session.exists(paths[-1]), "the deepest node")
        err, _ = session.call(p.ADD_WATCH, p.buffer("/") + p.int32(1))
        check_equal(err, OK, "a recursive watch above it all")
        err, _ = session.call(p.SET_DATA, p.set_data_body(paths[-1], b"x"))
        check_equal(err, OK, "setData of the deepest")
        err, decoder = session.call(p.GET_ALL_CHILDREN_NUMBER, p.buffer("/d"))
        check_equal((err, decoder.int32()), (OK, LEVELS - 1), "getAllChildrenNumber")
        session.close()


def the_server_is_healthy_afterwards():
    server.check_well(END_MB, ("packets_received", "packets_sent", "bytes_received_count"))


def everything_is_there_after_a_kill():
    server.kill()
    server.start()
    session = server.session()
    check_equal(len(session.children("/wide")), CHILDREN, "children")
    check(session.exists("/d" * LEVELS), "the deepest node")
    check(session.nodes(["/large"])["/large"][0] == b"x" * MEGABYTE, "the large node")
    check(not session.exists("/acl"), "nothing of what was refused")


if __name__ == "__main__":
    with server.start():
        code = run("memory", [
            idle_connections_keep_no_large_buffers,
            a_reader_that_never_reads_costs_little,
            a_reader_that_never_reads_after_a_write_costs_little,
            memory_is_released_when_the_clients_leave,
            a_reader_that_was_slow_gets_everything_in_the_end,
            watches_beyond_the_limit_are_errors,
            set_watches_with_a_hundred_thousand_paths_sets_no_more_than_the_limit,
            a_multi_with_too_many_operations_is_an_error,
            nested_and_endless_multis_are_errors,
            a_path_of_a_megabyte_is_an_error,
            an_acl_with_a_hundred_thousand_entries_is_an_error,
            a_hundred_thousand_children_are_listed,
            two_thousand_levels_do_not_overflow_the_stack,
            the_server_is_healthy_afterwards,
            everything_is_there_after_a_kill,
        ], only=sys.argv[1] if len(sys.argv) > 1 else None)
    sys.exit(code)
