# SPDX-License-Identifier: Apache-2.0
#
# A client that sends random requests for a small tree, several at a time, and records the replies. When it loses
# its server, it moves its session to another one.

import itertools
import random
import struct
import threading
import time

from harness import check, check_equal, p
from operations import Event, History, Operation

SESSION_MS = 15000
ANSWER_SECONDS = 2.0  # A server that is silent for longer is left.
LEAVE_SECONDS = 50
# A server may serve so long without its leader, which then does not know that it heard of the session. (syncLimit,
# and the time to notice it.)
UNHEARD_SECONDS = 5.0
REGISTERS = 12
BATCH_MAX = 12
SEQUENTIAL_MAX = 40
ROOTS = ("/reg", "/seq", "/eph")

_connections = itertools.count(1)


class Left(Exception):
    """The connection is over, for whatever reason."""


class Client(threading.Thread):
    def __init__(self, number, seed, ports, pause=0.0):
        super().__init__(name=f"client {number}", daemon=True)
        self.number, self.ports, self.pause = number, ports, pause
        self.random = random.Random(f"{seed}/{number}")
        self.history = History()
        self.session, self.password, self.last_zxid = 0, bytes(16), 0
        self.xid = self.serial = self.expired = 0
        self.mine = []  # sequential nodes, to be deleted again
        self.connection = None
        self.number_of_connection = self.place = 0
        self.heard = 0.0  # when the last request was sent that was answered
        self.closing = False
        self.failure = None
        self.ending = threading.Event()
        self.answered = 0

    # ---- a session that moves ------------------------------------------------------------------------

    def run(self):
        try:
            while not self.ending.is_set():
                try:
                    self.connect()
                    while not self.ending.is_set():
                        self.perform(self.choose())
                except (Left, OSError):
                    self.ending.wait(0.02)
                finally:
                    if self.connection:
                        self.connection.close()
            self.leave()
        except BaseException as failure:  # Reported by the thread that waits for this client.
            self.failure = failure

    def leave(self):
        """Ends the session: one that expires later changes the tree while it is being judged."""
        deadline = time.monotonic() + LEAVE_SECONDS
        while self.session:
            check(time.monotonic() < deadline, "no server ends the session")
            try:
                self.connect()
                self.xid += 1
                self.closing = True
                self.connection.socket.sendall(p.frame(struct.pack(">ii", self.xid, p.CLOSE_SESSION)))
                if self.connection.receive() is not None:
                    self.session = 0
            except (Left, OSError):
                time.sleep(0.02)
            finally:
                self.connection.close()

    def connect(self):
        began = time.monotonic()
        self.connection = p.Connection(self.random.choice(self.ports), timeout=ANSWER_SECONDS)
        answer = self.connection.handshake(timeout_ms=SESSION_MS, session_id=self.session,
                                           password=self.password, last_zxid=self.last_zxid)
        if answer is None:
            raise Left
        if self.connection.timeout_ms == 0:
            self.expired += 1
            self.check_expiry()
            self.session, self.password = 0, bytes(16)
            raise Left
        check(self.session in (0, self.connection.session_id), "the session that was asked for")
        self.session, self.password = self.connection.session_id, self.connection.password
        self.number_of_connection, self.place = next(_connections), 0
        self.heard = began

    def check_expiry(self):
        """A session expires if no server has heard of it for its whole timeout: not if it kept its server."""
        silent = time.monotonic() - self.heard
        check(self.closing or silent > SESSION_MS / 1000 - UNHEARD_SECONDS,
              f"session {self.session:#x} has expired, although a server answered it {silent:.1f} s ago")

    def perform(self, operations):
        """Sends all at once, and returns when all are answered."""
        now = time.monotonic()
        frames = []
        for operation in operations:
            self.xid += 1
            operation.session, operation.connection = self.session, self.number_of_connection
            operation.xid, operation.called = self.xid, now
            frames.append(p.frame(struct.pack(">ii", self.xid, operation.op) + operation.body()))
        self.history.operations += operations
        self.connection.socket.sendall(b"".join(frames))
        for operation in operations:
            self.receive(operation)
        if self.pause:
            self.ending.wait(self.pause)

    def receive(self, operation):
        while True:
            payload = self.connection.receive()
            if payload is None:
                raise Left
            self.place += 1
            xid, zxid, _ = p.reply_header(payload)
            if xid != p.EVENT_XID:
                break
            self.history.events.append(Event(self.number_of_connection, self.place, payload))
        check_equal(xid, operation.xid, f"{self.name}: order of replies")
        self.last_zxid = max(self.last_zxid, zxid)
        operation.read_answer(payload)
        operation.returned, operation.place = time.monotonic(), self.place
        self.heard = operation.called
        self.answered += 1
        if operation.kind == "create" and operation.flags == p.SEQUENTIAL and operation.err == 0:
            self.mine.append(operation.result[0])

    # ---- what to do ----------------------------------------------------------------------------------

    def choose(self):
        return [self._choose_one() for _ in range(self.random.randint(1, BATCH_MAX))]

    def _choose_one(self):
        roll = self.random.random()
        if roll < 0.45:
            return self._read()
        if roll < 0.47:
            return Operation("sync", "/")
        if roll < 0.55:
            parts = tuple(self._register_write() for _ in range(self.random.randint(1, 3)))
            return Operation("multi", parts=parts)
        if roll < 0.62:
            return self._sequential()
        if roll < 0.68:
            return self._ephemeral()
        return self._register_write()

    def _read(self):
        kind = self.random.choice(("get", "get", "exists", "children"))
        path = self.random.choice(ROOTS) if kind == "children" else self._register()
        return Operation(kind, path, watch=self.random.random() < 0.2)

    def _register(self):
        return f"/reg/r{self.random.randrange(REGISTERS)}"

    def _data(self):
        """Unique, so that it names the one write that can have put it there."""
        self.serial += 1
        return b"%d.%d" % (self.number, self.serial)

    def _register_write(self):
        roll = self.random.random()
        version = self.random.choice((-1, -1, -1, self.random.randrange(4)))
        if roll < 0.6:
            return Operation("set", self._register(), self._data(), version)
        if roll < 0.85:
            return Operation("create", self._register(), self._data())
        return Operation("delete", self._register(), version=version)

    def _sequential(self):
        if len(self.mine) > SEQUENTIAL_MAX or (self.mine and self.random.random() < 0.4):
            return Operation("delete", self.mine.pop(0))
        return Operation("create", "/seq/n-", self._data(), flags=p.SEQUENTIAL)

    def _ephemeral(self):
        path = f"/eph/e{self.number}-{self.random.randrange(3)}"
        if self.random.random() < 0.5:
            return Operation("delete", path)
        return Operation("create", path, self._data(), flags=p.EPHEMERAL)


class Founder(Client):
    """Creates the roots, and nothing else: its writes are part of the history too."""

    def found(self):
        self.connect()
        self.perform([Operation("create", path) for path in ROOTS])
        self.connection.close()
        self.leave()
