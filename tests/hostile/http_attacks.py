# SPDX-License-Identifier: Apache-2.0
#
# Attacks on the HTTP port. Each attack gets that port.

import concurrent.futures
import contextlib
import http.client
import select
import socket

from attacks import MEGABYTE
from harness import check, check_equal

SUPER = "digest super:admin"
SUPER_DIGEST = "super:xQJmxLMiHGwaqBvst5y6rkB6HQs="
INVENTED = ("digest a:b", "digest super:wrong", "ip 127.0.0.1", "x509 CN=super", "world anyone", "sasl super:admin",
            "super admin", "digest", "")
OK, BAD_REQUEST, NOT_PROVEN, REFUSED, TOO_MANY, UNAVAILABLE = 200, 400, 401, 403, 429, 503
UPLOADS = 16
SLOW = 300  # connections; 256 are kept
SLOW_BODIES = 100
BODY_BYTES = 2_000_000  # just below what a body may have
PATIENCE = 20.0


def ask(port, path, method="GET", body=None, proof=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    with contextlib.closing(connection):
        connection.request(method, path, body, {"Authorization": proof} if proof is not None else {})
        response = connection.getresponse()
        response.read()
        return response.status


def header(path, method, length, proof):
    return (f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {length}\r\n"
            f"Authorization: {proof}\r\n\r\n").encode()


def upload(port, proof, megabytes):
    """The status for a body of zeros, which is sent whatever the server says; None if it was just closed."""
    status = b""
    with contextlib.suppress(ConnectionError), \
            socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as stranger:
        stranger.sendall(header("/commands/restore", "POST", megabytes * MEGABYTE, proof))
        with contextlib.suppress(ConnectionError):
            for _ in range(megabytes):
                stranger.sendall(b"\0" * MEGABYTE)
        status = stranger.recv(4096)
    return int(status.split()[1]) if status else None


def at_once(times, function, *arguments):
    with concurrent.futures.ThreadPoolExecutor(times) as pool:
        return [each.result() for each in [pool.submit(function, *arguments) for _ in range(times)]]


def restores_by_strangers(port):
    for proof in INVENTED:
        check(ask(port, "/commands/restore", "POST", b"x", proof) in (NOT_PROVEN, REFUSED), f"{proof} proves nothing")
    statuses = set(at_once(UPLOADS, upload, port, "digest a:b", 64))
    check(statuses <= {REFUSED, None}, f"uploads of a stranger: {statuses}")


def restores_that_are_no_snapshots(port):
    """By the administrator himself, all at once: one is looked at, where restores are possible at all."""
    check(ask(port, "/commands/restore", "POST", b"x", SUPER) in (BAD_REQUEST, UNAVAILABLE), "one that is alone")
    statuses = at_once(UPLOADS, upload, port, SUPER, 16)
    check(set(statuses) <= {BAD_REQUEST, TOO_MANY, UNAVAILABLE, None}, f"uploads: {statuses}")
    check(statuses.count(BAD_REQUEST) <= 1, "one restore at a time")


def snapshots_with_an_invented_digest(port):
    for proof in INVENTED:
        statuses = set(at_once(UPLOADS, ask, port, "/commands/snapshot?streaming=true", "GET", None, proof))
        check(statuses <= {NOT_PROVEN, REFUSED}, f"{proof} proves nothing: {statuses}")


def is_probed(port):
    check_equal(ask(port, "/live"), OK, "a probe beside slow requests")
    check_equal(ask(port, "/metrics"), OK, "metrics beside slow requests")


def slow_requests(port):
    """One byte at a time, and bodies whose end never comes."""
    with contextlib.ExitStack() as stack:
        slow = [stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=PATIENCE))
                for _ in range(SLOW)]
        for byte in b"GET /commands/mon":
            for stranger in slow:
                with contextlib.suppress(ConnectionError):
                    stranger.send(bytes([byte]))
            is_probed(port)
    with contextlib.ExitStack() as stack:
        for _ in range(SLOW_BODIES):
            stranger = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=PATIENCE))
            with contextlib.suppress(ConnectionError):
                stranger.sendall(header("/commands/shed_connections", "POST", BODY_BYTES, "digest a:b"))
                if not select.select([stranger], [], [], 0)[0]:  # not refused yet
                    stranger.sendall(b" " * (BODY_BYTES - 1))
        is_probed(port)


ATTACKS = [
    restores_by_strangers,
    restores_that_are_no_snapshots,
    snapshots_with_an_invented_digest,
    slow_requests,
]
