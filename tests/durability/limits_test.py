#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Clients that send nonsense, send it slowly, or come in crowds, against one server with low limits. Each
# attack ends with an error or a closed connection, memory stays bounded, and who behaves is served.
#
# The attacks run one after the other against the same process, as they would in life, and the last case
# looks at what is left of it. What takes memory in legal ways is in memory_test.py.

import contextlib
import socket
import struct
import sys
import time

from harness import OK, Drover, Session, check, check_equal, is_closed, p, run
from hostile import CONNECTIONS, CONNECTIONS_PER_ADDRESS, DEADLINE_SECONDS, FRAME_MAX, IDENTITIES, Target

# The server looks once a second for those who took too long.
SWEEP_SECONDS = 1.5
# An almost empty tree, and buffers for a hundred connections.
END_MB = 128

server = Target()

# ---- frames and records ------------------------------------------------------------------------------------


def frames_of_impossible_length_close_the_connection():
    rejected = server.counter("large_requests_rejected")
    attacks = 0
    with server.bystander(), server.bounded_memory():
        for length in (-1, -2147483648, FRAME_MAX + 1, 0x7FFFFFFF, 0x40000000):
            for connection in (server.connection(), server.connected()):
                connection.send(struct.pack(">i", length) + b"x" * 100)
                check(is_closed(connection), f"a frame of {length} bytes closes the connection")
                connection.close()
                attacks += 1
    check_equal(server.counter("large_requests_rejected") - rejected, attacks, "large_requests_rejected")


def a_large_frame_uses_memory_only_as_it_arrives():
    """The length alone must not reserve memory: forty connections would cost forty times the limit."""
    with server.bystander(), server.bounded_memory(32):
        connections = [server.connected() for _ in range(CONNECTIONS_PER_ADDRESS - 5)]
        for connection in connections:
            connection.send(struct.pack(">i", FRAME_MAX) + b"x" * 100)
        check_equal(server.word("ruok"), "imok", "ruok")
        for connection in connections:
            connection.close()


def counts_that_the_frame_cannot_hold_are_errors():
    huge = (0x7FFFFFFF, 0x10000000, 65536)
    with server.bystander(), server.bounded_memory():
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
                connection = server.connected()
                _, payload = connection.call(1, op, body)
                err = None if payload is None else p.reply_header(payload)[2]
                check(err is None or err < 0, f"{p.OP_NAMES[op]} with a count of {count}: answer {err}")
                connection.close()
            connection = server.connection()
            connection.send(p.frame(struct.pack(">iqiq", 0, 0, 10000, 0) + bomb + b"x" * 8))
            check(is_closed(connection), f"a password of {count} bytes closes the connection")


# ---- slowness ----------------------------------------------------------------------------------------------


def a_first_frame_that_never_ends_closes_the_connection():
    expired = server.counter("sessionless_connections_expired")
    request = p.frame(p.connect_request())
    beginnings = (b"", request[:1], request[:4], request[:20], request[:-1])
    with server.bystander():
        began = time.monotonic()
        connections = []
        for beginning in beginnings:
            connection = server.connection()
            connection.send(beginning)
            connections.append(connection)
        for connection, beginning in zip(connections, beginnings):
            check(is_closed(connection, 10), f"{len(beginning)} bytes of a first frame: closed in the end")
        took = time.monotonic() - began
        check(took >= DEADLINE_SECONDS * 0.9, f"closed after {took:.1f} s, before the deadline")
    expired = server.counter("sessionless_connections_expired") - expired
    check_equal(expired, len(beginnings), "sessionless_connections_expired")


def single_bytes_do_not_extend_the_deadline():
    request = p.frame(p.connect_request())
    connection = server.connection()
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


def a_started_request_must_be_completed():
    connection = server.connected()
    connection.send(struct.pack(">i", 1000) + b"x" * 500)
    check(is_closed(connection, 10), "half a request is not waited for any longer than the deadline")
    # Idleness between frames is no crime.
    idle = Session(server.port, timeout_ms=60000)
    other = server.connection()
    check(is_closed(other, 10), "a connection without a session is closed")
    check(idle.exists("/"), "a session that was silent for as long is not")
    idle.close()


# ---- connections -------------------------------------------------------------------------------------------


def survivors(connections):
    """The connections that the server has not closed: they get a session."""
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


def connections_per_address_are_limited():
    rejected = server.counter("connection_rejected")
    with server.bystander() as bystander:
        flood = [server.connect_from("127.0.0.1") for _ in range(3 * CONNECTIONS_PER_ADDRESS)]
        kept = survivors(flood)
        check(0 < len(kept) <= CONNECTIONS_PER_ADDRESS, f"{len(kept)} of {len(flood)} were let in")
        bystander.look()
        for connection in flood:
            connection.close()
    rejected = server.counter_after_flood("connection_rejected") - rejected
    check(rejected >= len(flood) - CONNECTIONS_PER_ADDRESS, f"connection_rejected moved by {rejected}")
    server.connected().close()


def connections_of_the_server_are_limited():
    with server.bystander() as bystander:
        flood = []
        for n in range(20, 26):
            flood += [server.connect_from(f"127.0.0.{n}") for _ in range(CONNECTIONS_PER_ADDRESS)]
        kept = survivors(flood)
        check(0 < len(kept) <= CONNECTIONS, f"{len(kept)} of {len(flood)} were let in")
        bystander.look()
        for connection in flood:
            connection.close()
    server.counter_after_flood("connection_rejected")


def by_default_connections_leave_descriptors_for_files():
    """Java has no limit by default, and then cannot open its next log file. A quarter of a small limit is reserved."""
    # Small log files: the server must open new ones while all connections are in use.
    with Drover(properties={"zookeeper.txnLogSizeLimitInKb": 64}, descriptors=200).start() as crowded:
        writer = Session(crowded.port)
        flood = [socket.create_connection(("127.0.0.1", crowded.port), timeout=20) for _ in range(200)]
        kept = survivors(flood)
        check(130 <= len(kept) < 150, f"{len(kept)} of {len(flood)} were let in")
        for n in range(20):
            writer.create(f"/crowd-{n}", bytes(20_000))
        check(len(list(crowded.logs.glob("log.*"))) > 2, "new log files")
        for connection in flood:
            connection.close()


# ---- identities and words ------------------------------------------------------------------------------


def identities_beyond_the_limit_close_the_connection():
    failed = server.counter("auth_failed_count")
    with server.bystander(), server.bounded_memory():
        connection = server.connected()
        accepted = 0
        for n in range(10 * IDENTITIES):
            connection.request(p.AUTH_XID, p.AUTH, p.auth_body("digest", f"user{n}:password"))
            payload = connection.receive()
            if payload is None or p.reply_header(payload)[2] != OK:
                break
            accepted += 1
        check(0 < accepted <= IDENTITIES, f"{accepted} identities were accepted")
        check(is_closed(connection), "the connection is closed")
    check_equal(server.counter("auth_failed_count") - failed, 1, "auth_failed_count")


def a_flood_of_four_letter_words_is_survived():
    with server.bystander() as bystander, server.bounded_memory():
        for n in range(300):
            # Some never read the answer, some do not even finish the word.
            with contextlib.closing(server.connect_from("127.0.0.1")) as connection:
                connection.sendall((b"mntr", b"cons", b"dump", b"ruo", b"wchp", b"srvr")[n % 6])
                if n % 50 == 0:
                    bystander.look()
    server.counter_after_flood("packets_received")


def the_server_is_healthy_afterwards():
    server.check_well(END_MB, moved=(
        "connection_rejected", "large_requests_rejected", "sessionless_connections_expired",
        "auth_failed_count", "packets_received", "packets_sent", "bytes_received_count"))


if __name__ == "__main__":
    with server.start():
        code = run("limits", [
            frames_of_impossible_length_close_the_connection,
            a_large_frame_uses_memory_only_as_it_arrives,
            counts_that_the_frame_cannot_hold_are_errors,
            a_first_frame_that_never_ends_closes_the_connection,
            single_bytes_do_not_extend_the_deadline,
            a_started_request_must_be_completed,
            connections_per_address_are_limited,
            connections_of_the_server_are_limited,
            by_default_connections_leave_descriptors_for_files,
            identities_beyond_the_limit_close_the_connection,
            a_flood_of_four_letter_words_is_survived,
            the_server_is_healthy_afterwards,
        ], only=sys.argv[1] if len(sys.argv) > 1 else None)
    sys.exit(code)
