#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Tests `drover locks|leaders|queues|members` on recipes that Curator, kazoo and drover hold at that moment, on a
# drover server and on Java's. The processes are those of tests/recipes; kazoo runs in this process.
#
#   run.py FOLDER [WORD...]     of the built programs; only stories whose name has one of the words
import contextlib
import importlib.util
import json
import logging
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time

from kazoo.client import KazooClient
from kazoo.recipe.election import Election
from kazoo.recipe.lock import Lock, ReadLock, Semaphore, WriteLock
from kazoo.recipe.party import Party, ShallowParty
from kazoo.recipe.queue import LockingQueue, Queue

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "compat"), str(HERE.parent / "recipes")]
import servers  # noqa: E402  (the paths above must come first)
from terminal import Failed, Terminal, following  # noqa: E402
from tls_support import Pki, TlsDrover  # noqa: E402


def load(name, path):
    """tests/recipes/run.py has our own file's name."""
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


recipes = load("recipes_run", HERE.parent / "recipes" / "run.py")
PATIENCE_SECONDS = 40


def expect(actual, wanted, what):
    if actual != wanted:
        raise Failed(f"{what}: {actual!r}, not {wanted!r}")


def until(look, wanted, what):
    deadline = time.monotonic() + PATIENCE_SECONDS
    while (seen := look()) != wanted:
        if time.monotonic() > deadline:
            raise Failed(f"{what}: {seen!r}, not {wanted!r}")
        time.sleep(0.02)


class World:
    """A server, and everybody who uses it."""

    def __init__(self, program, server, worlds):
        self.program, self.server, self.worlds = program, server, worlds
        self.kazoo = self.new_kazoo()

    def new_kazoo(self):
        client = KazooClient(hosts=self.server.address, timeout=10)
        client.start(PATIENCE_SECONDS)
        return client

    def peer(self, name):
        return self.worlds.peer(name)

    def run(self, *words, status=0, **more):
        done = subprocess.run([self.program, *words, "-server", self.server.address], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=PATIENCE_SECONDS, stdin=subprocess.DEVNULL, **more)
        expect(done.returncode, status, f"exit code of {' '.join(words)} ({done.stdout} {done.stderr})")
        return done.stdout + done.stderr

    def see(self, command, path, *more):
        return json.loads(self.run(command, path, "--json", *more))

    def counts(self, command, path):
        seen = self.see(command, path)
        return len(seen["holders"]), len(seen["waiters"])


def session(client):
    return f"{client.client_id[0] & 0xffffffffffffffff:#x}"


def in_background(work):
    """Something that waits until the end of its story, or of its client."""
    def carry_out():
        with contextlib.suppress(Exception):
            work()

    thread = threading.Thread(target=carry_out, daemon=True)
    thread.start()
    return thread


# --- stories ---

def locks_of_curator_and_drover_in_one_line(world, path):
    for holder, waiter in (("curator", "drover"), ("drover", "curator")):
        place = f"{path}/{holder}"
        world.peer(holder).do("lock", place)
        waiting = world.peer(waiter).start("lock", place)
        until(lambda at=place: world.counts("locks", at), (1, 1), "who holds and who waits")
        seen = world.see("locks", place)
        expect((seen["kind"], seen["layout"]), ("mutex", "Curator, drover"), "what it is")
        (held,), (waits,) = seen["holders"], seen["waiters"]
        if held["session"] == waits["session"] or int(held["fence"], 16) >= int(waits["fence"], 16):
            raise Failed(f"two sessions, the first with the smaller fence: {seen}")
        for stand in (held, waits):
            if not (stand["address"] or "").startswith("127.0.0.1:"):
                raise Failed(f"an address from `cons`: {stand}")
        world.peer(holder).do("unlock", place)
        waiting.result()
        until(lambda at=place: world.counts("locks", at), (1, 0), "who holds after that")
        expect(world.see("locks", place)["holders"][0]["session"], waits["session"], "the next holder")
        world.peer(waiter).do("unlock", place)


def kazoos_lock_has_its_own_names(world, path):
    other = world.new_kazoo()
    lock = Lock(world.kazoo, path, "anna")
    lock.acquire(timeout=PATIENCE_SECONDS)
    waiting = in_background(Lock(other, path, "bert").acquire)
    until(lambda: world.counts("locks", path), (1, 1), "who holds and who waits")
    seen = world.see("locks", path)
    expect((seen["kind"], seen["layout"]), ("mutex", "kazoo"), "what it is")
    expect([(s["data"], s["session"]) for s in seen["holders"] + seen["waiters"]],
           [("anna", session(world.kazoo)), ("bert", session(other))], "who")
    text = world.run("locks", path)
    for part in (f"{path}: mutex (kazoo): held, 1 waits", '"anna"', "holds", "1.", session(other)):
        if part not in text:
            raise Failed(f"{part!r} is in {text}")
    lock.release()
    waiting.join(PATIENCE_SECONDS)
    other.stop()


def readers_and_writers(world, path):
    world.peer("curator").do("read", path)
    world.peer("drover").do("read", path)
    seen = world.see("locks", path)
    expect((seen["kind"], [s["role"] for s in seen["holders"]]), ("read/write lock", ["read", "read"]), "readers")
    world.peer("curator").do("unlock", path)
    waiting = world.peer("curator").start("write", path)
    until(lambda: world.counts("locks", path), (1, 1), "a reader and a writer")
    expect(world.see("locks", path)["waiters"][0]["role"], "write", "who waits")
    world.peer("drover").do("unlock", path)
    waiting.result()
    until(lambda: world.counts("locks", path), (1, 0), "the writer alone")
    world.peer("curator").do("unlock", path)

    mine = path + "-kazoo"
    reading = ReadLock(world.kazoo, mine)
    reading.acquire(timeout=PATIENCE_SECONDS)
    other = world.new_kazoo()
    in_background(WriteLock(other, mine).acquire)
    until(lambda: world.counts("locks", mine), (1, 1), "kazoo's reader and writer")
    seen = world.see("locks", mine)
    expect((seen["layout"], seen["holders"][0]["role"], seen["waiters"][0]["role"]), ("kazoo", "read", "write"), "roles")
    reading.release()
    other.stop()


def semaphores_count_their_leases(world, path):
    world.peer("curator").do("lease", path, 1)
    waiting = world.peer("drover").start("lease", path, 1)
    until(lambda: world.counts("locks", path), (1, 1), "one lease, one waits")
    expect(world.see("locks", path)["kind"], "semaphore", "what it is")
    world.peer("curator").do("return", path)
    waiting.result()
    until(lambda: world.counts("locks", path), (1, 0), "one lease")
    world.peer("drover").do("return", path)

    mine = path + "-kazoo"
    lease = Semaphore(world.kazoo, mine, "anna", max_leases=2)
    lease.acquire(timeout=PATIENCE_SECONDS)
    seen = world.see("locks", mine)
    expect((seen["kind"], seen["layout"], len(seen["holders"])), ("semaphore", "kazoo", 1), "kazoo's")
    expect("at most 2 leases" in seen["notes"], True, "the number of leases")
    lease.release()


def leaders_and_who_is_next(world, path):
    world.peer("curator").do("latch", path, "anna")
    waiting = world.peer("drover").start("latch", path, "bert")
    until(lambda: world.counts("leaders", path), (1, 1), "a leader and a candidate")
    seen = world.see("leaders", path)
    expect((seen["kind"], seen["holders"][0]["data"], seen["waiters"][0]["data"]), ("election", "anna", "bert"), "who")
    expect("leads" in world.run("leaders", path), True, "the word for it")
    expect("drover leaders" in world.run("locks", path, status=1), True, "which command shows it")
    world.peer("curator").do("unlatch", path)
    waiting.result()
    world.peer("drover").do("unlatch", path)

    mine = path + "-kazoo"
    gone = threading.Event()
    in_background(lambda: Election(world.kazoo, mine, "carl").run(gone.wait))
    until(lambda: [s["data"] for s in world.see("leaders", mine).get("holders", [])] if exists(world, mine) else [],
          ["carl"], "kazoo's leader")
    gone.set()


def exists(world, path):
    return world.kazoo.exists(path) is not None


def queues_of_every_kind(world, path):
    keys = {"fifo": ["", "", ""], "priority": [70000, 5, -5], "delay": [3600000, 100, 7200000], "id": ["a", "b", "c"]}
    for kind, values in keys.items():
        for by in ("curator", "drover"):
            place = f"{path}-{kind}-{by}"
            for key in values:
                world.peer(by).do("put_kind", kind, place, "data", key)
            seen = world.see("queues", place)
            expect((seen["kind"], seen["order"], seen["length"]), ("queue", kind, 3), f"a {kind} queue by {by}")
    expect([i["key"] for i in world.see("queues", f"{path}-priority-curator")["items"]], ["-5", "5", "70000"], "the order")
    text = world.run("queues", f"{path}-delay-curator")
    expect("delay queue (Curator, drover): 3 items" in text and "in 59 min" in text, True, f"times in {text}")


def claimed_items_are_shown(world, path):
    queue = LockingQueue(world.kazoo, path)
    queue.put_all([b"one", b"two"])
    expect(queue.get(), b"one", "the first item")
    seen = world.see("queues", path)
    expect((seen["length"], [bool(i["claim"]) for i in seen["items"]]), (2, [True, False]), "one of two is claimed")
    expect(seen["items"][0]["claim"]["session"], session(world.kazoo), "by whom")
    queue.consume()
    expect(world.see("queues", path)["length"], 1, "what is left")

    plain = path + "-plain"
    Queue(world.kazoo, plain).put(b"low", priority=200)
    Queue(world.kazoo, plain).put(b"high", priority=7)
    expect([i["key"] for i in world.see("queues", plain)["items"]], ["007", "200"], "kazoo's priorities")

    ours = path + "-ours"
    world.peer("drover").do("put_kind", "fifo", ours, "data", "")
    item = world.kazoo.get_children(ours)[0]
    world.kazoo.create(f"{ours}.claims/{item}", ephemeral=True, makepath=True)
    expect(world.see("queues", ours)["items"][0]["claim"]["session"], session(world.kazoo), "a claim beside the queue")
    expect("1 claimed" in world.run("queues", ours), True, "in words")


def members_of_groups(world, path):
    world.peer("curator").do("join", path, "anna", "data-of-anna", "curator")
    world.peer("drover").do("join", path, "bert", "data-of-bert", "curator")
    names = lambda at: sorted(m["node"].rsplit("/", 1)[1] for m in world.see("members", at)["members"])  # noqa: E731
    until(lambda: names(path) if exists(world, path) else [], ["anna", "bert"], "members")
    data = {m["data"] for m in world.see("members", path)["members"]}
    expect(data, {"data-of-anna", "data-of-bert"}, "their data")
    world.peer("curator").do("quit_group", path)
    world.peer("drover").do("quit_group", path)
    for kind in (Party, ShallowParty):
        place = f"{path}-{kind.__name__}"
        kind(world.kazoo, place, "carl").join()
        seen = world.see("members", place)
        expect((seen["kind"], seen["layout"], len(seen["members"])), ("group", "kazoo", 1), kind.__name__)


def several_recipes_and_none_are_reported(world, path):
    lock = Lock(world.kazoo, path)
    lock.acquire(timeout=PATIENCE_SECONDS)
    world.kazoo.create(f"{path}/_c_0a1b2c3d-1111-4222-8333-444455556666-lock-", ephemeral=True, sequence=True)
    text = world.run("locks", path, status=1)
    expect("several recipes" in text and "mutex (kazoo)" in text, True, f"several: {text}")
    nothing = path + "-nothing"
    world.kazoo.create(nothing + "/settings", makepath=True)
    expect("no lock is recognised" in world.run("locks", nothing, status=1), True, "nothing")
    expect("NoNode" in world.run("locks", path + "-missing", status=1), True, "no such node")
    world.run("locks", status=2)
    world.run("locks", "not-a-path", status=2)
    lock.release()


def everything_below_a_path(world, path):
    Lock(world.kazoo, f"{path}/a/lock").acquire(timeout=PATIENCE_SECONDS)
    Lock(world.kazoo, f"{path}/b/deep/er/lock").acquire(timeout=PATIENCE_SECONDS)
    Queue(world.kazoo, f"{path}/queue").put(b"x")
    seen = [json.loads(line) for line in world.run("locks", path, "-R", "--json").splitlines()]
    expect(sorted(one["path"] for one in seen), [f"{path}/a/lock", f"{path}/b/deep/er/lock"], "locks below")
    expect(world.run("queues", path, "-R").strip().splitlines()[0].startswith(f"{path}/queue: "), True, "queues below")
    expect("raises the limit" in world.run("locks", path, "-R", "--limit", "2", status=1), True, "the bound")


def a_holder_is_released_after_asking(world, path):
    lock = Lock(world.kazoo, path, "anna")
    lock.acquire(timeout=PATIENCE_SECONDS)
    other = world.new_kazoo()
    waiting = in_background(Lock(other, path, "bert").acquire)
    until(lambda: world.counts("locks", path), (1, 1), "who holds and who waits")
    node = world.see("locks", path)["holders"][0]["node"]
    refused = world.run("locks", "release", node, status=1)
    for part in (session(world.kazoo), '"anna"', f"holds the mutex {path}", "Next is", session(other), "--yes", "Nothing was done"):
        if part not in refused:
            raise Failed(f"{part!r} is in {refused}")
    expect(world.counts("locks", path), (1, 1), "nothing has happened")
    expect("do not support revocation" in world.run("locks", "revoke", node, "--yes", status=1), True, "kazoo knows no revocation")
    expect("Released." in world.run("locks", "release", node, "--yes"), True, "released")
    waiting.join(PATIENCE_SECONDS)
    expect(world.see("locks", path)["holders"][0]["session"], session(other), "the next holder")
    expect("does not belong to a lock" in world.run("locks", "release", "/recipes", "--yes", status=1), True, "other nodes are safe")
    other.stop()


def a_holder_is_asked_to_give_it_back(world, path):
    world.peer("curator").do("lock", path)
    expect("Asked." in world.run("locks", "revoke", path, "--yes"), True, "asked")
    seen = world.see("locks", path)
    expect((seen["holders"][0]["data"], seen["holders"][0]["revoked"]), ("__REVOKE__", True), "what the holder finds")
    world.peer("curator").do("unlock", path)


def changes_are_shown_as_they_come(world, path):
    world.kazoo.ensure_path(path)
    with following([world.program, "locks", path, "--watch", "--json", "-server", world.server.address]) as watching:
        expect(json.loads(watching.stdout.readline())["kind"], "nothing known", "at first")
        lock = Lock(world.kazoo, path)
        lock.acquire(timeout=PATIENCE_SECONDS)
        follow_until(watching, holders=1)
        lock.release()
        follow_until(watching, holders=0)


def follow_until(watching, holders):
    """Lines until one has so many holders: a state is printed twice if the addresses are complete only the second time."""
    while len(json.loads(watching.stdout.readline()).get("holders", [])) != holders:
        pass


def a_terminal_is_redrawn_and_prompts(world, path):
    lock = Lock(world.kazoo, path, "anna")
    lock.acquire(timeout=PATIENCE_SECONDS)
    with Terminal([world.program, "locks", path, "--watch", "-server", world.server.address]) as screen:
        screen.wait_for("mutex (kazoo): held")
        lock.release()
        screen.wait_for("nothing known")
        screen.type("\x03")
        expect(screen.wait(), 0, "how it ends")
    lock = Lock(world.kazoo, path, "anna")
    lock.acquire(timeout=PATIENCE_SECONDS)
    for answer, status, words in (("n\n", 1, "Nothing was done"), ("y\n", 0, "Released.")):
        with Terminal([world.program, "locks", "release", path, "-server", world.server.address]) as screen:
            screen.wait_for("Continue? [y/N]")
            screen.type(answer)
            screen.wait_for(words)
            expect(screen.wait(), status, "how it ends")


def long_lines_are_counted_and_cut(world, path):
    world.kazoo.ensure_path(path)
    for _ in range(11):
        transaction = world.kazoo.transaction()
        for _ in range(100):
            transaction.create(f"{path}/x-1-", ephemeral=True, sequence=True)
        transaction.commit()
    seen = world.see("locks", path)
    expect((seen["layout"], len(seen["holders"]), len(seen["waiters"]), seen["not_shown"]), ("ZooKeeper", 1, 999, 100), "a line")
    expect("held, 1099 wait" in world.run("locks", path), True, "in words")


STORIES = [locks_of_curator_and_drover_in_one_line, kazoos_lock_has_its_own_names, readers_and_writers,
           semaphores_count_their_leases, leaders_and_who_is_next, queues_of_every_kind, claimed_items_are_shown,
           members_of_groups, several_recipes_and_none_are_reported, everything_below_a_path,
           a_holder_is_released_after_asking, a_holder_is_asked_to_give_it_back, changes_are_shown_as_they_come,
           a_terminal_is_redrawn_and_prompts, long_lines_are_counted_and_cut]


def addresses_that_servers_do_not_reveal(program):
    """With Java's default whitelist; what is not known is said, with what to do about it."""
    with servers.DroverServer(properties={"zookeeper.4lw.commands.whitelist": "srvr"}) as server:
        client = KazooClient(hosts=server.address, timeout=10)
        client.start(PATIENCE_SECONDS)
        Lock(client, "/lock", "anna").acquire(timeout=PATIENCE_SECONDS)
        done = subprocess.run([program, "locks", "/lock", "-server", server.address], stdout=subprocess.PIPE, text=True)
        client.stop()
        expect("`cons` is not allowed there; 4lw.commands.whitelist=" in done.stdout, True, done.stdout)


def sessions_of(server):
    """The number of sessions with a connection."""
    return sum(",sid=0x" in line for line in servers.four_letter_word(server.port, "cons").splitlines())


def watching_continues_in_the_next_session(program):
    """A paused follower loses its session; then it watches again and shows every state that lasts."""
    with servers.DroverServer(tick_ms=100) as server:
        client = KazooClient(hosts=server.address, timeout=10)
        client.start(PATIENCE_SECONDS)
        client.ensure_path("/lock")
        command = [program, "locks", "/lock", "--watch", "--json", "-server", server.address, "-timeout", "300"]
        with following(command) as watching:
            expect(json.loads(watching.stdout.readline())["kind"], "nothing known", "at first")
            watching.send_signal(signal.SIGSTOP)
            until(lambda: sessions_of(server), 1, "sessions, without that of the follower")
            lock = Lock(client, "/lock", "anna")
            lock.acquire(timeout=PATIENCE_SECONDS)
            watching.send_signal(signal.SIGCONT)
            follow_until(watching, holders=1)  # what has happened meanwhile
            lock.release()
            follow_until(watching, holders=0)
        client.stop()


def a_lock_is_seen_over_tls(program):
    pki = Pki()
    with TlsDrover(pki) as server, tempfile.TemporaryDirectory(prefix="cli-recipes-") as folder:
        client = KazooClient(hosts=server.address, timeout=10)
        client.start(PATIENCE_SECONDS)
        Lock(client, "/lock", "anna").acquire(timeout=PATIENCE_SECONDS)
        stores = {"client.secure": "true", **pki.stores(key=pki.alice)}
        properties = pathlib.Path(folder) / "client.properties"
        properties.write_text("".join(f"zookeeper.{key}={value}\n" for key, value in stores.items()))
        command = [program, "locks", "/lock", "--json", "-server", f"127.0.0.1:{server.secure_port}"]
        done = subprocess.run([*command, "-client-configuration", properties], stdout=subprocess.PIPE, text=True)
        expect(json.loads(done.stdout)["holders"][0]["data"], "anna", "who holds it")
        wrong = subprocess.run([*command, "-client-configuration", "/no/such/file"], stderr=subprocess.PIPE, text=True)
        expect((wrong.returncode, "cannot read" in wrong.stderr), (2, True), wrong.stderr)
        client.stop()


def main():
    logging.disable()  # kazoo tells of every connection that ends
    folder, words = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:]
    program, problems, count = str(folder / "drover"), [], 0
    with tempfile.TemporaryDirectory(prefix="cli-recipes-") as classes:
        recipes.compile_java(classes)
        for kind in ("drover", "java"):
            with servers.KINDS[kind]() as server:
                worlds = recipes.Worlds(str(folder / "recipe_peer"), classes, server.address)
                world = World(program, server, worlds)
                for number, story in enumerate(STORIES):
                    if words and not any(word in story.__name__ for word in words):
                        continue
                    count += 1
                    try:
                        story(world, f"/recipes/{number}")
                    except (Failed, recipes.Failed, OSError, KeyError, ValueError) as problem:
                        problems.append(f"{story.__name__} on {kind}: {problem!r}")
                        print(f"FAILED {problems[-1]}", flush=True)
                worlds.close()
                world.kazoo.stop()
        for story in (addresses_that_servers_do_not_reveal, watching_continues_in_the_next_session,
                      a_lock_is_seen_over_tls):
            if words and not any(word in story.__name__ for word in words):
                continue
            count += 1
            try:
                story(program)
            except (Failed, ValueError, KeyError) as problem:
                problems.append(f"{story.__name__}: {problem!r}")
                print(f"FAILED {problems[-1]}", flush=True)
    print(f"cli_recipes: {count - len(problems)} passed, {len(problems)} failed")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
