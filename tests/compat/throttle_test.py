#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# ZooKeeper's throttles beside Java 3.9: with the same keys both servers accept and refuse the same handshakes and
# requests. What depends on timing is in replica/replica_throttle_test.cc.

import sys

import maven
import protocol as p
from servers import DroverServer, Java39Server, start_together
from suite import check_equal, run

SKIPPED = 77
NEVER_MS = 1_000_000


def both(properties, story):
    """Runs the story on both servers and compares."""
    settings = {f"zookeeper.{key}": str(value) for key, value in properties.items()}
    servers = start_together(Java39Server(properties=settings), DroverServer(properties=settings))
    try:
        java, drover = [story(server) for server in servers]
        check_equal(drover, java, "what drover did, beside Java")
        return drover
    finally:
        for server in servers:
            server.remove()


def shakes_hands(server, **fields):
    connection = p.Connection(server.port)
    return connection, connection.handshake(**fields) is not None


def handshakes_take_tokens():
    def story(server):
        return [shakes_hands(server)[1] for _ in range(5)]

    limits = {"connection_throttle_tokens": 3, "connection_throttle_fill_time": NEVER_MS}
    check_equal(both(limits, story), [True] * 3 + [False] * 2)


def weighed_handshakes_take_more_tokens_for_new_sessions():
    def story(server):
        first, accepted = shakes_hands(server)
        results = [accepted]
        for _ in range(4):
            results.append(shakes_hands(server, session_id=first.session_id, password=first.password)[1])
        results.append(shakes_hands(server)[1])
        return results

    limits = {"connection_throttle_tokens": 3, "connection_throttle_fill_time": NEVER_MS,
              "connection_throttle_weight_enabled": "true"}
    # Nine tokens: a new session takes three, a renewed one two.
    check_equal(both(limits, story), [True] * 4 + [False, False])


def a_large_request_beyond_the_limit_closes_its_connection():
    def story(server):
        results = []
        for size in (50, 5000, 50, 20000):
            connection = shakes_hands(server)[0]
            _, reply = connection.call(1, p.SET_DATA, p.set_data_body("/", b"x" * size))
            results.append(None if reply is None else p.reply_header(reply)[2])
        return results

    limits = {"largeRequestThreshold": 1000, "largeRequestMaxBytes": 10000}
    check_equal(both(limits, story), [0, 0, 0, None])


if __name__ == "__main__":
    try:
        maven.zookeeper_jars()
    except maven.Unreachable as unreachable:
        print(f"throttle: {unreachable}")
        sys.exit(SKIPPED)
    sys.exit(run("throttle", [handshakes_take_tokens, weighed_handshakes_take_more_tokens_for_new_sessions,
                              a_large_request_beyond_the_limit_closes_its_connection]))
