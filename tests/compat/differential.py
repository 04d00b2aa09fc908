#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# The differential test: the same requests to Apache ZooKeeper and to drover, and every reply and every watch
# event must be the same, in the same order.
#
#   differential.py                          what CI runs
#   differential.py --seed 7 --requests 900  one run again
#   differential.py --soak                   new seeds until interrupted
#   differential.py --servers java,java      the harness against itself: no difference may be found
#
# Three to five connections share a tree. A connection sends a burst of requests and gets all its replies
# before another one sends, so that both servers see one order of writes and their zxids must agree. After each
# burst every other connection sends a ping: what comes before the answer are the events of that burst.

import argparse
import dataclasses
import random
import socket
import struct
import sys
import time

import pinned
import protocol as p
import rules
from model import Identity, Model
from servers import KINDS, MissingDependency, start_together
from workload import Request, Workload

CI_SEEDS = (1, 2, 3, 4, 5, 6)
CI_REQUESTS = 2500
LONG_TIMEOUT_MS = 600000
NOTHING_SENT = "nothing within 15 s"
PROPERTIES = {"znode.container.checkIntervalMs": "100000000"}
CONFIG = {"maxSessionTimeout": 2 * LONG_TIMEOUT_MS}


class Difference(Exception):
    """Two servers answered differently, and no rule says why."""


@dataclasses.dataclass
class Client:
    """A client as both servers see it: one connection to each."""

    name: str
    session: str
    watch_mode: str = "standard"
    identity: Identity = dataclasses.field(default_factory=Identity)
    connections: list = None
    old_client: bool = False
    xid: int = 0
    watched: list = dataclasses.field(default_factory=list)

    def next_xid(self):
        self.xid += 1
        return self.xid


def receive(connection):
    try:
        return connection.receive()
    except (socket.timeout, TimeoutError):
        return NOTHING_SENT


class Run:
    def __init__(self, seed, requests, servers, pipelining=True, alter=None):
        self.rng = random.Random(seed)
        self.pipelining = pipelining
        self.stale_watches = False
        self.servers = servers
        self.same_kind = servers[0].name == servers[1].name
        self.requests_left = requests
        self.requests_sent = 0
        self.step = 0
        self.model = Model()
        self.clients = []
        self.workload = Workload(self.rng, self.model, self.clients)
        self.names = [rules.SessionNames() for _ in servers]
        self.readers = [rules.ReplyReader(names) for names in self.names]
        self.sessions = 0
        self.doing = "start"
        self.alter = alter  # Test of the test: changes what the second server said.

    # The run.

    def run(self):
        for index in range(self.rng.choice([3, 4, 5])):
            self.clients.append(self.new_client(f"c{index}"))
        actions = [(300, self.burst), (12, self.authenticate), (4, self.reconnect), (5, self.close_and_reopen),
                   (2, self.wrong_password), (3, self.bad_frame), (4, self.odd_connect)]
        weights = [weight for weight, _ in actions]
        while self.requests_left > 0:
            self.step += 1
            client = self.rng.choice(self.clients)
            self.rng.choices(actions, weights)[0][1](client)
        self.compare_four_letter_words()
        for client in self.clients:
            self.close_connections(client)

    def new_client(self, name):
        self.sessions += 1
        client = Client(name, f"session {self.sessions}", old_client=self.rng.randrange(6) == 0)
        client.watch_mode = self.rng.choice(["standard", "standard", "persistent", "recursive"])
        timeout = self.rng.choice([LONG_TIMEOUT_MS, LONG_TIMEOUT_MS, 2**31 - 1])
        self.connect(client, timeout_ms=timeout, old_client=client.old_client, version=self.rng.choice([0, 0, 9]))
        return client

    def connect(self, client, session_ids=(0, 0), passwords=(b"\0" * 16,) * 2, **fields):
        """Opens both connections and compares the handshakes, without ids and passwords."""
        answers = []
        client.connections = [p.Connection(server.port) for server in self.servers]
        for side, connection in enumerate(client.connections):
            answer = connection.handshake(session_id=session_ids[side], password=passwords[side], **fields)
            if answer is not None:
                if connection.session_id and connection.session_id not in self.names[side].names:
                    self.names[side].learn(connection.session_id, client.session)
                answer = (answer[:8], self.names[side].owner(connection.session_id),
                          len(connection.password), answer[36:], connection.password == b"\0" * 16)
            answers.append(answer)
        self.doing = f"connect of {client.name} {fields}"
        self.compare("ConnectResponse", *answers)
        return answers[0]

    def compare(self, what, mine, theirs):
        if self.alter is not None:
            theirs = self.alter(what, theirs)
        if mine != theirs:
            raise Difference(f"{what} differs\n  {self.doing}\n  {self.servers[0].name:8} {mine!r}\n"
                             f"  {self.servers[1].name:8} {theirs!r}")

    # Bursts.

    def burst(self, client):
        first = self.workload.next_request(client)
        requests = [first]
        if not first.ends_burst():
            for _ in range(self.rng.choice([0, 0, 1, 3, 7, 15]) if self.pipelining else 0):
                request = self.workload.next_request(client)
                if request.alone:
                    break
                requests.append(request)
                if request.ends_burst():
                    break
        self.exchange(client, requests)

    def exchange(self, client, requests):
        """Sends `requests` at once, compares all replies and the events among them, then everybody's events."""
        frames = []
        for request in requests:
            request.xid = client.next_xid() if request.xid is None else request.xid
            frames.append(p.frame(struct.pack(">ii", request.xid, request.op) + request.body))
        for connection in client.connections:
            connection.send(b"".join(frames))
        streams = [[self.collect(connection) for _ in requests] for connection in client.connections]
        possible = []
        for index, request in enumerate(requests):
            self.doing = f"{client.name} ({client.watch_mode}) request {index + 1} of {len(requests)}: " \
                         f"xid={request.xid} {request.describe()}"
            self.compare_answer(client, request, streams[0][index], streams[1][index], possible)
        self.requests_left -= len(requests)
        self.requests_sent += len(requests)
        if any(connection.closed for connection in client.connections):
            self.compare("connection state", *[connection.closed for connection in client.connections])
            self.resume(client)
        elif self.stale_watches:
            self.resume(client)
        self.stale_watches = False
        self.barrier(client, possible)

    def collect(self, connection):
        """Events until the next reply, and that reply."""
        events = []
        while True:
            payload = receive(connection)
            if payload is None or payload == NOTHING_SENT or payload[:4] != b"\xff\xff\xff\xff":
                return events, payload
            events.append(payload)

    def compare_answer(self, client, request, mine, theirs, possible):
        replies = []
        for side, (_, payload) in enumerate((mine, theirs)):
            replies.append((NOTHING_SENT,) if payload == NOTHING_SENT else self.readers[side].read(request.op, payload))
        own = self.follow(client, request, replies[0])
        self.compare_events(client, mine[0], theirs[0], own)
        possible += own
        self.compare("reply", self.explain(client, request, *replies), replies[1])
        if request.alone and replies[0][2:3] != ("OK",):
            self.compare("end of the connection", *[receive(connection) for connection in client.connections])

    def explain(self, client, request, mine, theirs):
        if self.same_kind or mine == theirs:
            return mine
        node = self.model.nodes.get(request.path) if isinstance(request.path, str) else None
        if request.op == p.EXISTS and node and not client.identity.may_read(node.acl):
            rules.use("exists-needs-read-permission")
            self.stale_watches = request.watch  # 3.8.0 has registered it.
            return (*mine[:2], "NOAUTH", b"")
        return rules.explain_reply(request, mine, theirs)

    def compare_events(self, client, mine, theirs, possible):
        mine, theirs = [[rules.Event.read(payload) for payload in payloads] for payloads in (mine, theirs)]
        expected = mine if self.same_kind else rules.explain_events(mine, theirs, possible)
        if any(event.unordered for event in possible):
            expected, theirs = [sorted(events, key=repr) for events in (expected, theirs)]
        self.compare(f"events at {client.name} ({client.watch_mode})", expected, theirs)

    def barrier(self, sender, possible):
        for client in self.clients:
            if client is sender:
                continue
            for connection in client.connections:
                connection.request(p.PING_XID, p.PING)
            mine, theirs = [self.collect(connection) for connection in client.connections]
            self.compare_events(client, mine[0], theirs[0], possible)
            self.compare(f"ping reply at {client.name}", mine[1], theirs[1])

    # What a request meant for the model, if it succeeded.

    def follow(self, client, request, reply):
        if len(reply) < 3 or reply[2] != "OK":
            return []
        possible = []
        for effect in request.effects:
            if effect[0] == "multi":
                for part, result in zip(effect[1], reply[3][1]):
                    if part is not None and result[0] != "error":
                        possible += self.apply(client, part, reply[1], result[2:])
            else:
                possible += self.apply(client, effect, reply[1], reply[3:])
        return possible

    def apply(self, client, effect, zxid, answer):
        kind = effect[0]
        if kind == "create":
            _, acl, ephemeral = effect
            return self.model.create(answer[0].decode("utf-8", "surrogateescape"), acl,
                                     client.session if ephemeral else None, client.identity, zxid)
        if kind == "delete":
            return self.model.delete(effect[1], zxid)
        if kind == "setData":
            return self.model.set_data(effect[1], zxid)
        if kind == "setACL":
            self.model.set_acl(effect[1], effect[2], client.identity)
        elif kind == "auth":
            client.identity.add(effect[1])
        elif kind == "close":
            return self.model.close_session(client.session, zxid)
        return []

    # Connections.

    def authenticate(self, client):
        self.exchange(client, [self.workload.auth(client)])

    def resume(self, client):
        """A new connection for the same session: watches and identities belong to the old one."""
        session_ids = [connection.session_id for connection in client.connections]
        passwords = [connection.password for connection in client.connections]
        self.close_connections(client)
        client.identity = Identity()
        client.watched = []
        client.watch_mode = self.rng.choice(["standard", "standard", "persistent", "recursive"])
        client.old_client = self.rng.randrange(6) == 0
        self.connect(client, session_ids, passwords, timeout_ms=LONG_TIMEOUT_MS, old_client=client.old_client)

    def close_connections(self, client):
        for connection in client.connections:
            connection.close()

    def reconnect(self, client):
        self.doing = f"{client.name} reconnects"
        if self.rng.randrange(2) == 0:
            self.resume(client)
            return
        old = client.connections  # Still open: the servers must end it when the session moves on.
        client.connections = list(old)
        session_ids, passwords = [c.session_id for c in old], [c.password for c in old]
        client.identity = Identity()
        client.watched = []
        self.connect(client, session_ids, passwords, timeout_ms=LONG_TIMEOUT_MS)
        for server, connection in zip(self.servers, old):
            connection.request(p.PING_XID, p.PING)
            # Java forgets to close it if an even older connection of the session ended a moment ago.
            if self.collect(connection)[1] is not None and server.name != "java":
                raise Difference(f"{server.name}: a session moved on and its old connection is still served")
            connection.close()

    def close_and_reopen(self, client):
        self.close_session(client)
        self.clients[self.clients.index(client)] = self.new_client(client.name)

    def close_session(self, client):
        session_ids = [connection.session_id for connection in client.connections]
        passwords = [connection.password for connection in client.connections]
        request = Request(p.CLOSE_SESSION, text=client.session, effects=[("close",)], xid=client.next_xid())
        for connection in client.connections:
            connection.request(request.xid, request.op)
        self.doing = f"{client.name} closes {client.session}"
        streams = [self.collect(connection) for connection in client.connections]
        possible = []
        self.compare_answer(client, request, *streams, possible)
        self.compare("after closeSession", *[receive(connection) for connection in client.connections])
        self.close_connections(client)
        self.requests_left -= 1
        self.requests_sent += 1
        self.barrier(client, possible)
        if self.rng.randrange(2):
            self.connect(client, session_ids, passwords, timeout_ms=LONG_TIMEOUT_MS)
            self.compare("after an invalid session", *[receive(connection) for connection in client.connections])
            self.close_connections(client)

    def wrong_password(self, client):
        """Refused; but 3.8.0 closes the session's own connection before it looks at the password."""
        old = client.connections
        session_ids = [connection.session_id for connection in old]
        self.connect(client, session_ids, (b"wrong password!!",) * 2, timeout_ms=LONG_TIMEOUT_MS)
        self.compare("after a wrong password", *[receive(connection) for connection in client.connections])
        self.close_connections(client)
        client.connections = old
        for connection in old:
            connection.request(p.PING_XID, p.PING)
        mine, theirs = [self.collect(connection)[1] for connection in old]
        if mine is None and theirs is not None and not self.same_kind:
            rules.use("wrong-password-disconnects-nobody")
        elif not self.same_kind:
            self.compare("the session's old connection", mine, theirs)
        self.resume(client)

    def bad_frame(self, client):
        data = self.rng.choice([
            struct.pack(">i", -1), struct.pack(">i", -2**31), struct.pack(">i", p.MAX_BUFFER + 1),
            struct.pack(">i", 2**31 - 1), p.frame(b""), p.frame(b"\0"), p.frame(b"\0" * 7), b"ruok", b"srvr",
            p.frame(struct.pack(">ii", p.AUTH_XID, p.AUTH)), p.frame(struct.pack(">ii", 5, p.SASL)),
            p.frame(struct.pack(">ii", p.AUTH_XID, p.AUTH) + b"\0\0"),
        ])
        self.doing = f"{client.name} sends {data!r}"
        for connection in client.connections:
            connection.send(data)
        self.compare("answer to a bad frame", *[self.collect(connection)[1] for connection in client.connections])
        self.resume(client)

    def odd_connect(self, unused_client):
        """Connections that never become a client."""
        visitor = Client("visitor", "none")
        whole = p.connect_request(timeout_ms=LONG_TIMEOUT_MS)
        draw = self.rng.randrange(8)
        if draw == 0:
            self.connect(visitor, last_zxid=2**50)
        elif draw == 1:
            self.connect(visitor, session_ids=(12345, 12345), timeout_ms=5000)
        elif draw == 2:
            self.connect(visitor, session_ids=(-1, -1), passwords=(None, None), old_client=True)
        else:
            data = self.rng.choice([p.frame(b""), p.frame(whole[:10]), p.frame(whole[:43]), struct.pack(">i", -5),
                                    struct.pack(">i", p.MAX_BUFFER + 1), b"GET / HTTP/1.0\r\n\r\n",
                                    p.frame(whole[:24] + p.int32(-2)), p.frame(whole[:24] + p.int32(2**30)),
                                    b"\xff\xf4\xff\xfd"])
            self.doing = f"a visitor sends {data!r}"
            visitor.connections = [p.Connection(server.port) for server in self.servers]
            for connection in visitor.connections:
                connection.send(data)
            self.compare("answer to a visitor", *[receive(connection) for connection in visitor.connections])
        self.close_connections(visitor)
        self.short_session()

    def short_session(self):
        """A session with a negotiated timeout, closed at once so that it cannot expire in the middle."""
        self.sessions += 1
        client = Client("short", f"session {self.sessions}")
        self.connect(client, timeout_ms=self.rng.choice([0, -1, 1, 3999, 4000, 4001, 60000, 2**31 - 1]),
                     passwords=(self.rng.choice([None, b"", b"abc", b"\1" * 16]),) * 2, last_zxid=-7)
        self.close_session(client)

    # Four-letter words: the lines that do not depend on the machine.

    def compare_four_letter_words(self):
        self.doing = "four-letter words"
        for word in ("ruok", "isro", "srvr", "wchs", "wchp", "xyzw"):
            deadline = time.monotonic() + 5
            while True:  # Closed connections leave the watch tables a moment later.
                mine, theirs = [pinned.neutral_four_letter_word(server.port, word, names)
                                for server, names in zip(self.servers, self.names)]
                if mine == theirs or time.monotonic() > deadline:
                    break
            self.compare(f"answer to {word}", mine, theirs)


def run_seed(seed, requests, kinds, pipelining=True, alter=None):
    """One seed on two fresh servers. Returns (requests compared, error text or None)."""
    properties = dict(PROPERTIES)
    if seed % 3 == 0:
        properties["zookeeper.enforceQuota"] = "true"
        pipelining = False  # ZooKeeper checks a quota against what is applied, not against what is pending.
    servers = start_together(*[KINDS[kind](config=CONFIG, properties=properties) for kind in kinds])
    run = Run(seed, requests, servers, pipelining, alter)
    try:
        run.run()
        return run.requests_sent, None
    except Difference as difference:
        return run.requests_sent, f"seed {seed}, step {run.step}, after {run.requests_sent} requests: {difference}"
    except (OSError, struct.error) as error:
        return run.requests_sent, f"seed {seed}, step {run.step}: {error!r} while: {run.doing}"
    finally:
        for server in servers:
            server.remove()


def replay_command(seed, requests, kinds):
    return f"tests/compat/differential.py --servers {','.join(kinds)} --seed {seed} --requests {requests}"


def run_seeds(seeds, requests, kinds, pipelining=True):
    passed = failed = total = 0
    for seed in seeds:
        started = time.monotonic()
        sent, error = run_seed(seed, requests, kinds, pipelining)
        total += sent
        if error is None:
            passed += 1
            print(f"differential: seed {seed}: {sent} requests equal ({time.monotonic() - started:.1f} s)", flush=True)
        else:
            failed += 1
            print(f"differential: DIFFERENCE at {error}\n  replay: {replay_command(seed, requests, kinds)}", flush=True)
    return passed, failed, total


def soak_seeds():
    seed = int(time.time())
    while True:
        yield seed
        seed += 1


def notices_altered_replies():
    """The test of the test: a server that is wrong in one answer must be caught."""
    def alter(what, value):
        if what == "reply" and len(value) > 3 and value[2] == "NONODE":
            return (*value[:2], "NOTEMPTY", *value[3:])
        return value

    def swallow(what, value):
        return value[1:] if what.startswith("events") else value

    caught = [run_seed(1, 400, ("java", "java"), alter=change)[1] is not None for change in (alter, swallow)]
    return all(caught)


def main():
    parser = argparse.ArgumentParser(description="Same requests to two servers, same answers expected.")
    parser.add_argument("--seed", type=int, action="append")
    parser.add_argument("--requests", type=int, default=CI_REQUESTS)
    parser.add_argument("--servers", default="java,drover")
    parser.add_argument("--soak", action="store_true", help="new seeds until interrupted")
    parser.add_argument("--one-by-one", action="store_true", help="wait for each reply before the next request")
    parser.add_argument("--self-test", action="store_true", help="prove that a wrong answer is noticed")
    arguments = parser.parse_args()
    kinds = tuple(arguments.servers.split(","))
    try:
        if arguments.self_test:
            ok = notices_altered_replies()
            print(f"differential self-test: {'wrong answers are noticed' if ok else 'FAILED'}")
            return 0 if ok else 1
        seeds = soak_seeds() if arguments.soak else arguments.seed or CI_SEEDS
        started = time.monotonic()
        passed, failed, total = run_seeds(seeds, arguments.requests, kinds, not arguments.one_by_one)
        if kinds == ("java", "drover") and arguments.seed is None:
            pinned_passed, pinned_failed = pinned.run_all()
            passed, failed = passed + pinned_passed, failed + pinned_failed
    except MissingDependency as missing:
        print(f"differential: FAILED: {missing}")
        return 1
    used = ", ".join(f"{rule.name} {rule.used}" for rule in rules.RULES.values() if rule.used)
    print(f"differential: rules used: {used or 'none'}")
    print(f"differential: {passed} passed, {failed} failed ({total} requests, {time.monotonic() - started:.0f} s)")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
