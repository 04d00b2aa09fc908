# SPDX-License-Identifier: Apache-2.0
#
# Sends the same requests to two servers and compares the replies, the events between them, and the events of all
# other connections. workload.py and differential.py choose the requests; rules.py lists expected differences.

import dataclasses
import random
import socket
import struct

import protocol as p
import rules
from model import Identity, Model

LONG_TIMEOUT_MS = 600000
# Xids that no client sends: 0, those of events, pings, auth and setWatches, the ends of the range, repetitions.
ODD_XIDS = [0, p.EVENT_XID, p.PING_XID, -3, p.AUTH_XID, p.SET_WATCHES_XID, 1, 2**31 - 1, -2**31]
ODD_VERSIONS = [0, 0, 0, 1, 9, -1, 2**31 - 1, -2**31]
NOTHING_SENT = "nothing within 15 s"
WATCH_MODES = ["standard", "standard", "persistent", "recursive"]


class Difference(Exception):
    """Two servers answered differently, and no rule says why."""


@dataclasses.dataclass
class Client:
    """A client as both servers see it: one connection to each.

    It uses one mode of watches until it reconnects, because 3.8.0 forgets an older mode of the same path."""

    name: str
    session: str
    watch_mode: str = "standard"
    identity: Identity = dataclasses.field(default_factory=Identity)
    connections: list = None
    old_client: bool = False
    odd_xids: object = None  # Draws an xid; None: the client counts, as clients do.
    xid: int = 0
    watched: list = dataclasses.field(default_factory=list)

    def next_xid(self):
        if self.odd_xids is not None:
            return self.odd_xids()
        self.xid += 1
        return self.xid


def receive(connection):
    try:
        return connection.receive()
    except (socket.timeout, TimeoutError):
        return NOTHING_SENT


class Comparison:
    """Two servers, the clients that talk to both, and what we believe about the tree they hold.

    Both see one order of writes: a client has all its replies before another client sends."""

    def __init__(self, seed, servers, alter=None):
        self.rng = random.Random(seed)
        self.servers = servers
        self.same_kind = servers[0].name == servers[1].name
        self.differences = rules.Differences(*servers)
        self.model = Model()
        self.clients = []
        self.names = [rules.SessionNames() for _ in servers]
        self.readers = [rules.ReplyReader(names) for names in self.names]
        self.requests_sent = 0
        self.stale_watches = False
        self.doing = "start"
        self.alter = alter  # Test of the test: changes what the second server said.

    def compare(self, what, mine, theirs):
        if self.alter is not None:
            theirs = self.alter(what, theirs)
        if mine != theirs:
            raise Difference(f"{what} differs\n  {self.doing}\n  {self.servers[0].name:8} {mine!r}\n"
                             f"  {self.servers[1].name:8} {theirs!r}")

    # Connections.

    def connect(self, client, session_ids=(0, 0), passwords=(b"\0" * 16,) * 2, **fields):
        """Opens both connections and compares the handshakes, without ids and passwords."""
        self.doing = f"connect of {client.name} {fields} password={passwords[0]!r}"
        return self.greet(client, [
            p.frame(p.connect_request(session_id=session_id, password=password, **fields))
            for session_id, password in zip(session_ids, passwords)])

    def greet(self, client, frames):
        answers = []
        client.connections = [p.Connection(server.port) for server in self.servers]
        for side, connection in enumerate(client.connections):
            answer = connection.greet(frames[side])
            if answer is not None:
                if connection.session_id and connection.session_id not in self.names[side].names:
                    self.names[side].learn(connection.session_id, client.session)
                answer = (answer[:8], self.names[side].owner(connection.session_id),
                          len(connection.password), answer[36:], connection.password == b"\0" * 16)
            answers.append(answer)
        self.compare("ConnectResponse", *answers)
        return answers[0]

    def resume(self, client):
        """A new connection for the same session: watches and identities belong to the old one."""
        session_ids = [connection.session_id for connection in client.connections]
        passwords = [connection.password for connection in client.connections]
        self.close_connections(client)
        client.identity = Identity()
        client.watched = []
        client.watch_mode = self.rng.choice(WATCH_MODES)
        self.vary_handshake(client)
        self.connect(client, session_ids, passwords, timeout_ms=LONG_TIMEOUT_MS, old_client=client.old_client,
                     read_only=self.rng.randrange(4) == 0, version=self.rng.choice(ODD_VERSIONS))

    def vary_handshake(self, client):
        client.old_client = self.rng.randrange(6) == 0
        client.odd_xids = (lambda: self.rng.choice(ODD_XIDS)) if self.rng.randrange(4) == 0 else None

    def close_connections(self, client):
        for connection in client.connections:
            connection.close()

    # Requests and replies.

    def exchange(self, client, requests):
        """Sends `requests` at once; compares the replies, the events among them, then everybody's events."""
        frames = []
        for request in requests:
            request.xid = client.next_xid() if request.xid is None else request.xid
            frames.append(p.frame(struct.pack(">ii", request.xid, request.op) + request.body))
        for connection in client.connections:
            connection.send(b"".join(frames))
        streams = [[self.collect(connection, request.xid) for request in requests]
                   for connection in client.connections]
        possible = []
        for index, request in enumerate(requests):
            self.doing = f"{client.name} ({client.watch_mode}) request {index + 1} of {len(requests)}: " \
                         f"xid={request.xid} {request.describe()}"
            self.compare_answer(client, request, streams[0][index], streams[1][index], possible)
        self.requests_sent += len(requests)
        if any(connection.closed for connection in client.connections):
            self.compare("connection state", *[connection.closed for connection in client.connections])
            self.resume(client)
        elif self.stale_watches:
            self.resume(client)
        self.stale_watches = False
        self.barrier(client, possible)

    def collect(self, connection, xid=None):
        """Events until the next reply, and that reply. A reply to xid -1 is told from an event by its shape."""
        events = []
        while True:
            payload = receive(connection)
            if payload is None or payload == NOTHING_SENT or payload[:4] != b"\xff\xff\xff\xff":
                return events, payload
            if xid == p.EVENT_XID and not rules.Event.read(payload).is_one():
                return events, payload
            events.append(payload)

    def compare_answer(self, client, request, mine, theirs, possible):
        replies = []
        for side, (_, payload) in enumerate((mine, theirs)):
            silent = payload == NOTHING_SENT
            replies.append((NOTHING_SENT,) if silent else self.readers[side].read(request.op, payload))
        own = self.follow(client, request, replies[0])
        self.compare_events(client, self.told(client, request, mine[0]), theirs[0], own)
        possible += own
        self.compare("reply", self.explain(client, request, *replies), replies[1])
        if request.alone and replies[0][2:3] != ("OK",):
            self.compare("end of the connection", *[receive(connection) for connection in client.connections])

    def told(self, client, request, events):
        """The catch-up events of setWatches that the second server sends where the first sent `events`."""
        if (request.op not in (p.SET_WATCHES, p.SET_WATCHES2)
                or not self.differences.has("catch-up-needs-read-permission")):
            return events
        readable = [payload for payload in events if self.may_read(client, rules.Event.read(payload).path)]
        if len(readable) < len(events):
            rules.use("catch-up-needs-read-permission")
        return readable

    def may_read(self, client, path):
        node = self.model.nodes.get(path.decode("utf-8", "surrogateescape"))
        return node is None or client.identity.may_read(node.acl)

    def explain(self, client, request, mine, theirs):
        """The answer of the second server that matches the answer `mine` of the first."""
        node = self.model.nodes.get(request.path) if isinstance(request.path, str) else None
        unreadable = node is not None and not client.identity.may_read(node.acl)
        if (self.differences.has("exists-needs-read-permission") and request.op == p.EXISTS
                and mine[2:3] == ("OK",) and unreadable):
            rules.use("exists-needs-read-permission")
            self.stale_watches = request.watch  # 3.8.0 has registered it.
            return (*mine[:2], "NOAUTH", b"")
        return self.differences.explain_reply(request, mine, theirs)

    def compare_events(self, client, mine, theirs, possible):
        mine, theirs = [[rules.Event.read(payload) for payload in payloads] for payloads in (mine, theirs)]
        expected = self.differences.explain_events(mine, theirs, possible)
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

    # The effect of a successful request on the model.

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
