#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
#
# Whatever a leader logs, every follower can read: large transactions, and sessions with more ephemeral nodes
# than one transaction can list. A mistake here is not an error message: no follower can ever follow that
# leader again. So each case ends with all servers at the same state, also after a restart.
#
#   limits_test.py --only TEXT --ephemerals 200000

import argparse
import re
import sys

from ensemble import DROVER, JAVA, Ensemble  # First: it makes tests/durability and tests/compat importable.
from harness import Drover, Session, check, check_equal, p, wait_until
from suite import run
import trees

MEBIBYTE = 1 << 20
LARGE_BUFFER = {"jute.maxbuffer": 4 * MEBIBYTE}
THREE_MB = 3_000_000
MARSHALLING_ERROR = -5
# With these a few thousand nodes do what otherwise takes a hundred thousand.
SMALL_BUFFER = {"jute.maxbuffer": 32_768, "zookeeper.jute.maxbuffer.extrasize": 1024}
TIMEOUT_MS = 4000
PARENTS = 1500
EXPIRY_SECONDS = 60

ephemerals = 3000  # of one session; see --ephemerals


def check_same_everywhere(ensemble):
    """All servers have the same tree after a write and after a restart, and no server had to take another's state."""
    ensemble.level()
    trees.check_same_everywhere(ensemble.running)
    for member in ensemble:
        if member.kind == DROVER:
            member.check_not_diverged()


def node_count(member):
    """None while the server does not serve."""
    found = re.search(r"^Node count: (\d+)$", member.word("srvr"), re.MULTILINE)
    return found and int(found.group(1))


def current_epoch(member):
    return int((member.files / "currentEpoch").read_text().split()[0])


def restart(ensemble):
    for member in ensemble:
        member.stop()
    ensemble.start()


def set_data(session, path, data):
    return session.call(p.SET_DATA, p.set_data_body(path, data))[0]


def a_large_value_is_logged_by_every_server(kinds):
    def case():
        with Ensemble(kinds, properties=LARGE_BUFFER) as ensemble:
            ensemble.start()
            ensemble.lead(ensemble[1])
            with ensemble[1].client() as session:
                session.create("/large")
            for member in ensemble:  # a follower forwards it
                with member.client() as session:
                    check_equal(set_data(session, "/large", b"x" * THREE_MB), 0, f"setData at {member}")
            check_same_everywhere(ensemble)
            restart(ensemble)
            check_same_everywhere(ensemble)
            # The same for a snapshot.
            wiped = ensemble[3]
            wiped.stop()
            wiped.wipe()
            ensemble.start(wiped.sid)
            check_same_everywhere(ensemble)
            with wiped.client() as session:
                check_equal(len(session.nodes(["/large"])["/large"][0]), THREE_MB, "bytes at the server that was wiped")
    case.__name__ = "a_large_value_is_logged_by_" + "_".join(kinds)
    return case


def a_follower_with_a_smaller_buffer_still_follows():
    with Ensemble([DROVER] * 3) as ensemble:
        for sid in (1, 2):
            ensemble[sid].properties.update(LARGE_BUFFER)
        ensemble.start()
        ensemble.lead(ensemble[2])
        with ensemble[2].client() as session:
            session.create("/large")
            check_equal(set_data(session, "/large", b"x" * THREE_MB), 0, "setData")
        check_same_everywhere(ensemble)
        # The other way round: its leader refuses what it would not log itself.
        ensemble[3].properties.pop("jute.maxbuffer", None)
        ensemble.lead(ensemble[3])
        with ensemble[1].client() as session:
            check_equal(set_data(session, "/large", b"y" * THREE_MB), MARSHALLING_ERROR, "setData")
            session.create("/small")
        check_same_everywhere(ensemble)


def own(session, root):
    """Makes the session's nodes, below so many parents that with a small buffer not even these can be listed."""
    parents = [root, *(f"{root}/parent-{i}" for i in range(PARENTS))]
    session.create_all([(path, b"") for path in parents])
    nodes = [(f"{root}/parent-{i % PARENTS}/an-ephemeral-node-{i:09}", b"") for i in range(ephemerals)]
    session.create_all(nodes, flags=p.EPHEMERAL)


def properties(leader=DROVER):
    # Java's leader lists every node in one transaction, however large: without a buffer for that, neither its
    # followers nor the leader itself could read it (ZOOKEEPER-4306).
    if leader == JAVA:
        buffer = {"jute.maxbuffer": 64 * MEBIBYTE}
    else:
        buffer = {} if ephemerals >= 100_000 else SMALL_BUFFER
    return {"zookeeper.4lw.commands.whitelist": "*", **buffer}


def a_session_with_many_ephemerals_ends(kinds, leader, expire):
    def case():
        with Ensemble(kinds, properties=properties(kinds[leader - 1])) as ensemble:
            ensemble.start()
            ensemble.lead(ensemble[leader])
            epoch = current_epoch(ensemble[leader])
            for sid in (leader, leader % 3 + 1):  # of the leader's own client, and of one that is forwarded
                session = Session(ensemble[sid].port, timeout_ms=TIMEOUT_MS if expire else 60_000, patience=120.0)
                own(session, f"/{sid}")
                left = node_count(ensemble[sid]) - ephemerals
                if expire:
                    session.connection.socket.close()
                else:
                    check_equal(session.call(p.CLOSE_SESSION)[0], 0, "close")
                for member in ensemble.running:
                    wait_until(lambda m=member, n=left: node_count(m) == n, f"no ephemerals at {member}",
                               EXPIRY_SECONDS)
                with ensemble[sid].client() as other:  # A sweep does not delete later nodes of others.
                    other.create(f"/{sid}/parent-0/an-ephemeral-node-{0:09}")
            check_same_everywhere(ensemble)
            check_equal(current_epoch(ensemble[leader]), epoch, "no new leader was elected: the epoch")
            restart(ensemble)
            check_same_everywhere(ensemble)
    case.__name__ = (f"a_session_with_many_ephemerals_{'expires' if expire else 'is_closed'}_with_"
                     + "_".join(kinds) + f"_led_by_{kinds[leader - 1]}")
    return case


def a_standalone_server_ends_and_replays_such_a_session():
    with Drover(properties=properties()) as server:
        server.start()
        session = server.session(timeout_ms=60_000, patience=120.0)
        own(session, "/alone")
        left = int(server.monitor()["zk_znode_count"]) - ephemerals
        check_equal(session.call(p.CLOSE_SESSION)[0], 0, "close")
        check_equal(int(server.monitor()["zk_znode_count"]), left, "nodes after the close")
        server.kill()
        server.start()
        check_equal(int(server.monitor()["zk_znode_count"]), left, "nodes after a restart")


def main():
    global ephemerals
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", help="run the cases whose name contains this")
    parser.add_argument("--ephemerals", type=int, default=ephemerals,
                        help="of one session; from 100000 on with the default jute.maxbuffer")
    arguments = parser.parse_args()
    ephemerals = arguments.ephemerals
    all_drover, mixed = [DROVER] * 3, [DROVER, DROVER, JAVA]
    return run("limits", [a_large_value_is_logged_by_every_server(all_drover),
                          a_large_value_is_logged_by_every_server(mixed),
                          a_follower_with_a_smaller_buffer_still_follows,
                          a_session_with_many_ephemerals_ends(all_drover, leader=1, expire=True),
                          a_session_with_many_ephemerals_ends(mixed, leader=2, expire=False),
                          a_session_with_many_ephemerals_ends(mixed, leader=2, expire=True),
                          a_session_with_many_ephemerals_ends(mixed, leader=3, expire=True),
                          a_standalone_server_ends_and_replays_such_a_session], arguments.only)


if __name__ == "__main__":
    sys.exit(main())
