# SPDX-License-Identifier: Apache-2.0
#
# A client that knows what must be in the tree after a crash.
#
# Each worker owns a part of the tree and pipelines writes into it. A server applies one connection's writes
# in order, so after a crash the worker's part must look exactly as after the first k of its writes, for
# some k that is at least the number of acknowledged and at most the number of sent ones. Everything else
# that could go wrong (a lost write, a resurrected delete, half a multi, a write applied twice, a version
# that went back) makes it match no k at all.

import collections
import random
import selectors
import struct

from harness import BAD_VERSION, NO_NODE, NODE_EXISTS, OK, Session, check, check_equal, p

SEQUENTIAL_ROOT = "/sequential"
SESSION_MS = 30000
NODES_MAX = 120
WINDOW = 24

# A node as the model sees it. `ephemeral`: its owner must be the worker's session.
Node = collections.namedtuple("Node", "data version ephemeral")


class State(dict):
    """path -> Node; a sequential node whose name is not known yet is ("sequential", data)."""

    def apply(self, op):
        """The error that the server must answer with."""
        return getattr(self, "_" + type(op).__name__.lower())(op)

    def _create(self, op):
        if op.path in self:
            return NODE_EXISTS
        self[op.path] = Node(op.data, 0, op.ephemeral)
        return OK

    def _sequential(self, op):
        self["sequential", op.data] = Node(op.data, 0, False)
        return OK

    def _set(self, op):
        node = self.get(op.path)
        if node is None:
            return NO_NODE
        if op.version not in (-1, node.version):
            return BAD_VERSION
        self[op.path] = node._replace(data=op.data, version=node.version + 1)
        return OK

    def _delete(self, op):
        node = self.get(op.path)
        if node is None:
            return NO_NODE
        if op.version not in (-1, node.version):
            return BAD_VERSION
        del self[op.path]
        return OK

    def _multi(self, op):
        before = {part.path: self.get(part.path) for part in op.parts}
        for part in op.parts:
            err = self.apply(part)
            if err != OK:
                for path, node in before.items():
                    if node is None:
                        self.pop(path, None)
                    else:
                        self[path] = node
                return err
        return OK

    def learn_name(self, data, path):
        node = self.pop(("sequential", data), None)
        if node is not None:
            self[path] = node


class Create(collections.namedtuple("Create", "path data ephemeral")):
    op = p.CREATE2

    def body(self):
        return p.create_body(self.path, self.data, flags=p.EPHEMERAL if self.ephemeral else p.PERSISTENT)


class Sequential(collections.namedtuple("Sequential", "prefix data")):
    op = p.CREATE

    def body(self):
        return p.create_body(self.prefix, self.data, flags=p.SEQUENTIAL)


class Set(collections.namedtuple("Set", "path data version")):
    op = p.SET_DATA

    def body(self):
        return p.set_data_body(self.path, self.data, self.version)


class Delete(collections.namedtuple("Delete", "path version")):
    op = p.DELETE

    def body(self):
        return p.path_version_body(self.path, self.version)


class Multi(collections.namedtuple("Multi", "parts")):
    op = p.MULTI

    def body(self):
        return p.multi_body([(part.op, part.body()) for part in self.parts])


def touched(op):
    if isinstance(op, Multi):
        return [part.path for part in op.parts]
    return [("sequential", op.data)] if isinstance(op, Sequential) else [op.path]


class Worker:
    """One session with its part of the tree. `acknowledged` is the state after every answered write,
    `sent` after every write that may have reached the server."""

    def __init__(self, number, seed):
        self.root = f"/worker-{number}"
        self.prefix = f"{SEQUENTIAL_ROOT}/{number}-"
        self.random = random.Random(f"{seed}/{number}")
        self.acknowledged = State()
        self.sent = State()
        self.in_flight = collections.deque()
        self.known_names = set()    # of sequential nodes, also of deleted ones
        self.mzxids = {}            # of nodes whose last change was answered with a Stat
        self.serial = 0
        self.answered = 0
        self.highest_sequence = -1
        self.session = None
        self.buffer = bytearray()

    # ---- talking -------------------------------------------------------------------------------------

    def connect(self, port):
        """Opens the session, or resumes it; the server must not have forgotten it."""
        resumed = self.session
        last_zxid = resumed.last_zxid if resumed else 0
        self.session = Session(port, SESSION_MS, resume=resumed, last_zxid=last_zxid)
        self.buffer.clear()
        if resumed:
            check_equal(self.session.id, resumed.id, f"session of {self.root} after the restart")
        check(self.session.valid, f"session of {self.root} is valid")

    def prepare_tree(self):
        self.session.create(self.root)

    def fill_window(self, count):
        """Sends writes until `count` are unanswered."""
        frames = []
        while len(self.in_flight) < count:
            op = self.choose()
            self.session.xid += 1
            frames.append(p.frame(struct.pack(">ii", self.session.xid, op.op) + op.body()))
            self.in_flight.append((self.session.xid, op, self.sent.apply(op)))
        if frames:
            self.session.connection.socket.sendall(b"".join(frames))

    def take(self, chunk):
        """Bytes from the server: acknowledges what they answer."""
        self.buffer += chunk
        at = 0
        while len(self.buffer) - at >= 4:
            length = int.from_bytes(self.buffer[at:at + 4], "big")
            if len(self.buffer) - at < 4 + length:
                break
            self._on_reply(bytes(self.buffer[at + 4:at + 4 + length]))
            at += 4 + length
        del self.buffer[:at]

    def _on_reply(self, payload):
        xid, zxid, err = p.reply_header(payload)
        expected_xid, op, expected = self.in_flight.popleft()
        check_equal(xid, expected_xid, f"{self.root}: order of replies")
        self.answered += 1
        self.session.last_zxid = max(self.session.last_zxid, zxid)
        self.acknowledged.apply(op)
        decoder = p.Decoder(payload)
        decoder.at = 16
        if isinstance(op, Multi):
            err = self._first_error(op, decoder)
        check_equal(err, expected, f"{self.root}: answer to {op}")
        if err != OK:
            return
        for path in touched(op):
            self.mzxids.pop(path, None)
        if isinstance(op, Sequential):
            self._on_name(op, decoder.string())
        elif isinstance(op, (Create, Set)):
            if isinstance(op, Create):
                decoder.string()
            stat = decoder.stat()
            check_equal(stat.version, self.acknowledged[op.path].version, f"{op.path}: version as answered")
            self.mzxids[op.path] = stat.mzxid

    @staticmethod
    def _first_error(op, decoder):
        first = OK
        for _ in op.parts:
            kind, _done, err = decoder.int32(), decoder.boolean(), decoder.int32()
            first = first or err
            if kind == -1:
                decoder.int32()
            elif kind in (p.CREATE, p.CREATE2):
                decoder.string()
            if kind in (p.CREATE2, p.SET_DATA):
                decoder.stat()
        return first

    def _on_name(self, op, path):
        sequence = int(path[len(self.prefix):])
        check(path.startswith(self.prefix) and sequence > self.highest_sequence,
              f"{path}: sequence numbers rise (last: {self.highest_sequence})")
        self.highest_sequence = sequence
        self.known_names.add(path)
        self.acknowledged.learn_name(op.data, path)
        self.sent.learn_name(op.data, path)

    # ---- choosing ------------------------------------------------------------------------------------

    def _data(self):
        """Unique, so that it names the one write that can have put it there."""
        self.serial += 1
        return b"%s %d " % (self.root.encode(), self.serial) + b"." * self.random.choice((0, 10, 100, 1000))

    def _some_path(self):
        paths = [path for path in self.sent if isinstance(path, str)]
        return self.random.choice(paths) if paths else f"{self.root}/none"

    def _single(self):
        roll = self.random.random()
        version = self.random.choice((-1, -1, 7))
        if len(self.sent) >= NODES_MAX:
            return Delete(self._some_path(), version)
        if roll < 0.4:
            # Few names: a node that is deleted and created again tells resurrection from survival.
            name = f"{self.root}/n{self.random.randrange(NODES_MAX)}"
            return Create(name, self._data(), self.random.random() < 0.1)
        if roll < 0.8:
            return Set(self._some_path(), self._data(), version)
        return Delete(self._some_path(), version)

    def choose(self):
        roll = self.random.random()
        if roll < 0.12 and len(self.sent) < NODES_MAX:
            return Sequential(self.prefix, self._data())
        if roll < 0.25:
            return Multi([self._single() for _ in range(self.random.randrange(1, 6))])
        return self._single()

    # ---- judging -------------------------------------------------------------------------------------

    def observed(self):
        """The worker's part as the server shows it, the paths of sequential nodes whose name no answer told
        (in the state they go by their data), and every mzxid."""
        nodes = self.session.below(self.root)
        names = [name for name in self.session.children(SEQUENTIAL_ROOT)
                 if f"{SEQUENTIAL_ROOT}/{name}".startswith(self.prefix)]
        nodes.update(self.session.nodes([f"{SEQUENTIAL_ROOT}/{name}" for name in names]))
        state = State()
        new_names = {}
        for path, (data, stat) in nodes.items():
            check(stat.ephemeralOwner in (0, self.session.id), f"{path}: somebody else's ephemeral")
            key = path
            if path.startswith(self.prefix) and path not in self.known_names:
                key = ("sequential", data)
                check(key not in state, f"{path}: a sequential create was applied twice")
                new_names[data] = path
            state[key] = Node(data, stat.version, stat.ephemeralOwner != 0)
        return state, new_names, {path: stat.mzxid for path, (_, stat) in nodes.items()}

    def verify(self):
        """Compares with the server, adopts what it kept, returns how many unanswered writes it had made."""
        seen, new_names, mzxids = self.observed()
        unanswered = [op for _, op, _ in self.in_flight]
        uncertain = {path for op in unanswered for path in touched(op)}
        certain = {path: node for path, node in self.acknowledged.items() if path not in uncertain}
        self._check_same({path: node for path, node in seen.items() if path not in uncertain}, certain)
        for path in uncertain:
            self.mzxids.pop(path, None)
        check_equal({path: mzxids[path] for path in self.mzxids}, self.mzxids, f"{self.root}: every mzxid")

        candidate = State(self.acknowledged)
        seen_part = {path: node for path, node in seen.items() if path in uncertain}
        kept = self._matching_prefix(candidate, unanswered, uncertain, seen_part)
        check(kept is not None, f"{self.root}: the tree is not a prefix of what was sent: "
              f"seen {seen_part}, acknowledged {State(self.acknowledged)}, unanswered {unanswered}")
        for data, path in new_names.items():
            self.known_names.add(path)
            candidate.learn_name(data, path)
        self.acknowledged, self.sent = candidate, State(candidate)
        self.in_flight.clear()
        return kept

    @staticmethod
    def _matching_prefix(candidate, unanswered, uncertain, seen_part):
        for kept in range(len(unanswered) + 1):
            if {path: candidate[path] for path in uncertain if path in candidate} == seen_part:
                return kept
            if kept < len(unanswered):
                candidate.apply(unanswered[kept])
        return None

    def _check_same(self, seen, expected):
        for path, node in expected.items():
            check(path in seen, f"{path}: acknowledged and lost: {node}")
            check_equal(seen[path], node, f"{path}: acknowledged state")
        for path, node in seen.items():
            check(path in expected, f"{path}: nobody wrote this, or its delete was acknowledged: {node}")


def pump(workers, until, window=WINDOW):
    """Keeps every worker's window full until the server is gone or `until()` says so. Returns the writes
    answered meanwhile."""
    before = sum(worker.answered for worker in workers)
    with selectors.DefaultSelector() as selector:
        for worker in workers:
            worker.session.connection.socket.settimeout(10)
            selector.register(worker.session.connection.socket, selectors.EVENT_READ, worker)
        connected = set(workers)
        while connected and not until():
            for worker in list(connected):
                if len(worker.in_flight) <= window // 2:
                    try:
                        worker.fill_window(window)
                    except OSError:
                        pass  # It may have died between two requests; what it answered is still to be read.
            for key, _ in selector.select(timeout=0.05):
                try:
                    chunk = key.fileobj.recv(262144)
                except ConnectionError:
                    chunk = b""
                if chunk:
                    key.data.take(chunk)
                else:
                    selector.unregister(key.fileobj)
                    connected.discard(key.data)
    return sum(worker.answered for worker in workers) - before


def drain(workers):
    """Reads the answers to everything that is still in flight."""
    for worker in workers:
        while worker.in_flight:
            chunk = worker.session.connection.socket.recv(262144)
            check(chunk, f"{worker.root}: the connection ended before the answers came")
            worker.take(chunk)


def check_sequence_order(session):
    """Sequence numbers rise with the order of creation, over all workers."""
    nodes = session.below(SEQUENTIAL_ROOT)
    by_creation = sorted(nodes, key=lambda path: nodes[path][1].czxid)
    numbers = [int(path[-10:]) for path in by_creation]
    check_equal(numbers, sorted(set(numbers)), "sequence numbers in order of creation")
