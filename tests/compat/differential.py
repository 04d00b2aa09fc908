#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# The differential test: sends the same requests to Apache ZooKeeper and to drover. All replies and watch events
# must be equal and in the same order.
#
#   differential.py                          what CI runs: 3.8.0 and drover
#   differential.py --servers java39,drover  the other half of it: 3.9, from Maven Central
#   differential.py --seed 7 --requests 900  one run again
#   differential.py --soak                   new seeds until interrupted
#   differential.py --servers java,java      the harness against itself: no difference may be found
#   differential.py --servers java,java39    the rules against themselves: they explain all there is
#
# It also varies what real clients never vary: xids (0, negative, repeated, those of events and pings), protocol versions,
# handshakes with and without the read-only byte, timeouts, passwords of any length.
#
# Three to five connections share a tree. A connection sends a burst of requests and gets all its replies
# before another one sends, so that both servers see one order of writes and their zxids must agree. After
# each burst every other connection sends a ping: what comes before the answer are the events of that burst.

import argparse
import struct
import sys
import time

import maven
import pinned
import protocol as p
import rules
from comparison import LONG_TIMEOUT_MS, ODD_VERSIONS, ODD_XIDS, WATCH_MODES, Client, Comparison, Difference, receive
from model import Identity
from servers import KINDS, MissingDependency, start_together
from workload import Request, Workload

CI_SEEDS = {"java": (1, 2, 3), "java39": (4, 5, 6)}  # With each third one quotas are enforced.
CI_REQUESTS = 2500
SKIPPED = 77  # the exit status, as automake has it
PROPERTIES = {"znode.container.checkIntervalMs": "100000000"}
CONFIG = {"maxSessionTimeout": 2 * LONG_TIMEOUT_MS}
# The password of a new session is ignored.
NEW_PASSWORDS = [b"\0" * 16, None, b"", b"abc", b"\1" * 16, b"\2" * 1000]


class Run(Comparison):
    """The bursts of requests of one seed, with lost connections in between."""

    def __init__(self, seed, requests, servers, pipelining=True, alter=None):
        super().__init__(seed, servers, alter)
        self.requests = requests
        self.pipelining = pipelining
        self.step = 0
        self.sessions = 0
        is_3_9 = all(server.release >= (3, 9) for server in servers)
        self.workload = Workload(self.rng, self.model, self.clients, is_3_9)

    def run(self):
        for index in range(self.rng.choice([3, 4, 5])):
            self.clients.append(self.new_client(f"c{index}"))
        actions = [(300, self.burst), (12, self.authenticate), (4, self.reconnect), (2, self.wrong_password),
                   (5, self.close_and_reopen), (3, self.bad_frame), (4, self.odd_connect)]
        weights = [weight for weight, _ in actions]
        while self.requests_sent < self.requests:
            self.step += 1
            client = self.rng.choice(self.clients)
            self.rng.choices(actions, weights)[0][1](client)
        self.compare_four_letter_words()
        for client in self.clients:
            self.close_connections(client)

    def new_client(self, name):
        self.sessions += 1
        client = Client(name, f"session {self.sessions}")
        self.vary_handshake(client)
        client.watch_mode = self.rng.choice(WATCH_MODES)
        timeout = self.rng.choice([LONG_TIMEOUT_MS, LONG_TIMEOUT_MS, 2**31 - 1])
        self.connect(client, timeout_ms=timeout, old_client=client.old_client,
                     version=self.rng.choice(ODD_VERSIONS), read_only=self.rng.randrange(4) == 0,
                     passwords=(self.rng.choice(NEW_PASSWORDS),) * 2, last_zxid=self.rng.choice([0, -7, -2**63]))
        return client

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

    def authenticate(self, client):
        self.exchange(client, [self.workload.auth(client)])

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
            if self.collect(connection)[1] is not None and server.name == "drover":
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
        streams = [self.collect(connection, request.xid) for connection in client.connections]
        possible = []
        self.compare_answer(client, request, *streams, possible)
        self.compare("after closeSession", *map(receive, client.connections))
        self.close_connections(client)
        self.requests_sent += 1
        self.barrier(client, possible)
        if self.rng.randrange(2):
            self.connect(client, session_ids, passwords, timeout_ms=LONG_TIMEOUT_MS)
            self.compare("after an invalid session", *map(receive, client.connections))
            self.close_connections(client)

    def wrong_password(self, client):
        """Refused; but 3.8.0 closes the session's own connection before it looks at the password."""
        old = client.connections
        session_ids = [connection.session_id for connection in old]
        wrong = self.rng.choice([lambda _: b"wrong password!!", lambda _: None, lambda _: b"",
                                 lambda right: right[:15], lambda right: right + b"\0"])
        self.connect(client, session_ids, [wrong(connection.password) for connection in old],
                     timeout_ms=LONG_TIMEOUT_MS)
        self.compare("after a wrong password", *map(receive, client.connections))
        self.close_connections(client)
        client.connections = old
        for connection in old:
            connection.request(p.PING_XID, p.PING)
        mine, theirs = [self.collect(connection)[1] for connection in old]
        if not self.differences.has("wrong-password-disconnects-nobody"):
            pass  # As its threads happen to run.
        elif mine is None and theirs is not None:
            rules.use("wrong-password-disconnects-nobody")
        else:
            self.compare("the session's old connection", mine, theirs)
        self.resume(client)

    def bad_frame(self, client):
        data = self.rng.choice([
            struct.pack(">i", -1), struct.pack(">i", -2**31), struct.pack(">i", p.MAX_BUFFER + 1),
            struct.pack(">i", 2**31 - 1), p.frame(b""), p.frame(b"\0"), p.frame(b"\0" * 7), b"ruok", b"srvr",
            p.frame(struct.pack(">ii", self.rng.choice(ODD_XIDS), p.AUTH)), p.frame(struct.pack(">ii", 5, p.SASL)),
            p.frame(struct.pack(">ii", p.AUTH_XID, p.AUTH) + b"\0\0"),
        ])
        self.doing = f"{client.name} sends {data!r}"
        for connection in client.connections:
            connection.send(data)
        answers = [self.collect(connection)[1] for connection in client.connections]
        self.compare("answer to a bad frame", *answers)
        self.resume(client)

    def odd_connect(self, unused_client):
        """Connections that never become a client."""
        visitor = Client("visitor", "none")
        whole = p.connect_request(timeout_ms=LONG_TIMEOUT_MS)
        draw = self.rng.randrange(9)
        if draw == 0:
            self.connect(visitor, last_zxid=self.rng.choice([2**50, 2**63 - 1]))
        elif draw == 1:
            self.connect(visitor, session_ids=(12345, 12345), timeout_ms=5000)
        elif draw == 2:
            self.connect(visitor, session_ids=(-1, -1), passwords=(None, None), old_client=True)
        elif draw == 3:
            self.odd_tail()
            return
        else:
            data = self.rng.choice([
                p.frame(b""), p.frame(whole[:10]), p.frame(whole[:43]), p.frame(whole[:24] + p.int32(-2)),
                p.frame(whole[:24] + p.int32(2**30)), p.int32(-5), p.int32(p.MAX_BUFFER + 1), b"GET / HTTP/1.0\r\n\r\n", b"\xff\xf4\xff\xfd",
            ])
            self.doing = f"a visitor sends {data!r}"
            visitor.connections = [p.Connection(server.port) for server in self.servers]
            for connection in visitor.connections:
                connection.send(data)
            self.compare("answer to a visitor", *map(receive, visitor.connections))
        self.close_connections(visitor)
        self.short_session()

    def odd_tail(self):
        """Read-only bytes that are no boolean, and bytes behind it."""
        tail = self.rng.choice([b"\x02", b"\xff", b"\0\0", b"\x01\x01", b"\0garbage", b"\0" * 4])
        self.sessions += 1
        client = Client("odd tail", f"session {self.sessions}")
        whole = p.frame(p.connect_request(timeout_ms=LONG_TIMEOUT_MS, old_client=True) + tail)
        self.doing = f"connect with {tail!r} behind the password"
        self.greet(client, [whole, whole])
        if client.connections[0].session_id != 0:
            self.close_session(client)

    def short_session(self):
        """A session with a negotiated timeout, closed at once so that it cannot expire in the middle."""
        self.sessions += 1
        client = Client("short", f"session {self.sessions}")
        self.connect(client, timeout_ms=self.rng.choice([0, -1, -2**31, 1, 3999, 4000, 4001, 60000, 2**31 - 1]),
                     passwords=(self.rng.choice(NEW_PASSWORDS),) * 2, last_zxid=-7)
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
        where = f"seed {seed}, step {run.step}, after {run.requests_sent} requests"
        return run.requests_sent, f"{where}: {difference}{obituaries(servers)}"
    except (OSError, struct.error) as error:
        return run.requests_sent, f"seed {seed}, step {run.step}: {error!r} while: {run.doing}"
    finally:
        for server in servers:
            server.remove()


def obituaries(servers):
    return "".join(f"\n  {server.name} has died; its last words:\n{server.log_tail(12)}"
                   for server in servers if server.process and server.process.poll() is not None)


def run_ci(kinds, requests, pipelining):
    """The seeds of CI, what a random history cannot contain, and whether the rules for 3.9 are its own."""
    passed, failed, total = run_seeds(CI_SEEDS[kinds[0]], requests, kinds, pipelining)
    pinned_passed, pinned_failed = pinned.run_all(kinds)
    if kinds[0] == "java39":
        more = run_seeds((1,), requests, ("java", "java39"), pipelining)
        passed, failed, total = passed + more[0], failed + more[1], total + more[2]
    return passed + pinned_passed, failed + pinned_failed, total


def replay_command(seed, requests, kinds, pipelining):
    return (f"tests/compat/differential.py --servers {','.join(kinds)} --seed {seed} --requests {requests}"
            + ("" if pipelining else " --one-by-one"))


def run_seeds(seeds, requests, kinds, pipelining=True):
    passed = failed = total = 0
    for seed in seeds:
        started = time.monotonic()
        sent, error = run_seed(seed, requests, kinds, pipelining)
        total += sent
        if error is None:
            passed += 1
            seconds = time.monotonic() - started
            print(f"differential: seed {seed}: {sent} requests equal ({seconds:.1f} s)", flush=True)
        else:
            failed += 1
            print(f"differential: DIFFERENCE at {error}\n"
                  f"  replay: {replay_command(seed, requests, kinds, pipelining)}", flush=True)
    return passed, failed, total


def soak_seeds():
    seed = int(time.time())
    while True:
        yield seed
        seed += 1


def self_test():
    """The test of the test: two equal servers are equal, and one that is wrong in a single answer is caught."""
    def wrong_error(what, value):
        if what == "reply" and len(value) > 3 and value[2] == "NONODE":
            return (*value[:2], "NOTEMPTY", *value[3:])
        return value

    def lost_event(what, value):
        return value[1:] if what.startswith("events") else value

    def wrong_zxid(what, value):
        return (value[0], value[1] + 1, *value[2:]) if what == "reply" and len(value) > 3 else value

    passed = failed = 0
    for alter in (None, wrong_error, lost_event, wrong_zxid):
        _, error = run_seed(1, 600, ("java", "java"), alter=alter)
        if (error is None) == (alter is None):
            passed += 1
        else:
            failed += 1
            print(f"self-test: FAILED: {alter.__name__ if alter else 'equal servers'}: {error}")
    print(f"differential self-test: {passed} passed, {failed} failed")
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser(description="Same requests to two servers, same answers expected.")
    parser.add_argument("--seed", type=int, action="append")
    parser.add_argument("--requests", type=int, default=CI_REQUESTS)
    parser.add_argument("--servers", default="java,drover")
    parser.add_argument("--soak", action="store_true", help="new seeds until interrupted")
    parser.add_argument("--one-by-one", action="store_true", help="no pipelining: wait for each reply")
    parser.add_argument("--self-test", action="store_true", help="prove that a wrong answer is noticed")
    arguments = parser.parse_args()
    kinds = tuple(arguments.servers.split(","))
    try:
        if arguments.self_test:
            return self_test()
        started = time.monotonic()
        pipelining = not arguments.one_by_one
        if kinds[0] in CI_SEEDS and kinds[1] == "drover" and not arguments.soak and arguments.seed is None:
            passed, failed, total = run_ci(kinds, arguments.requests, pipelining)
        else:
            seeds = soak_seeds() if arguments.soak else arguments.seed or CI_SEEDS["java"]
            passed, failed, total = run_seeds(seeds, arguments.requests, kinds, pipelining)
    except MissingDependency as missing:
        print(f"differential: FAILED: {missing}")
        return 1
    except maven.Unreachable as reason:
        print(f"differential: SKIPPED: no Apache ZooKeeper {maven.RELEASE}: {reason}")
        return SKIPPED
    used = ", ".join(f"{rule.name} {rule.used}" for rule in rules.RULES.values() if rule.used)
    print(f"differential: rules used: {used or 'none'}")
    seconds = time.monotonic() - started
    print(f"differential: {passed} passed, {failed} failed ({total} requests, {seconds:.0f} s)")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
