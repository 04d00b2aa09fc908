# SPDX-License-Identifier: Apache-2.0
#
# Attacks that a client can make with the protocol alone. Each attack gets the port of the server, and checks that
# the server answers with a protocol error or closes the connection. The ports between servers and the HTTP port are
# attacked by peer_attacks.py and http_attacks.py.

import contextlib
import socket
import struct

from digest_md5 import Login
from harness import (BATCH, NO_NODE, OK, Session, check, check_equal, four_letter_word, is_closed, p,
                     wait_until)

BAD_ARGUMENTS, AUTH_FAILED, QUOTA_EXCEEDED = -8, -115, -125
MEGABYTE = 1 << 20
WIDE_NODES = 100_000
CHANGES_OF_A_MULTI = 10_000
WATCHERS = 40
DEAF_CONNECTIONS = 280
LISTERS, LISTS = 8, 10
LOGINS = 200
SASL_TOKEN_BYTES = 64 << 10  # at most
USER, PASSWORD = "bob", "bobsecret"  # of the server that has logins


def session_of(port):
    return Session(port, timeout_ms=60000, patience=60.0)


def metric(port, name):
    lines = dict(line.split("\t", 1) for line in four_letter_word(port, "mntr", timeout=60).splitlines() if "\t" in line)
    return int(lines["zk_" + name])


def prepare(port):
    """Creates the nodes for the attacks: a large one, one with many children, and the one that the victim writes."""
    session = session_of(port)
    session.create("/victim")
    session.create("/large", b"x" * (MEGABYTE - 1000))
    session.create("/wide")
    for start in range(0, WIDE_NODES, 2000):
        parts = [(p.CREATE, p.create_body(f"/wide/{n:06}")) for n in range(start, start + 2000)]
        check_equal(session.call(p.MULTI, p.multi_body(parts))[0], OK, "multi of 2000 creates")
    session.call(p.CLOSE_SESSION)
    session.close()


def a_multi_read_of_one_large_node_many_times(port):
    """80 kB of request, 2 GB of reply."""
    session = session_of(port)
    body = p.multi_body([(p.GET_DATA, p.path_watch_body("/large"))] * 2000)
    check_equal(session.call(p.MULTI_READ, body)[0], QUOTA_EXCEEDED, "multiRead")
    check(session.exists("/large"), "the session continues")
    session.close()


def long_lists_of_children(port):
    """Copying one of them takes longer than a write should wait."""
    before = metric(port, "client_lists_in_pieces")
    with contextlib.ExitStack() as stack:
        sessions = [stack.enter_context(contextlib.closing(session_of(port))) for _ in range(LISTERS)]
        for session in sessions:
            session.send([(p.GET_CHILDREN, p.path_watch_body("/wide"))] * LISTS)
        for session in sessions:
            for _ in range(LISTS):
                err, decoder = session.answer()
                check_equal((err, decoder.int32()), (OK, WIDE_NODES), "getChildren")
    check_equal(metric(port, "client_lists_in_pieces") - before, LISTERS * LISTS, "lists in pieces")
    session = session_of(port)
    body = p.multi_body([(p.GET_CHILDREN, p.path_watch_body("/wide"))] * 2)
    check_equal(session.call(p.MULTI_READ, body)[0], QUOTA_EXCEEDED, "multiRead")
    session.close()


def thousands_of_counts_of_a_large_subtree(port):
    session = session_of(port)
    requests = [(p.GET_ALL_CHILDREN_NUMBER, p.buffer("/wide"))] * 5000
    session.send(requests)
    for _ in requests:
        err, decoder = session.answer()
        check_equal((err, decoder.int32()), (OK, WIDE_NODES), "getAllChildrenNumber")
    session.close()


def thousands_of_searches_among_ones_own_ephemerals(port):
    """The reply is small because none has the prefix; the work is not."""
    session = session_of(port)
    session.create_all([(f"/wide/e{n:05}", b"") for n in range(10_000)], flags=p.EPHEMERAL)
    for first in ([], [(p.SET_DATA, p.set_data_body("/victim", b""))]):  # the second time behind a write
        requests = first + [(p.GET_EPHEMERALS, p.buffer("/none"))] * 2000
        session.send(requests)
        for _ in requests:
            check_equal(session.answer()[0], OK, "getEphemerals")
    session.call(p.CLOSE_SESSION)
    session.close()


def a_quota_that_is_counted_again_and_again(port):
    session = session_of(port)
    session.create("/zookeeper/quota/wide")
    stats = "/zookeeper/quota/wide/zookeeper_stats"
    again = [(p.CREATE, p.create_body(stats)), (p.DELETE, p.path_version_body(stats))]
    for err, _ in session.pipeline(again * 1000):
        check_equal(err, OK, "a quota's count")
    session.create(stats)
    text = session.nodes([stats])[stats][0]
    check_equal(text, b"count=%d,bytes=0" % (WIDE_NODES + 1), "the count")
    session.pipeline([(p.DELETE, p.path_version_body(stats)), (p.DELETE, p.path_version_body("/zookeeper/quota/wide"))])
    session.close()


def watches_on_paths_of_a_megabyte(port):
    session = session_of(port)
    for n in range(150):
        path = f"/{n:06}" + "x" * (MEGABYTE - 100)
        for op, body in ((p.EXISTS, p.path_watch_body(path, True)), (p.ADD_WATCH, p.buffer(path) + p.int32(1)),
                         (p.SET_WATCHES, p.set_watches_body(0, exist=[path]))):
            check_equal(session.call(op, body)[0], BAD_ARGUMENTS, p.OP_NAMES[op])
    session.close()


def watches_on_many_long_paths(port):
    session = session_of(port)
    requests = [(p.EXISTS, p.path_watch_body(f"/{n:06}" + "x" * 65000, True)) for n in range(1500)]
    errors = [err for err, _ in session.pipeline(requests)]
    check(set(errors) == {NO_NODE, QUOTA_EXCEEDED}, f"watches until they are too many bytes: {set(errors)}")
    session.close()


def paths_that_the_old_hash_put_into_one_bucket(port):
    """A block that began with the hash's constant made its state 0, whatever was before it."""
    session = session_of(port)
    nullifier = struct.pack("<Q", 0xE7037ED1A0B428DB) + b"behind it"
    paths = [b"/watch-%08d/" % n + nullifier for n in range(24_000)]
    lists = [b"", paths, b""]
    body = p.int64(1 << 62) + b"".join(
        p.int32(len(each)) + b"".join(p.int32(len(path)) + path for path in each) for each in lists)
    check_equal(session.call(p.SET_WATCHES, body)[0], OK, "setWatches")
    session.close()


def recursive_watches_times_large_multis(port):
    """Watchers that do not read, and thousands of changes at once."""
    watchers = [session_of(port) for _ in range(WATCHERS)]
    for watcher in watchers:
        check_equal(watcher.call(p.ADD_WATCH, p.buffer("/") + p.int32(1))[0], OK, "addWatch")
    writer = session_of(port)
    change = (p.SET_DATA, p.set_data_body("/victim", b""))
    for _ in range(4):
        # As many at once as allowed, so that they are applied together.
        batch = [(p.MULTI, p.multi_body([change] * CHANGES_OF_A_MULTI))] * 8
        writer.send(batch)
        for _ in batch:
            check_equal(writer.answer()[0], OK, "multi")
    for session in [*watchers, writer]:
        session.close()


# 256 MiB of unsent output, and up to 128 MiB of events of one batch, twice while they are moved there.
recursive_watches_times_large_multis.megabytes = 512


def many_connections_that_read_nothing(port):
    """Each stays below its own limit, with one or two large replies; all together would hold half a gigabyte."""
    before = metric(port, "client_output_overflows")
    with contextlib.ExitStack() as stack:
        for _ in range(DEAF_CONNECTIONS):
            session = stack.enter_context(contextlib.closing(session_of(port)))
            session.connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            with contextlib.suppress(OSError):  # It may be closed already.
                session.send([(p.GET_DATA, p.path_watch_body("/large"))] * 16)
        wait_until(lambda: metric(port, "client_output_overflows") > before, "connections are closed")


many_connections_that_read_nothing.megabytes = 384


def large_identities_with_many_writes(port):
    """A follower sends them to its leader with every write."""
    session = session_of(port)
    connection = session.connection
    connection.request(p.AUTH_XID, p.AUTH, p.auth_body("digest", b"u" * 250_000 + b":p"))
    check_equal(p.reply_header(connection.receive())[2], AUTH_FAILED, "auth with a name of 250 kB")
    session.close()
    session = session_of(port)
    session.connection.request(p.AUTH_XID, p.AUTH, p.auth_body("digest", b"u" * 16_000 + b":p"))
    check_equal(p.reply_header(session.connection.receive())[2], OK, "auth with a name of 16 kB")
    requests = [(p.SET_DATA, p.set_data_body("/victim", b""))] * 8_000
    for start in range(0, len(requests), 20 * BATCH):
        part = requests[start:start + 20 * BATCH]
        session.send(part)
        for _ in part:
            check_equal(session.answer()[0], OK, "a write with a large identity")
    session.close()


def large_frames_of_strangers(port):
    """Before a connection has said who it is it may not fill the memory."""
    with contextlib.ExitStack() as stack:
        for _ in range(WATCHERS):
            stranger = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=20))
            with contextlib.suppress(OSError):
                stranger.sendall(struct.pack(">i", MEGABYTE - 1) + b"x" * (MEGABYTE - 10))
                check_equal(stranger.recv(1), b"", "what the server says to a large first frame")


def sasl_requests_where_no_login_is_configured(port):
    """What kazoo did at full speed: each answer without a token was a reason for the next request."""
    failures = metric(port, "client_sasl_failures")
    for _ in range(LOGINS):
        with contextlib.closing(session_of(port)) as session:
            session.send([(p.SASL, p.buffer(b""))] * 2000)
            check_equal(session.answer()[0], AUTH_FAILED, "the answer to a SASL request")
            check(is_closed(session.connection), "the client is closed, so that it gives up")
    check_equal(metric(port, "client_sasl_failures") - failures, LOGINS, "SASL requests that were looked at")


def begin_login(port):
    """A connection that has its challenge."""
    session = session_of(port)
    err, decoder = session.call(p.SASL, p.buffer(b""))
    check_equal(err, OK, "the first token")
    return session, decoder.buffer()


def is_refused(session, token):
    session.send([(p.SASL, p.buffer(token))])
    check_equal(session.answer()[0], AUTH_FAILED, "a token that is none")
    check(is_closed(session.connection), "the connection is closed")
    session.close()


def sasl_tokens_that_log_nobody_in(port):
    """Wrong, large, and too many ones, and logins that are begun and left."""
    with contextlib.ExitStack() as stack:
        for _ in range(LOGINS):
            stack.enter_context(contextlib.closing(begin_login(port)[0]))
        for n in range(LOGINS):
            is_refused(begin_login(port)[0], b"x" * (n * SASL_TOKEN_BYTES // LOGINS))
        for _ in range(20):
            is_refused(session_of(port), b"x" * (SASL_TOKEN_BYTES + 1))
            session, challenge = begin_login(port)
            session.send([(p.SASL, p.buffer(Login(challenge, USER, "wrong").response()))] * 2000)
            check_equal(session.answer()[0], AUTH_FAILED, "a wrong password")
            check(is_closed(session.connection), "there is one attempt for a connection")
            session.close()
        session, challenge = begin_login(port)
        err, _ = session.call(p.SASL, p.buffer(Login(challenge, USER, PASSWORD).response()))
        check_equal(err, OK, "the login of a user, while strangers have not finished theirs")
        session.call(p.CLOSE_SESSION)
        session.close()


ATTACKS = [
    a_multi_read_of_one_large_node_many_times,
    long_lists_of_children,
    thousands_of_counts_of_a_large_subtree,
    thousands_of_searches_among_ones_own_ephemerals,
    a_quota_that_is_counted_again_and_again,
    watches_on_paths_of_a_megabyte,
    watches_on_many_long_paths,
    paths_that_the_old_hash_put_into_one_bucket,
    recursive_watches_times_large_multis,
    many_connections_that_read_nothing,
    large_identities_with_many_writes,
    large_frames_of_strangers,
]
