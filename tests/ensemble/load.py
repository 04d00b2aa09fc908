# SPDX-License-Identifier: Apache-2.0
#
# Clients that write all the time and record acknowledged writes: pipelined raw sessions with the model of
# tests/durability, which knows the exact expected tree; kazoo; and ZooKeeper's own Java client.
#
# They write at a moderate, fixed pace. A test machine that is busy with the load cannot run elections in
# time, and how much a server misses while it is down must be the test's choice.

import contextlib
import logging
import select
import struct
import threading
import time

import java_client
from harness import OK, Session, check, check_equal, p, wait_until
from kazoo import exceptions
from kazoo.client import KazooClient
from kazoo.handlers.threading import KazooTimeoutError
from workload import SEQUENTIAL_ROOT, SESSION_MS, Worker, check_sequence_order

SILENCE_SECONDS = 3.0   # without an answer: another server may know more
BEAT_SECONDS = 0.05
PING_SECONDS = 1.0
CONNECT_SECONDS = 120
KAZOO_SESSION_SECONDS = 6.0
CALL_SECONDS = 20.0

logging.getLogger("kazoo").setLevel(logging.CRITICAL)  # Lost connections are what these tests are made of.


class Client(threading.Thread):
    """The common part of all clients: they pause on request, and say when no request is open any more."""

    def __init__(self, name):
        super().__init__(name=name, daemon=True)
        self.acknowledged_writes = 0
        self.failure = None
        self._wanted = threading.Event()
        self._idle = threading.Event()
        self._ending = threading.Event()

    def run(self):
        try:
            self.open()
            while not self._ending.is_set():
                if self._wanted.is_set():
                    self.write()
                elif not self._idle.is_set():
                    self.finish()
                    self._idle.set()
                else:
                    self.rest()
            self.close()
        except BaseException as failure:  # Reported by the thread that waits for this client.
            self.failure = failure

    def resume(self):
        self._idle.clear()
        self._wanted.set()

    def ask_to_pause(self):
        self._wanted.clear()

    def idle(self):
        self.check_healthy()
        return self._idle.is_set()

    def check_healthy(self):
        if self.failure is not None:
            raise AssertionError(f"{self.name}: {self.failure}") from self.failure

    def end(self):
        self._ending.set()

    def rest(self):
        self._ending.wait(BEAT_SECONDS)


class Roamer(Client):
    """A raw, pipelined session that goes to another server when its own is gone, takes its session along, and
    checks there that everything is as it must be."""

    def __init__(self, number, seed, members, window):
        super().__init__(f"raw session {number}")
        self.worker = RoamingWorker(number, seed)
        self.members, self.window = members, window
        self.heard = self.pinged = time.monotonic()

    def open(self):
        self.enter_somewhere()

    def enter_somewhere(self):
        """Finds a server that takes the session, and compares what it shows with what was acknowledged."""
        deadline = time.monotonic() + CONNECT_SECONDS
        while not self._ending.is_set():
            check(time.monotonic() < deadline, f"no server took the session in {CONNECT_SECONDS} s")
            with contextlib.suppress(OSError):
                if self._enter(self.worker.random.choice(self.members)):
                    self.heard = time.monotonic()
                    return
            self._ending.wait(BEAT_SECONDS)

    def _enter(self, member):
        before = self.worker.session
        last_zxid = before.last_zxid if before else 0
        try:
            session = Session(member.port, SESSION_MS, resume=before, last_zxid=last_zxid,
                              patience=SILENCE_SECONDS)
        except AssertionError:
            return False  # It does not serve, or it has not seen what this session has seen.
        check(session.valid, f"{member} says that the session has expired")
        check(before is None or session.id == before.id, f"{member} resumed another session")
        if before:
            before.close()
        self.worker.session = session
        self.worker.buffer.clear()
        self.worker.pings = 0
        if before is None:
            session.create(self.worker.root)
        else:
            self.compare()
        return True

    def compare(self):
        """A server may be behind the others, but not after `sync`."""
        err, _ = self.worker.session.call(p.SYNC, p.buffer("/"))
        check_equal(err, OK, "sync")
        self.worker.verify()

    def write(self):
        with self._moving_on():
            self.worker.fill_window(self.window)
            self._listen()

    def finish(self):
        while (self.worker.in_flight or self.worker.pings) and not self._ending.is_set():
            with self._moving_on():
                self._listen()
        with self._moving_on():
            self.compare()

    def rest(self):
        with self._moving_on():
            self._listen()

    @contextlib.contextmanager
    def _moving_on(self):
        try:
            yield
        except OSError:
            self.enter_somewhere()

    def _listen(self):
        """Reads what has arrived. OSError: the server is gone or sends nothing."""
        end = time.monotonic() + BEAT_SECONDS
        connection = self.worker.session.connection.socket
        while (left := end - time.monotonic()) > 0:
            if select.select([connection], [], [], left)[0]:
                chunk = connection.recv(262144)
                if not chunk:
                    raise ConnectionError("closed")
                self.worker.take(chunk)
                self.heard = time.monotonic()
        self.acknowledged_writes = self.worker.answered
        if time.monotonic() - self.pinged > PING_SECONDS:
            self.pinged = time.monotonic()
            self.worker.pings += 1
            connection.sendall(p.frame(struct.pack(">ii", p.PING_XID, p.PING)))
        if time.monotonic() - self.heard > SILENCE_SECONDS:
            raise TimeoutError("silence")

    def close(self):
        if self.worker.session:
            self.worker.session.close()


class RoamingWorker(Worker):
    """The model of tests/durability on a session that also pings."""

    pings = 0  # without an answer

    def _on_reply(self, payload):
        if p.reply_header(payload)[0] == p.PING_XID:
            self.pings -= 1
            return
        request = self.in_flight[0]
        try:
            super()._on_reply(payload)
        except struct.error as error:
            raise AssertionError(f"answer to {request} cannot be read: {payload.hex()}") from error


class Ledger:
    """Numbered writes of a client that waits for each: even ones create a node, odd ones set the counter."""

    def __init__(self, root):
        self.root = root
        self.outcomes = []  # of write 0, 1, …: True when acknowledged, False when nobody knows

    def check_in(self, tree):
        creates = {f"{self.root}/n{n}": sure for n, sure in enumerate(self.outcomes) if n % 2 == 0}
        lost = [path for path, sure in creates.items() if sure and path not in tree]
        check(not lost, f"{len(lost)} acknowledged nodes are lost, for example {lost[:3]}")
        there = {path for path in tree if path.startswith(self.root + "/n")}
        check(there <= creates.keys(), f"nobody wrote {sorted(there - creates.keys())[:3]}")
        self._check_counter(*tree[f"{self.root}/counter"][:2])

    def _check_counter(self, data, stat):
        sets = [(n, sure) for n, sure in enumerate(self.outcomes) if n % 2 == 1]
        sure = [n for n, acknowledged in sets if acknowledged]
        last = sure[-1] if sure else -1
        possible = {last} | {n for n, acknowledged in sets if not acknowledged and n > last}
        check(int(data) in possible, f"{self.root}/counter is {data!r}, expected one of {sorted(possible)}")
        version = p.Stat(*stat).version
        check(len(sure) <= version <= len(sets),
              f"{self.root}/counter was set {version} times: acknowledged {len(sure)} of {len(sets)}")


class KazooWriter(Client):
    """Python's client. A call that ends without an answer is unknown, and the next one is the next number."""

    UNKNOWN = (exceptions.ConnectionLoss, exceptions.SessionExpiredError, exceptions.ConnectionClosedError,
               exceptions.OperationTimeoutError, exceptions.SessionMovedError, KazooTimeoutError)

    def __init__(self, hosts, **options):
        super().__init__("kazoo")
        self.ledger = Ledger("/kazoo")
        self.client = KazooClient(hosts=hosts, timeout=KAZOO_SESSION_SECONDS, **options)

    def open(self):
        self.client.start(timeout=CONNECT_SECONDS)
        self._create_once("/kazoo")
        self._create_once("/kazoo/counter", b"-1")

    def _create_once(self, path, data=b""):
        while not self._ending.is_set():
            try:
                self.client.create(path, data)
                return
            except exceptions.NodeExistsError:
                return
            except self.UNKNOWN:
                self._ending.wait(BEAT_SECONDS)

    def write(self):
        number = len(self.ledger.outcomes)
        text = str(number).encode()
        try:
            if number % 2 == 0:
                self.client.create_async(f"/kazoo/n{number}", text).get(timeout=CALL_SECONDS)
            else:
                self.client.set_async("/kazoo/counter", text).get(timeout=CALL_SECONDS)
            self.ledger.outcomes.append(True)
            self.acknowledged_writes += 1
        except self.UNKNOWN:
            self.ledger.outcomes.append(False)
        self._ending.wait(BEAT_SECONDS / 2)

    def finish(self):
        pass

    def close(self):
        self.client.stop()
        self.client.close()


class JavaWriter:
    """ZooKeeper's own client, in a process that outlives ensembles because it takes a second to start."""

    name = "java client"

    def __init__(self, hosts):
        self.ledger = Ledger("/java")
        self.hosts = hosts
        self.process = java_client.shared()

    def start(self):
        self.process.open(self.hosts, self.ledger.outcomes)

    @property
    def acknowledged_writes(self):
        return sum(self.ledger.outcomes)

    def resume(self):
        self.process.say("resume")

    def ask_to_pause(self):
        self.process.say("pause")

    def idle(self):
        self.check_healthy()
        return self.process.idle

    def check_healthy(self):
        check(self.process.failure is None, f"{self.name}: {self.process.failure}")

    def end(self):
        self.process.close()

    def join(self, *_):
        pass


class Load:
    """All clients of one ensemble. As a context manager it writes from beginning to end."""

    def __init__(self, ensemble, seed, raw_sessions=2, window=4, servers=None):
        """`servers` are those that clients know, if some of them join later."""
        self.ensemble = ensemble
        servers = servers or list(ensemble)
        hosts = ",".join(server.address for server in servers)
        self.roamers = [Roamer(number, seed, servers, window) for number in range(raw_sessions)]
        self.counting = [KazooWriter(hosts), JavaWriter(hosts)]

    @property
    def clients(self):
        return [*self.roamers, *self.counting]

    def __enter__(self):
        with self.ensemble.running[0].client() as session:
            session.create(SEQUENTIAL_ROOT)
        for client in self.clients:
            client.start()
        self.resume()
        return self

    def __exit__(self, *_):
        for client in self.clients:
            client.end()
        for client in self.clients:
            client.join(10)

    def written(self):
        return {client.name: client.acknowledged_writes for client in self.clients}

    def goes_on(self, writes=10, seconds=120):
        """Every client has so many more writes acknowledged."""
        target = {name: count + writes for name, count in self.written().items()}

        def reached():
            for client in self.clients:
                client.check_healthy()
            return all(count >= target[name] for name, count in self.written().items())

        try:
            wait_until(reached, f"{writes} more writes of each client", seconds)
        except AssertionError as error:
            raise AssertionError(f"{error}: {self.written()}, wanted {target}") from error

    def pause(self, seconds=120):
        """Returns when nothing is in flight and every raw session has found its part of the tree right."""
        for client in self.clients:
            client.ask_to_pause()
        wait_until(lambda: all(client.idle() for client in self.clients), "clients that pause", seconds)

    def resume(self):
        for client in self.clients:
            client.resume()

    def check_in(self, tree):
        """Checks, while paused, that this tree has all acknowledged writes."""
        for client in self.counting:
            client.ledger.check_in(tree)
        with self.ensemble.running[0].client() as session:
            check_sequence_order(session)
