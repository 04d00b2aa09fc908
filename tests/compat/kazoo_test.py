#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
#
# Python's client and its recipes against drover. What kazoo needs of a server is what most Python programs
# need: sessions that survive a restart, watches that fire, ephemerals that go away, and exact error codes.
#
# Debian's interpreter is used on purpose, because kazoo is a Debian module (python3-kazoo).

import contextlib
import itertools
import logging
import re
import sys
import threading

import protocol as p
from servers import KINDS, MissingDependency, four_letter_word
from suite import check, check_equal, parse_server_kind, run

try:
    from kazoo import exceptions as errors
    from kazoo.client import KazooClient, KazooState
    from kazoo.protocol.states import EventType, KeeperState
    from kazoo.security import make_acl, make_digest_acl
except ImportError:
    print("kazoo: FAILED: module kazoo is missing (Debian package: python3-kazoo)")
    print("kazoo: 0 passed, 1 failed")
    sys.exit(1)

TICK_MS = 200  # Short ticks make session expiry quick.
PATIENCE = 30
arguments = parse_server_kind("kazoo against a server")
server = KINDS[arguments.server](tick_ms=TICK_MS, config={"maxSessionTimeout": 60000})
roots = itertools.count(1)
logging.getLogger("kazoo").setLevel(logging.CRITICAL)  # Lost connections are what some cases are about.


def new_root():
    return f"/case{next(roots)}"


@contextlib.contextmanager
def connected(count=1, timeout=10.0, **options):
    clients = [KazooClient(hosts=server.address, timeout=timeout, **options) for _ in range(count)]
    try:
        for client in clients:
            client.start(timeout=PATIENCE)
        yield clients[0] if count == 1 else clients
    finally:
        for client in clients:
            with contextlib.suppress(Exception):
                client.stop()
            client.close()


def raises(error, call, *args, **kwargs):
    try:
        call(*args, **kwargs)
    except error:
        return
    raise AssertionError(f"expected {error.__name__}")


def in_thread(function, *args):
    thread = threading.Thread(target=function, args=args, daemon=True)
    thread.start()
    return thread


def join(*threads):
    for thread in threads:
        thread.join(PATIENCE)
        check(not thread.is_alive(), "a thread is still waiting")


def basic_calls_return_what_they_promise():
    with connected() as client:
        root = new_root()
        check_equal(client.create(root, b"one"), root)
        data, stat = client.get(root)
        check_equal((data, stat.version, stat.dataLength, stat.ephemeralOwner), (b"one", 0, 3, 0))
        check_equal(client.set(root, b"three").version, 1)
        path, stat = client.create(root + "/kid", b"", include_data=True)
        check_equal((path, stat.czxid), (root + "/kid", stat.mzxid))
        children, parent = client.get_children(root, include_data=True)
        check_equal((children, parent.numChildren, parent.cversion), (["kid"], 1, 1))
        check_equal(client.exists(root + "/none"), None)
        check_equal(client.sync(root), root)
        client.delete(root, recursive=True)
        check_equal(client.exists(root), None)


def errors_have_the_right_class():
    with connected() as client:
        root = new_root()
        client.create(root)
        client.create(root + "/eph", ephemeral=True)
        client.create(root + "/dir/kid", makepath=True)
        raises(errors.NodeExistsError, client.create, root)
        raises(errors.NoNodeError, client.get, root + "/none")
        raises(errors.NoNodeError, client.create, root + "/none/kid")
        raises(errors.BadVersionError, client.set, root, b"", version=7)
        raises(errors.NotEmptyError, client.delete, root + "/dir")
        raises(errors.NoChildrenForEphemeralsError, client.create, root + "/eph/kid")
        raises(errors.InvalidACLError, client.create, root + "/acl", acl=[make_acl("nosuch", "x", all=True)])


def sequence_numbers_grow_and_are_shared_by_names():
    with connected() as client:
        root = new_root()
        client.create(root)
        names = [client.create(f"{root}/{name}-", sequence=True) for name in ("a", "b", "a")]
        check_equal(names, [f"{root}/a-0000000000", f"{root}/b-0000000001", f"{root}/a-0000000002"])


def ephemerals_go_when_their_session_closes():
    with connected() as watcher:
        root = new_root()
        watcher.create(root)
        with connected() as owner:
            owner.create(root + "/eph", ephemeral=True)
            stat = watcher.exists(root + "/eph")
            check_equal(stat.ephemeralOwner, owner.client_id[0])
            gone = threading.Event()
            watcher.exists(root + "/eph", watch=lambda event: gone.set())
        check(gone.wait(PATIENCE), "no event for the ephemeral")
        check_equal(watcher.exists(root + "/eph"), None)


def transactions_are_all_or_nothing():
    with connected() as client:
        root = new_root()
        client.create(root, b"v0")
        good = client.transaction()
        good.create(root + "/a", b"1")
        good.create(root + "/s-", b"", sequence=True)
        good.set_data(root, b"v1")
        good.check(root, version=1)
        good.delete(root + "/a")
        results = good.commit()
        check_equal(results[:2], [root + "/a", root + "/s-0000000001"])
        check_equal((results[2].version, results[3:]), (1, [True, True]))
        bad = client.transaction()
        bad.create(root + "/b")
        bad.check(root, version=99)
        bad.create(root + "/c")
        kinds = [type(result) for result in bad.commit()]
        check_equal(kinds, [errors.RolledBackError, errors.BadVersionError, errors.RuntimeInconsistency])
        check_equal(client.exists(root + "/b"), None)


def acls_keep_strangers_out():
    root = new_root()
    acl = make_digest_acl("ann", "apple", all=True)
    with connected(auth_data=[("digest", "ann:apple")]) as ann, connected() as stranger:
        ann.create(root, b"secret", acl=[acl])
        raises(errors.NoAuthError, stranger.get, root)
        raises(errors.NoAuthError, stranger.set, root, b"")
        raises(errors.NoAuthError, stranger.create, root + "/kid")
        stranger.add_auth("digest", "ann:apple")
        check_equal(stranger.get(root)[0], b"secret")
        acls, stat = stranger.get_acls(root)
        check_equal((acls, stat.aversion), ([acl], 0))
        stranger.set_acls(root, [acl, make_acl("world", "anyone", read=True)])
        with connected() as reader:
            check_equal(reader.get(root)[0], b"secret")
            raises(errors.NoAuthError, reader.set, root, b"")
    with connected() as liar:
        raises(errors.AuthFailedError, liar.add_auth, "nosuch", "x")


def data_and_children_watches_follow_changes():
    with connected(2) as (client, other):
        root = new_root()
        seen, kids, news = [], [], threading.Condition()

        @client.DataWatch(root)
        def on_data(data, stat):
            with news:
                seen.append(data)
                news.notify_all()

        other.create(root, b"1")
        wait_until(news, lambda: b"1" in seen)

        @client.ChildrenWatch(root)
        def on_children(children):
            with news:
                kids.append(sorted(children))
                news.notify_all()

        for value in (b"2", b"3"):
            other.set(root, value)
            wait_until(news, lambda: value in seen)
        for name in ("x", "y"):
            other.create(f"{root}/{name}")
        wait_until(news, lambda: ["x", "y"] in kids)
        other.delete(root, recursive=True)
        wait_until(news, lambda: seen[-1] is None)
        check_equal(seen[0], None)


def wait_until(condition, predicate):
    with condition:
        check(condition.wait_for(predicate, PATIENCE), "the awaited event did not happen")


def one_shot_watches_carry_type_and_path():
    with connected(2) as (client, other):
        root = new_root()
        events, news = [], threading.Condition()

        def note(event):
            with news:
                events.append((event.type, event.path))
                news.notify_all()

        client.exists(root, watch=note)
        other.create(root)
        wait_until(news, lambda: events == [(EventType.CREATED, root)])
        client.get_children(root, watch=note)
        other.create(root + "/kid")
        wait_until(news, lambda: events[-1] == (EventType.CHILD, root))
        client.get(root, watch=note)
        other.set(root, b"x")
        wait_until(news, lambda: events[-1] == (EventType.CHANGED, root))
        client.get(root + "/kid", watch=note)
        other.delete(root + "/kid")
        wait_until(news, lambda: events[-1] == (EventType.DELETED, root + "/kid"))
        other.set(root, b"y")
        client.sync(root)
        check_equal(len(events), 4, "events")


def a_lock_is_held_by_one():
    with connected(3) as clients:
        root, order, inside = new_root(), [], threading.Lock()

        def work(client, number):
            for _ in range(3):
                with client.Lock(root, str(number)):
                    check(inside.acquire(blocking=False), "two holders of one lock")
                    order.append(number)
                    inside.release()

        join(*[in_thread(work, client, number) for number, client in enumerate(clients)])
        check_equal(sorted(order), [0, 0, 0, 1, 1, 1, 2, 2, 2])
        first, second = clients[0].Lock(root, "first"), clients[1].Lock(root, "second")
        check(first.acquire(), "lock")
        check(not second.acquire(blocking=False), "second holder")
        check_equal(first.contenders(), ["first"])
        first.release()


def readers_share_and_writers_exclude():
    with connected(3) as (one, two, three):
        root = new_root()
        with one.ReadLock(root), two.ReadLock(root):
            check(not three.WriteLock(root).acquire(blocking=False), "a writer among readers")
        with three.WriteLock(root):
            check(not one.ReadLock(root).acquire(blocking=False), "a reader beside a writer")


def a_semaphore_counts_leases():
    with connected(3) as (one, two, three):
        root = new_root()
        leases = [client.Semaphore(root, max_leases=2) for client in (one, two, three)]
        check(leases[0].acquire() and leases[1].acquire(), "two leases")
        check(not leases[2].acquire(blocking=False), "a third lease")
        waiting = in_thread(leases[2].acquire)
        leases[0].release()
        join(waiting)


def an_election_has_one_winner_after_another():
    with connected(3) as clients:
        root, leaders = new_root(), []
        elections = [client.Election(root, str(number)) for number, client in enumerate(clients)]
        join(*[in_thread(election.run, leaders.append, number) for number, election in enumerate(elections)])
        check_equal(sorted(leaders), [0, 1, 2])


def queues_give_each_item_once():
    with connected(2) as (one, two):
        queue, reader = one.Queue(new_root()), None
        for item in (b"a", b"b", b"c"):
            queue.put(item)
        queue.put(b"urgent", priority=1)
        reader = two.Queue(queue.path)
        check_equal([reader.get() for _ in range(5)], [b"urgent", b"a", b"b", b"c", None])
        locking = one.LockingQueue(new_root())
        locking.put_all([b"x", b"y"])
        check_equal(locking.get(timeout=PATIENCE), b"x")
        locking.consume()
        other = two.LockingQueue(locking.path)
        check_equal(other.get(timeout=PATIENCE), b"y")
        check(other.consume(), "consume")


def barriers_hold_until_removed():
    with connected(2) as (one, two):
        barrier, same = one.Barrier(new_root()), None
        barrier.create()
        same = two.Barrier(barrier.path)
        check(not same.wait(0.05), "a barrier that stands does not let through")
        passed = []
        thread = in_thread(lambda: passed.append(same.wait(PATIENCE)))
        barrier.remove()
        join(thread)
        check_equal(passed, [True])
        root, met, both_in = new_root(), [], threading.Barrier(2)

        def meet(client):
            double = client.DoubleBarrier(root, 2)
            double.enter()
            met.append(client)
            # kazoo's first party to leave removes the node that the other may still look for.
            both_in.wait(PATIENCE)
            double.leave()

        join(in_thread(meet, one), in_thread(meet, two))
        check_equal(len(met), 2)


def counters_lose_no_increment():
    with connected(2) as clients:
        root = new_root()

        def count(client):
            counter = client.Counter(root)
            for _ in range(10):
                counter += 2

        join(*[in_thread(count, client) for client in clients])
        check_equal(clients[0].Counter(root).value, 40)


def a_party_knows_its_members():
    with connected(2) as (one, two):
        party = one.Party(new_root(), "one")
        party.join()
        other = two.Party(party.path, "two")
        other.join()
        check_equal(sorted(party), ["one", "two"])
        other.leave()
        check_equal(list(party), ["one"])


def a_session_survives_a_restart_of_the_server():
    with connected(2, timeout=30.0) as (client, other):
        root = new_root()
        client.create(root, b"before")
        client.create(root + "/eph", ephemeral=True)
        session, states, back = client.client_id, [], threading.Event()
        values, news = [], threading.Condition()

        def on_state(state):
            states.append(state)
            if state == KazooState.CONNECTED:
                back.set()

        @client.DataWatch(root)
        def on_data(data, stat):
            with news:
                values.append(data)
                news.notify_all()

        client.add_listener(on_state)
        server.kill()
        server.start()
        check(back.wait(PATIENCE), "the client did not come back")
        check_equal(client.client_id[0], session[0], "session id")
        check(KazooState.LOST not in states, "the session was lost")
        check_equal(client.exists(root + "/eph").ephemeralOwner, session[0])
        other.retry(other.set, root, b"after")
        wait_until(news, lambda: values[-1] == b"after")


def a_change_missed_while_away_is_seen_on_return():
    with connected(timeout=30.0) as client:
        root = new_root()
        client.create(root, b"")
        session, values, news = client.client_id, [], threading.Condition()

        @client.DataWatch(root)
        def on_data(data, stat):
            with news:
                values.append(data)
                news.notify_all()

        # A second connection of the same session takes the place of the first, which comes back by itself.
        raw = p.Connection(server.port)
        raw.handshake(session_id=session[0], password=session[1], timeout_ms=30000)
        raw.call(1, p.SET_DATA, p.set_data_body(root, b"changed"))
        raw.close()
        wait_until(news, lambda: values[-1] == b"changed")
        check_equal(client.client_id[0], session[0], "session id")


def a_silent_session_expires():
    with connected() as watcher:
        root = new_root()
        raw = p.Connection(server.port)
        raw.handshake(timeout_ms=2 * TICK_MS)
        raw.call(1, p.CREATE, p.create_body(root, b"", p.OPEN_ACL, p.EPHEMERAL))
        gone = threading.Event()
        check(watcher.exists(root, watch=lambda event: gone.set()), "ephemeral")
        check(gone.wait(PATIENCE), "a session without heartbeats lives forever")
        check_equal(raw.receive(), None, "the expired session's connection")
        check_equal(watcher.exists(root), None)


def an_expired_client_is_notified_and_starts_a_new_session():
    with connected() as client:
        session, lost, back = client.client_id, threading.Event(), threading.Event()

        def on_state(state):
            if state == KazooState.LOST:
                lost.set()
            if state == KazooState.CONNECTED and lost.is_set():
                back.set()

        client.add_listener(on_state)
        raw = p.Connection(server.port)
        raw.handshake(session_id=session[0], password=session[1], timeout_ms=10000)
        raw.call(1, p.CLOSE_SESSION)
        check(lost.wait(PATIENCE) and back.wait(PATIENCE), "LOST and then CONNECTED")
        check(client.client_id[0] != session[0], "the same session id again")


# Told OK with a null token, as by a Java server without SASL, it would send the next request at once, forever.
def a_client_that_wants_sasl_gives_up():
    if arguments.server == "java":
        return
    client = KazooClient(hosts=server.address, timeout=10.0, sasl_options={
        "mechanism": "DIGEST-MD5", "username": "bob", "password": "secret"})
    # Its listeners hear of a failure only if it was connected before.
    states, over, tell = [], threading.Event(), client._session_callback

    def on_state(state):
        states.append(state)
        tell(state)
        if state == KeeperState.CLOSED:
            over.set()
    client._session_callback = on_state

    def packets():
        return int(re.search(r"Received: (\d+)", four_letter_word(server.port, "srvr")).group(1))
    before = packets()
    try:
        client.start_async()
        check(over.wait(PATIENCE), f"it goes on; its states were {states}")
        check(KeeperState.AUTH_FAILED in states, f"its states were {states}")
        check(packets() - before < 20, f"{packets() - before} packets from a client that should give up")
    finally:
        client.stop()
        client.close()


def admin_commands_answer():
    with connected() as client:
        check_equal(client.command(b"ruok"), "imok")
        check("Mode: standalone" in client.command(b"srvr"), "srvr")
        version = client.server_version()
        check(len(version) >= 3 and version[0] == 3, f"version {version}")


CASES = [
    basic_calls_return_what_they_promise, errors_have_the_right_class,
    sequence_numbers_grow_and_are_shared_by_names, ephemerals_go_when_their_session_closes,
    transactions_are_all_or_nothing, acls_keep_strangers_out, data_and_children_watches_follow_changes,
    one_shot_watches_carry_type_and_path, a_lock_is_held_by_one, readers_share_and_writers_exclude,
    a_semaphore_counts_leases, an_election_has_one_winner_after_another, queues_give_each_item_once,
    barriers_hold_until_removed, counters_lose_no_increment, a_party_knows_its_members,
    a_session_survives_a_restart_of_the_server, a_change_missed_while_away_is_seen_on_return,
    a_silent_session_expires, an_expired_client_is_notified_and_starts_a_new_session, a_client_that_wants_sasl_gives_up,
    admin_commands_answer,
]

if __name__ == "__main__":
    try:
        server.start()
    except MissingDependency as missing:
        print(f"kazoo: FAILED: {missing}\nkazoo: 0 passed, 1 failed")
        sys.exit(1)
    code = run("kazoo", CASES, arguments.only)
    server.remove()
    sys.exit(code)
