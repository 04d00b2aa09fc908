# SPDX-License-Identifier: Apache-2.0
#
# The servers behind the dashboard, and the events that the tests ask for.
#
# Starts an ensemble of two drover servers and a Java ZooKeeper, and a separate server with a million nodes below
# one, fills them, and runs the browser's tests (*_test.mjs). These ask for events with lines of JSON, such as
# {"do": "kill_leader"}. Each is answered with one line of JSON.

import base64
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
for folder in ("ensemble", "durability", "compat"):
    sys.path.append(str(HERE.parent / folder))

from ensemble import DROVER, JAVA, Ensemble  # noqa: E402
from harness import Session, check, p, wait_until  # noqa: E402
from ports import free_port  # noqa: E402
from servers import DroverServer  # noqa: E402

MILLION = 1_000_000
PER_MULTI = 5_000
HTTP_ON = {"zookeeper.admin.enableServer": "true"}
SCRIPT = "<script>alert(1)</script>".replace("/", "|")  # a name has no slash


def start_ensemble():
    # One of them is Java's; the others recognise it by its replies on the client port.
    ensemble = Ensemble([DROVER, DROVER, JAVA], properties=HTTP_ON)
    for member in ensemble:
        if member.kind == JAVA:
            member.properties["zookeeper.admin.enableServer"] = "false"
        member.http = free_port()
        member.config["admin.serverPort"] = member.http
        # Each server must know the HTTP ports of the others.
        for other in ensemble:
            member.config[f"server.{other.sid}"] = f"{other.line()};127.0.0.1:{other.port}"
    return ensemble.start()


def start_big():
    big = DroverServer({"admin.enableServer": "true", "admin.dashboard.edit": "true"}, HTTP_ON)
    big.http = free_port()
    big.config["admin.serverPort"] = big.http
    return big.start()


def create_million(port):
    """Below /million, in transactions of thousands: one by one it would take most of the stage's time."""
    session = Session(port)
    session.create("/million")
    session.create("/plain", b"before")
    session.create("/doomed")
    for path, data in (("/crlf", b"a=1\r\nb=2\r\n"), ("/bom", b"\xef\xbb\xbfa=1\r\nb=2"),
                       ("/mixed", b"a=1\r\nb=2\nc=3\r"), ("/blob", bytes(range(20)))):
        session.create(path, data)
    acl = p.acl_vector(p.OPEN_ACL)
    head, tail = p.multi_body([(p.CREATE, b"")], b""), p.buffer(b"") + acl + p.int32(p.PERSISTENT)
    for start in range(0, MILLION, PER_MULTI):
        names = (f"/million/node-{i:07}".encode() for i in range(start, start + PER_MULTI))
        body = b"".join(head + p.buffer(name) + tail for name in names) + p.MULTI_END
        err, _ = session.call(p.MULTI, body)
        check(err == 0, f"multi: error {err}")
    session.close()


def digest_identity(who):
    """As every client makes it: user:BASE64(SHA1(user:password)), of UTF-8."""
    return who.split(":")[0] + ":" + base64.b64encode(hashlib.sha1(who.encode()).digest()).decode()


class World:
    def __init__(self):
        self.kazoo = []
        self.ensemble = start_ensemble()
        self.big = start_big()
        self.leader = self.ensemble.leader()
        self.page = next(m for m in self.ensemble if m is not self.leader and m.kind == DROVER)
        create_million(self.big.port)
        self.fill()  # last: nobody pings for its sessions

    def fill(self):
        self.writer = Session(self.page.port, timeout_ms=60000)
        w = self.writer
        for path, data in (("/config", b""), ("/config/app", b'{"pool": {"min": 4, "max": 32}, "tls": true}'),
                           ("/config/blob", bytes(range(64))), ("/config/note", "grüße\n".encode()),
                           (f"/{SCRIPT}", b"<img src=x onerror=alert(1)>"), ("/locks", b""), ("/locks/billing", b""),
                           ("/services", b""), ("/services/web", b""), ("/mail", b"")):
            w.create(path, data)
        for number in range(3):
            w.create("/mail/queue-", f"mail {number}".encode(), p.SEQUENTIAL)
        for path, data, who in (("/secret", b"launch code", "ops:secret"), ("/geheim", b"Losung", "jörg:пароль-ß€")):
            err, _ = w.call(p.CREATE, p.create_body(path, data, [(p.ALL, "digest", digest_identity(who))]))
            check(err == 0, f"create {path}: error {err}")
        self.holders = []
        for name in ("worker-1", "worker-2"):
            session = Session(self.page.port, timeout_ms=60000)
            session.create("/locks/billing/_c_00000000-lock-", name.encode(), p.EPHEMERAL_SEQUENTIAL)
            session.create(f"/services/web/{name}", b"", p.EPHEMERAL)
            session.call(p.GET_DATA, p.path_watch_body("/config/app", True))
            self.holders.append(session)

    def facts(self):
        return {"page": self.page.http, "leader": self.leader.sid, "self": self.page.sid, "big": self.big.http,
                "script": SCRIPT, "session": f"{self.holders[0].id & (1 << 64) - 1:#x}", "million": MILLION,
                "pictures": os.environ.get("PICTURES", str(HERE.parent.parent / "build" / "dashboard")),
                "chromium": shutil.which("chromium")}

    # --- what the tests may ask for ---

    def set(self, path, data):
        err, _ = self.writer.call(p.SET_DATA, p.set_data_body(path, data.encode()))
        check(err == 0, f"set {path}: error {err}")

    def create(self, path):
        self.writer.create(path)

    def release(self):
        """The lock's holder goes."""
        self.holders[0].call(p.CLOSE_SESSION)

    def kill_leader(self):
        self.leader.kill()

    def start_leader(self):
        self.ensemble.start(self.leader.sid)

    def stop_big(self):
        self.stop_kazoo()
        self.big.stop()

    def start_big(self):
        self.big.start()

    def stop_kazoo(self):
        for client in self.kazoo:
            client.stop()
        self.kazoo = []

    def kazoo_recipes(self):
        """One of each of kazoo's recipes below /k, held by alice and wanted by bob."""
        from kazoo.client import KazooClient

        alice, bob = self.kazoo = [KazooClient(f"127.0.0.1:{self.big.port}") for _ in range(2)]
        threading.excepthook = lambda _: None  # Threads that still wait at the end raise an exception.

        def behind(call):
            threading.Thread(target=call, daemon=True).start()

        for client in self.kazoo:
            client.start()
        alice.Lock("/k/lock", "alice").acquire()
        behind(bob.Lock("/k/lock", "bob").acquire)
        alice.ReadLock("/k/rw", "alice").acquire()
        behind(bob.WriteLock("/k/rw", "bob").acquire)
        alice.Semaphore("/k/sem", "alice", max_leases=1).acquire()
        behind(bob.Semaphore("/k/sem", "bob", max_leases=1).acquire)
        alice.Party("/k/party", "alice").join()
        alice.Queue("/k/queue").put(b"letter")
        work = alice.LockingQueue("/k/work")
        work.put_all([b"begun", b"waiting"])
        work.get()
        for client in self.kazoo:
            behind(client.DoubleBarrier("/k/barrier", 2).enter)

    def long_line(self):
        """More wait for one lock than the page's server looks at."""
        session = Session(self.big.port, timeout_ms=60000)
        session.create("/long", b"")
        for number in range(2101):
            session.create("/long/_c_00000000-lock-", f"worker-{number}".encode(), p.EPHEMERAL_SEQUENTIAL)
        self.in_line = session

    def end_long_line(self):
        self.in_line.call(p.CLOSE_SESSION)

    def writes_while(self, seconds):
        """The slowest of small writes to the server with the million, in milliseconds, and how many there were."""
        session = Session(self.big.port)
        slowest, count, end = 0.0, 0, time.monotonic() + seconds
        while time.monotonic() < end:
            began = time.monotonic()
            err, _ = session.call(p.SET_DATA, p.set_data_body("/plain", b"x"))
            check(err == 0, f"set: error {err}")
            slowest, count = max(slowest, time.monotonic() - began), count + 1
        session.call(p.CLOSE_SESSION)
        return {"slowest_ms": round(slowest * 1000, 1), "count": count}

    def end(self):
        self.stop_kazoo()
        self.ensemble.__exit__(None)
        self.big.remove()


def serve(world, tests):
    """Runs the browser's tests and does what they ask for; returns their exit code."""
    tests.stdin.write(json.dumps(world.facts()) + "\n")
    tests.stdin.flush()
    for line in tests.stdout:
        if not line.startswith("{"):
            print(line, end="", flush=True)
            continue
        order = json.loads(line)
        try:
            answer = {"result": getattr(world, order["do"])(*order.get("with", []))}
        except Exception as error:  # The test that asked for it fails, and the others go on.
            answer = {"error": repr(error)}
        tests.stdin.write(json.dumps(answer) + "\n")
        tests.stdin.flush()
    return tests.wait()


def main():
    world = World()
    try:
        wait_until(lambda: world.ensemble.serves(), "an ensemble that serves")
        with subprocess.Popen(["node", str(HERE / "dashboard_test.mjs"), *sys.argv[1:]], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True, cwd=HERE) as tests:
            return serve(world, tests)
    finally:
        world.end()


if __name__ == "__main__":
    sys.exit(main())
