#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
#
# Read-only mode (a server without a leader serves its last state) and local sessions (known to one server only).
# Each scenario sends the same raw requests to three Apache ZooKeeper 3.8.0 servers and to three drover servers;
# the replies must be equal, except for differences on purpose, which the scenario names. Then mixed ensembles, and
# clients of other projects.
#
#   sessions_test.py --only TEXT

import argparse
import contextlib
import re
import subprocess
import sys

from ensemble import DROVER, JAVA, Ensemble  # First: it makes tests/durability and tests/compat importable.
from harness import check, check_equal, p, wait_until
from servers import JVM_FLAGS, java_binary, java_classpath
from suite import run

READ_ONLY = {"readonlymode.enabled": "true", "zookeeper.4lw.commands.whitelist": "*"}
WORDS = {"zookeeper.4lw.commands.whitelist": "*"}
LOCAL = {"localSessionsEnabled": "true"}
UPGRADING = {**LOCAL, "localSessionsUpgradingEnabled": "true"}
TIMEOUT_MS = 4000

EPHEMERAL = p.create_body("/e", b"", flags=p.EPHEMERAL)


class Talk:
    """A connection and everything received on it, as text without ids and with zxids relative to the first."""

    def __init__(self, port, **handshake):
        self.connection = p.Connection(port, timeout=10.0)
        self.xid = 0
        self.answer = self.connection.handshake(**{"timeout_ms": TIMEOUT_MS, **handshake})

    @property
    def greeting(self):
        """The server's reaction to the handshake."""
        if self.answer is None:
            return "closed"
        if self.connection.timeout_ms == 0:
            return "expired"
        return "read-only" if self.answer[-1:] == b"\x01" else "read-write"

    def ask(self, op, body=b""):
        """(error name, zxid, body) or closed."""
        self.xid += 1
        self.connection.request(self.xid, op, body)
        while True:
            payload = self.connection.receive()
            if payload is None:
                return ("closed", None, None)
            xid, zxid, err = p.reply_header(payload)
            if xid == p.EVENT_XID:
                continue
            return (p.ERROR_NAMES.get(err, str(err)), zxid, payload[16:])

    def error(self, op, body=b""):
        return self.ask(op, body)[0]

    def close(self):
        self.connection.close()

    def is_closed(self):
        return self.connection.receive() is None


@contextlib.contextmanager
def talk(port, **handshake):
    conversation = Talk(port, **handshake)
    try:
        yield conversation
    finally:
        conversation.close()


def resume(conversation):
    return {"session_id": conversation.connection.session_id, "password": conversation.connection.password}


def alone(kind, **options):
    """Three servers, of which the third has lost the others after `/a` was written."""
    ensemble = Ensemble([kind] * 3, properties=READ_ONLY, **options)
    ensemble.start()
    with ensemble[3].client() as session:
        session.create("/a", b"1")
    ensemble.level()
    return ensemble


def lose_the_others(ensemble):
    ensemble[1].kill()
    ensemble[2].kill()
    wait_until(lambda: ensemble[3].word("isro") == "ro", "a read-only server", 60)


READS = [(p.EXISTS, p.path_watch_body("/a", True)), (p.GET_DATA, p.path_watch_body("/a")),
         (p.GET_CHILDREN, p.path_watch_body("/")), (p.GET_CHILDREN2, p.path_watch_body("/a")),
         (p.GET_ACL, p.buffer("/a")), (p.PING, b""), (p.WHO_AM_I, b""),
         (p.GET_EPHEMERALS, p.buffer("/")), (p.GET_ALL_CHILDREN_NUMBER, p.buffer("/a")),
         (p.SET_WATCHES, p.set_watches_body(0, ["/a"])), (p.ADD_WATCH, p.buffer("/a") + p.int32(0)),
         (p.GET_DATA, p.path_watch_body("/none"))]
CHANGES = [(p.CREATE, p.create_body("/b")), (p.CREATE2, p.create_body("/b")), (p.CREATE, EPHEMERAL),
           (p.CREATE_CONTAINER, p.create_body("/b", flags=p.CONTAINER)),
           (p.CREATE_TTL, p.create_ttl_body("/b", b"", p.OPEN_ACL, p.TTL, 1000)),
           (p.DELETE, p.path_version_body("/a")), (p.SET_DATA, p.set_data_body("/a", b"2")),
           (p.SET_ACL, p.set_acl_body("/a", p.OPEN_ACL)), (p.SYNC, p.buffer("/a")),
           (p.MULTI, p.multi_body([(p.DELETE, p.path_version_body("/a"))])),
           (p.RECONFIG, p.buffer(None) * 3 + p.int64(-1)), (p.CREATE, b"")]


def read_only_story(kind):
    """The replies and events of a scenario of read-only mode."""
    heard = []
    with alone(kind, config=LOCAL) as ensemble:
        server = ensemble[3]
        lose_the_others(ensemble)
        heard += mode_lines(server)
        with talk(server.port) as plain, talk(server.port, old_client=True) as old:
            heard += [plain.greeting, old.greeting]
        with talk(server.port, read_only=True) as reader:
            heard.append(reader.greeting)
            for op, body in READS + CHANGES:
                error, zxid, _ = reader.ask(op, body)
                heard.append((p.OP_NAMES[op], error, zxid - int(server.zxid(), 16)))
            with talk(server.port, read_only=True, **resume(reader)) as again:
                heard.append(("again", again.greeting, again.error(p.PING)))
                heard.append(("close", again.error(p.CLOSE_SESSION), again.is_closed()))
            with talk(server.port, read_only=True, **resume(reader)) as ended:
                heard.append(("after its end", ended.greeting))
        with talk(server.port, read_only=True, last_zxid=1 << 60) as ahead:
            heard.append(("ahead", ahead.greeting))
        with talk(server.port, read_only=True) as reader:
            ensemble.start(1, 2)
            heard.append(("a quorum is back", reader.is_closed()))
        heard += mode_lines(server)
    return heard


def mode_lines(server):
    """The answers of four-letter words about read-only mode."""
    state = re.findall(r"^zk_(?:server_state|peer_state)\t.*$", server.word("mntr"), re.MULTILINE)
    srvr = re.findall(r"^(?:READ-ONLY.*|Mode: .*)$", server.word("srvr"), re.MULTILINE)
    conf = re.findall(r"^(?:peerType|membership|serverId).*$", server.word("conf"), re.MULTILINE)
    dump = re.sub(r"0x\w+|\(\d+\)", "…", server.word("dump").split("ephemeral")[0]).splitlines()
    return [server.word("isro"), *state, *srvr, *conf, *dump[:2]]


def read_only_servers_answer_alike():
    java, drover = read_only_story(JAVA), read_only_story(DROVER)
    check_equal(drover, java, "a read-only server's answers")


def a_reader_needs_no_configured_local_sessions():
    """Java answers a new client with a ReplyHeader that no client can read, unless local sessions are on."""
    with alone(DROVER) as ensemble:
        lose_the_others(ensemble)
        with talk(ensemble[3].port, read_only=True) as reader:
            check_equal(reader.greeting, "read-only", "greeting")
            check_equal(reader.error(p.GET_DATA, p.path_watch_body("/a")), "OK", "getData")


def a_global_session_outlives_its_servers_read_only_mode():
    for kind in (JAVA, DROVER):
        with alone(kind, config={"maxSessionTimeout": 60000}) as ensemble:
            with talk(ensemble[3].port, timeout_ms=60000) as writer:
                check_equal(writer.error(p.CREATE, EPHEMERAL), "OK", f"{kind}: create")
                ensemble.level()
                lose_the_others(ensemble)
                with talk(ensemble[3].port, read_only=True, **resume(writer)) as again:
                    check_equal(again.greeting, "closed", f"{kind}: not expired, and not served")
                ensemble.start(1, 2)
                with talk(ensemble[3].port, timeout_ms=60000, **resume(writer)) as again:
                    check_equal(again.greeting, "read-write", f"{kind}: greeting")
                    check_equal(again.error(p.EXISTS, p.path_watch_body("/e")), "OK", f"{kind}: exists")


def kazoo_reads_from_a_read_only_server_and_goes_back():
    from kazoo.client import KazooClient, KeeperState
    from kazoo.exceptions import NotReadOnlyCallError
    with alone(DROVER, config=LOCAL) as ensemble:
        lose_the_others(ensemble)
        client = KazooClient(hosts=ensemble.hosts, read_only=True, timeout=10)
        client.start(timeout=30)
        try:
            wait_until(lambda: client.client_state == KeeperState.CONNECTED_RO, "a read-only client")
            check_equal(client.get("/a")[0], b"1", "what was written before")
            try:
                client.create("/b")
                raise AssertionError("a read-only server has created something")
            except NotReadOnlyCallError:
                pass
            ensemble.start(1, 2)
            wait_until(lambda: client.client_state == KeeperState.CONNECTED, "a client that may write", 60)
            check_equal(client.create("/b"), "/b", "create")
        finally:
            client.stop()
            client.close()


def zkcli_reads_from_a_read_only_server():
    said = {}
    for kind in (JAVA, DROVER):
        with alone(kind, config=LOCAL) as ensemble:
            lose_the_others(ensemble)
            jars = java_classpath("zookeeper.jar", "slf4j-nop.jar")
            shell = [java_binary(), *JVM_FLAGS, "-cp", jars, "org.apache.zookeeper.ZooKeeperMain", "-r",
                     "-server", ensemble[3].address]
            get = subprocess.run([*shell, "get", "/a"], capture_output=True, text=True, timeout=60, check=False)
            create = subprocess.run([*shell, "create", "/b"], capture_output=True, text=True, timeout=60,
                                    check=False)
            said[kind] = ("1" in get.stdout.splitlines(), create.returncode,
                          [line for line in create.stderr.splitlines() if "read-only" in line])
    check_equal(said[DROVER], said[JAVA], "zkCli -r")
    check(said[DROVER][0], "get /a")


def local_story(kinds, config, at_leader):
    """The replies to a client with a local session, with zxids relative to the first."""
    heard = []
    with Ensemble(kinds, config=config, properties=WORDS) as ensemble:
        ensemble.start()
        ensemble.level()
        leader = ensemble.leader()
        server = leader if at_leader else ensemble[1] if leader is not ensemble[1] else ensemble[2]
        elsewhere = next(member for member in ensemble if member is not server)
        before = int(server.zxid(), 16)

        def note(what, answer):
            error, zxid, body = answer
            heard.append((what, error, zxid and zxid - before, body if what.startswith("multi") else None))

        with talk(server.port) as client:
            heard.append(client.greeting)
            heard += session_lines(server)
            with talk(elsewhere.port, **resume(client)) as moved:
                heard.append(("elsewhere", moved.greeting))
            note("create", client.ask(p.CREATE, p.create_body("/a")))
            note("set", client.ask(p.SET_DATA, p.set_data_body("/a", b"2")))
            note("sync", client.ask(p.SYNC, p.buffer("/a")))
            note("multi", client.ask(p.MULTI, p.multi_body([(p.SET_DATA, p.set_data_body("/a", b"3", 99))])))
            note("ephemeral", client.ask(p.CREATE, EPHEMERAL))
            note("ephemeral again", client.ask(p.CREATE2, EPHEMERAL))
            note("multi ephemeral", client.ask(p.MULTI, p.multi_body(
                [(p.CREATE, p.create_body("/m", flags=p.EPHEMERAL))])))
            note("bad flags", client.ask(p.CREATE, p.create_body("/f", flags=99)))
            heard += session_lines(server)
            with talk(elsewhere.port, **resume(client)) as moved:
                heard.append(("elsewhere", moved.greeting))
        with talk(server.port) as client:
            note("close", client.ask(p.CLOSE_SESSION))
            heard.append(client.is_closed())
            with talk(server.port, **resume(client)) as again:
                heard.append(("after its end", again.greeting))
        with talk(server.port) as client:
            note("exists", client.ask(p.EXISTS, p.path_watch_body("/a")))
            name = resume(client)
        wait_until(lambda: metric(server, "local_sessions") == 0, "local sessions expire", 30)
        with talk(server.port, **name) as again:
            heard.append(("expired", again.greeting))
            heard.append(int(elsewhere.zxid(), 16) - before if config == LOCAL else None)
    return heard


def metric(server, name):
    return int(re.search(rf"^zk_{name}\t(\d+)$", server.word("mntr"), re.MULTILINE).group(1))


def session_lines(server):
    """Without the number of buckets: Java keeps empty ones for a while."""
    dump = re.sub(r"0x\w+|(?<=Sets )\(\d+\)", "…", server.word("dump").split("ephemeral")[0])
    return [(name, metric(server, name)) for name in ("local_sessions", "global_sessions")] + [
        line for line in dump.splitlines() if "expire at" not in line]


def local_sessions_are_alike(config, at_leader):
    def case():
        java, drover = (local_story([kind] * 3, config, at_leader) for kind in (JAVA, DROVER))
        check_equal(drover, java, "what a client with a local session receives")
        for kinds in ((DROVER, DROVER, JAVA), (JAVA, JAVA, DROVER)):
            check_equal(local_story(kinds, config, at_leader), java, f"the same in an ensemble of {kinds}")

    upgrade = "with" if config == UPGRADING else "without"
    case.__name__ = f"local sessions {upgrade} upgrade at the {'leader' if at_leader else 'follower'}"
    return case


# Requests on a connection that its session has left. Java also carries out an empty multi and the end of the session
# if the old server leads; here they only close the connection.
LATE = {"a write": (p.SET_DATA, p.set_data_body("/a", b"2")),
        "a write that fails": (p.DELETE, p.path_version_body("/none")),
        "a multi": (p.MULTI, p.multi_body([(p.SET_DATA, p.set_data_body("/a", b"2"))])),
        "a multi that fails": (p.MULTI, p.multi_body([(p.DELETE, p.path_version_body("/none"))]))}


def moved_story(kinds):
    """The replies on old connections of sessions that have moved, at the leader and at a follower, and what became of
    connections, sessions and data."""
    heard = {}
    with Ensemble(kinds, properties=WORDS) as ensemble:
        ensemble.start()
        leader = ensemble.leader()
        followers = [member for member in ensemble if member is not leader]
        with ensemble[3].client() as session:
            session.create("/a", b"1")
        ensemble.level()
        for place, old, new in (("leader", leader, followers[0]), ("follower", followers[0], followers[1])):
            for what, (op, body) in LATE.items():
                with talk(old.port) as client, talk(new.port, **resume(client)) as moved:
                    answer = client.error(op, body)
                    then = client.error(p.EXISTS, p.path_watch_body("/a")) if answer != "closed" else answer
                    data = moved.ask(p.GET_DATA, p.path_watch_body("/a"))
                    value = p.Decoder(data[2]).buffer() if data[2] else None
                    heard[what, place] = (moved.greeting, answer, then, data[0], value)
                    moved.ask(p.CLOSE_SESSION)
    return heard


def a_session_that_has_moved_leaves_dead_connections():
    java, drover = (moved_story([kind] * 3) for kind in (JAVA, DROVER))
    for case, expected in java.items():
        check_equal(drover[case], expected, f"{case}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", help="run the cases whose name contains this")
    arguments = parser.parse_args()
    cases = [read_only_servers_answer_alike, a_reader_needs_no_configured_local_sessions,
             a_global_session_outlives_its_servers_read_only_mode,
             kazoo_reads_from_a_read_only_server_and_goes_back, zkcli_reads_from_a_read_only_server,
             a_session_that_has_moved_leaves_dead_connections]
    cases += [local_sessions_are_alike(config, at_leader)
              for config in (LOCAL, UPGRADING) for at_leader in (True, False)]
    return run("sessions", cases, arguments.only)


if __name__ == "__main__":
    sys.exit(main())
