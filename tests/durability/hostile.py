# SPDX-License-Identifier: Apache-2.0
#
# A server with low limits for hostile clients to attack, and what shows that the attack had no effect: memory
# at its peak, counters, and another client that is served all the time.

import contextlib
import socket
import struct
import time

from harness import OK, Drover, Session, check, check_equal, p, wait_until

FRAME_MAX = 4 << 20
DEADLINE_SECONDS = 1.0
CONNECTIONS_PER_ADDRESS = 40
CONNECTIONS = 100
WATCHES_PER_SESSION = 1000
MULTI_OPERATIONS = 100000
IDENTITIES = 16

# Resident memory that one attack may cost while it lasts, beyond what was in use before it.
ATTACK_MB = 96
BYSTANDER_SECONDS_MAX = 5.0

SETTINGS = {
    "jute.maxbuffer": FRAME_MAX,
    "nio.sessionlessCnxnTimeout": int(DEADLINE_SECONDS * 1000),
    "frameTimeoutMs": int(DEADLINE_SECONDS * 1000),
    "maxCnxns": CONNECTIONS,
    "maxWatchesPerSession": WATCHES_PER_SESSION,
    "maxMultiOps": MULTI_OPERATIONS,
    "maxAuthIdsPerConnection": IDENTITIES,
    "4lw.commands.whitelist": "*",
    "preAllocSize": 1024,
}


class Target(Drover):
    """The server under attack."""

    def __init__(self):
        limits = {"maxClientCnxns": CONNECTIONS_PER_ADDRESS, "maxSessionTimeout": 120000}
        super().__init__(SETTINGS, limits, failing_disk=True)

    def connect_from(self, address):
        """A plain socket from another address of loopback, as from another machine."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=20, source_address=(address, 0))

    def connection(self):
        return p.Connection(self.port, timeout=20)

    def connected(self):
        connection = p.Connection(self.port, timeout=30)
        check(connection.handshake(timeout_ms=10000) is not None, "a session")
        return connection

    def bystander(self):
        return Bystander(self)

    def counter(self, name):
        return int(self.monitor()["zk_" + name])

    def counter_after_flood(self, name):
        """Waits until the flood's connections are gone, because until then 127.0.0.1 may not ask."""

        def try_counter():
            with contextlib.suppress(OSError, KeyError):
                return (self.counter(name),)
            return None

        return wait_until(try_counter, "the address may connect again")[0]

    @contextlib.contextmanager
    def bounded_memory(self, megabytes=ATTACK_MB):
        """Watches the peak, not only the end: writing 5 to clear_refs resets VmHWM."""
        with open(f"/proc/{self.process.pid}/clear_refs", "w", encoding="ascii") as file:
            file.write("5")
        before = self.memory_mb()
        yield
        grown = self.memory_mb("VmHWM") - before
        check(grown < megabytes, f"the attack cost {grown:.0f} MB at its peak, {megabytes} are allowed")

    def check_memory(self, megabytes, what):
        """Closed connections are noticed one by one, so the memory may take a moment to go back."""
        with contextlib.suppress(AssertionError):
            wait_until(lambda: self.memory_mb() < megabytes, what, seconds=5)
        used = self.memory_mb()
        check(used < megabytes, f"{what}: {used:.0f} MB resident, at most {megabytes:.0f} are allowed")

    def check_well(self, megabytes, moved):
        """After every attack the server must answer, and must have released its memory."""
        check(self.alive(), "the process lives")
        check_equal(self.word("ruok"), "imok", "ruok")
        self.check_memory(megabytes, "after all attacks")
        wait_until(lambda: self.counter("watch_count") == 0, "no watch is left of the clients that went away")
        facts = self.monitor()
        for name in moved:
            check(int(facts["zk_" + name]) > 0, f"{name} moved")
        errors = [line for line in self.said() if " ERROR " in line]
        check(not errors, f"errors in the log: {errors[:3]}")
        check(len(self.said()) < 1000, f"{len(self.said())} log lines: a flood must not flood the log")


class Bystander:
    """A well-behaved client from another address, which must be served whatever the others do."""

    def __init__(self, server):
        self.session = Session(server.port, timeout_ms=60000, address="127.0.0.9")

    def __enter__(self):
        return self

    def look(self):
        began = time.monotonic()
        check(self.session.exists("/zookeeper"), "the bystander reads")
        took = time.monotonic() - began
        check(took < BYSTANDER_SECONDS_MAX, f"the bystander waited {took:.1f} s")

    def __exit__(self, kind, *_):
        if kind is None:
            self.look()
            err, _ = self.session.call(p.SET_DATA, p.set_data_body("/zookeeper", b""))
            check_equal(err, OK, "the bystander writes")
        self.session.close()


def request_frame(xid, op, body):
    return p.frame(struct.pack(">ii", xid, op) + body)
