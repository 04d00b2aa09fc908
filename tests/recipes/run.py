#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Two processes with different libraries share one recipe: ours with Curator's, ours with kazoo's. Each scenario
# runs in both directions, on a drover server and on Java's. Then our recipes with lost requests and replies, and
# all libraries at once (contention.py).
#
#   run.py FOLDER [WORD...]     of the built programs; only stories whose name has one of the words
import itertools
import os
import pathlib
import queue
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "compat"))
import servers  # noqa: E402  (the path above must come first)
from contention import contend  # noqa: E402

PATIENCE_SECONDS = 40
SHORTLY_SECONDS = 0.3  # long enough to see that something does not happen, most of the time


class Failed(Exception):
    pass


class Call:
    """A command under way."""

    def __init__(self, what):
        self.what = what
        self.answers = queue.Queue()

    def result(self, timeout=PATIENCE_SECONDS):
        try:
            state, text = self.answers.get(timeout=timeout)
        except queue.Empty:
            raise Failed(f"{self.what}: no answer") from None
        if state != "ok":
            raise Failed(f"{self.what}: {text}")
        return text

    def waits(self):
        try:
            state, text = self.answers.get(timeout=SHORTLY_SECONDS)
        except queue.Empty:
            return
        raise Failed(f"{self.what}: should wait, and says {state} {text}")


class Peer:
    """One process of one world."""

    def __init__(self, name, command):
        self.name = name
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.calls = {"0": Call(f"{name} connects")}
        self.numbers = itertools.count(1)
        threading.Thread(target=self._listen, daemon=True).start()
        self.calls["0"].result()

    def _listen(self):
        for line in self.process.stdout:
            number, state, *text = line.rstrip("\n").split(" ", 2)
            self.calls[number].answers.put((state, text[0] if text else ""))

    def start(self, verb, *words):
        number = str(next(self.numbers))
        call = self.calls[number] = Call(f"{self.name}: {verb} {' '.join(map(str, words))}")
        self.process.stdin.write(" ".join([number, verb, *map(str, words)]) + "\n")
        self.process.stdin.flush()
        return call

    def do(self, verb, *words):
        return self.start(verb, *words).result()

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def close(self):
        if self.process.poll() is None:
            self.process.stdin.close()
            self.process.wait(timeout=10)


def expect(actual, wanted, what):
    if actual != wanted:
        raise Failed(f"{what}: {actual!r}, not {wanted!r}")


# --- stories: a and b are of different worlds ---

def lock_is_handed_over(a, b, path):
    a.do("lock", path)
    waiting = b.start("lock", path)
    waiting.waits()
    expect(a.do("unlock", path), "", "unlock")
    waiting.result()
    again = a.start("lock", path)
    again.waits()
    b.do("unlock", path)
    again.result()
    a.do("unlock", path)


def lock_is_refused_while_it_is_held(a, b, path):
    a.do("lock", path)
    expect(b.do("try_lock", path, 500), "no", "try_lock")
    a.do("unlock", path)
    expect(b.do("try_lock", path, 5000), "yes", "try_lock")
    b.do("unlock", path)


def lock_of_a_dead_holder_is_taken_over(a, b, path):
    a.do("lock", path)
    waiting = b.start("lock", path)
    waiting.waits()
    a.kill()
    waiting.result()
    b.do("unlock", path)


def barrier_holds_and_opens(a, b, path):
    a.do("set_barrier", path)
    waiting = b.start("wait_barrier", path)
    waiting.waits()
    a.do("remove_barrier", path)
    waiting.result()


def double_barrier_is_entered_and_left_together(a, b, path):
    first = a.start("enter", path, 2)
    first.waits()
    b.do("enter", path, 2)
    first.result()
    leaving = a.start("leave", path)
    leaving.waits()
    b.do("leave", path)
    leaving.result()


def leadership_passes_to_the_next(a, b, path):
    a.do("latch", path, "anna")
    waiting = b.start("latch", path, "bert")
    waiting.waits()
    expect(a.do("leader", path), "anna", "the leader")
    a.do("unlatch", path)
    waiting.result()
    expect(b.do("leader", path), "bert", "the leader")
    b.do("unlatch", path)


def leadership_of_a_dead_leader_is_taken_over(a, b, path):
    a.do("latch", path, "anna")
    waiting = b.start("latch", path, "bert")
    waiting.waits()
    a.kill()
    waiting.result()
    b.do("unlatch", path)


def readers_share_and_writers_do_not(a, b, path):
    a.do("read", path)
    b.do("read", path)
    b.do("unlock", path)
    writing = b.start("write", path)
    writing.waits()
    a.do("unlock", path)
    writing.result()
    reading = a.start("read", path)
    reading.waits()
    b.do("unlock", path)
    reading.result()
    a.do("unlock", path)


def semaphore_counts_the_leases_of_both(a, b, path):
    one, two = f"{path}-one", f"{path}-two"
    a.do("lease", one, 1)
    waiting = b.start("lease", one, 1)
    waiting.waits()
    a.do("return", one)
    waiting.result()
    b.do("return", one)
    a.do("lease", two, 2)
    b.do("lease", two, 2)
    a.do("return", two)
    b.do("return", two)


def queue_keeps_its_order(a, b, path):
    for item in ("first", "second", "third"):
        a.do("put", path, item)
    expect([b.do("take", path) for _ in range(3)], ["first", "second", "third"], "taken")
    waiting = b.start("take", path)
    waiting.waits()
    a.do("put", path, "fourth")
    expect(waiting.result(), "fourth", "taken")


def queues_of_four_kinds_are_emptied_by_the_other(a, b, path):
    kinds = {
        "fifo": [("first", ""), ("second", ""), ("third", "")],
        "priority": [("third", 70000), ("second", 5), ("first", -5)],
        "delay": [("third", 700), ("first", 100), ("second", 400)],
        "id": [("first", "z/1"), ("second", "a|2"), ("third", "m")],
    }
    for kind, items in kinds.items():
        for data, key in items:
            a.do("put_kind", kind, f"{path}-{kind}", data, key)
        taken = [b.do("take_kind", kind, f"{path}-{kind}") for _ in items]
        expect(taken, ["first", "second", "third"], f"taken from the {kind} queue")


def items_are_removed_by_id(a, b, path):
    for data, key in [("one", "x"), ("two", "y"), ("three", "x")]:
        a.do("put_kind", "id", path, data, key)
    expect(b.do("remove_id", path, "x"), "2", "removed")
    expect(a.do("take_kind", "id", path), "two", "what is left")


def counter_adds_up(a, b, path):
    expect(a.do("add", path, 5), "5", "sum")
    expect(b.do("add", path, -7), "-2", "sum")
    calls = [peer.start("add", path, 1) for _ in range(10) for peer in (a, b)]
    sums = sorted(int(call.result()) for call in calls)
    expect(sums, list(range(-1, 19)), "every sum once")


def group_knows_its_members(a, b, path):
    layout = KAZOO if KAZOO in (a.name, b.name) else CURATOR
    a.do("join", path, "anna", "data-of-anna", layout)
    b.do("join", path, "bert", "data-of-bert", layout)
    for each in (a, b):
        until(lambda peer=each: peer.do("members", path), "anna,bert", f"members as {each.name} sees them")
    a.do("quit_group", path)
    until(lambda: b.do("members", path), "bert", "members after one has left")
    b.do("quit_group", path)


def until(look, wanted, what):
    deadline = time.monotonic() + PATIENCE_SECONDS
    while (seen := look()) != wanted:
        if time.monotonic() > deadline:
            raise Failed(f"{what}: {seen!r}, not {wanted!r}")
        time.sleep(0.01)


CURATOR, KAZOO = "curator", "kazoo"
BOTH = (CURATOR, KAZOO)
STORIES = [
    (lock_is_handed_over, BOTH),
    (lock_is_refused_while_it_is_held, BOTH),
    (lock_of_a_dead_holder_is_taken_over, BOTH),
    (leadership_passes_to_the_next, (CURATOR,)),
    (leadership_of_a_dead_leader_is_taken_over, (CURATOR,)),
    (readers_share_and_writers_do_not, (CURATOR,)),
    (semaphore_counts_the_leases_of_both, (CURATOR,)),
    (queue_keeps_its_order, (CURATOR,)),
    (queues_of_four_kinds_are_emptied_by_the_other, (CURATOR,)),
    (items_are_removed_by_id, (CURATOR,)),
    (counter_adds_up, (CURATOR,)),
    (group_knows_its_members, BOTH),
    (barrier_holds_and_opens, BOTH),
    (double_barrier_is_entered_and_left_together, BOTH),
]


# --- running them ---

class Worlds:
    """Starts processes of each world, and knows those that run."""

    def __init__(self, program, classes, address):
        classpath = servers.java_classpath("curator-recipes.jar", "slf4j-nop.jar")
        self.commands = {
            "drover": [program, address],
            CURATOR: [servers.java_binary(), *servers.JVM_FLAGS, "-cp", f"{classes}:{classpath}", "Peer", address],
            KAZOO: ["/usr/bin/python3", str(HERE / "peer.py"), address],
        }
        self.running = {}

    def peer(self, name):
        """The running peer, restarted if a story has killed it: a JVM takes a second."""
        known = self.running.get(name)
        if known is None or known.process.poll() is not None:
            known = self.running[name] = Peer(name, self.commands[name])
        return known

    def close(self):
        for peer in self.running.values():
            peer.close()


def compile_java(folder):
    classpath = servers.java_classpath("curator-recipes.jar")
    sources = [str(HERE / name) for name in ("Peer.java", "Contender.java")]
    subprocess.run(["javac", "-nowarn", "-d", folder, "-cp", classpath, *sources], check=True)


def tell(worlds, story, pair, path):
    try:
        story(worlds.peer(pair[0]), worlds.peer(pair[1]), path)
        return None
    except (Failed, OSError) as problem:
        # The peers may be in any state, so the next story starts new ones.
        worlds.close()
        worlds.running.clear()
        return str(problem)


def lose_things(program, server, words):
    """Our recipes through the fault proxy. How many tests failed, and how many did not."""
    pattern = ":".join(f"*{word}*" for word in words) or "*"
    done = subprocess.run([program, "--gtest_brief=1", f"--gtest_filter={pattern}"], stdout=subprocess.PIPE, text=True,
                          env=dict(os.environ, SERVER=server.address))
    counts = re.findall(r"^\[  (PASSED|FAILED)  \] (\d+) test", done.stdout, re.MULTILINE)
    passed = sum(int(count) for word, count in counts if word == "PASSED")
    failed = len(re.findall(r"^\[  FAILED  \] \S*/", done.stdout, re.MULTILINE))
    if done.returncode != 0:
        print(done.stdout)
        failed = max(failed, 1)
    return passed, failed


def main():
    folder, words = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:]
    passed = failed = 0
    with tempfile.TemporaryDirectory(prefix="recipes-") as classes:
        compile_java(classes)
        for kind in ("drover", "java"):
            with servers.KINDS[kind]() as server:
                worlds = Worlds(str(folder / "recipe_peer"), classes, server.address)
                for number, (story, others) in enumerate(STORIES):
                    if words and not any(word in story.__name__ for word in words):
                        continue
                    for pair in [p for other in others for p in (("drover", other), (other, "drover"))]:
                        problem = tell(worlds, story, pair, f"/recipes/{number}-{pair[0]}-{pair[1]}")
                        passed, failed = passed + (problem is None), failed + (problem is not None)
                        if problem:
                            print(f"FAILED on {kind}: {story.__name__}, {pair[0]} and {pair[1]}: {problem}", flush=True)
                worlds.close()
                good, bad = lose_things(str(folder / "recipe_faults_test"), server, words)
                passed, failed = passed + good, failed + bad
                good, bad = contend(folder, classes, server, words)
                passed, failed = passed + good, failed + bad
    print(f"recipes: {passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
