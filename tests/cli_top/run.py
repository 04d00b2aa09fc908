#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Tests `drover top` on an ensemble of two drover servers and a Java server: healthy, with one server down, and
# with a four-letter word that is not allowed.
#
#   run.py [WORD...]     only stories whose name has one of the words; DROVER names the program
import json
import pathlib
import subprocess
import sys
import threading

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / name) for name in ("compat", "durability", "ensemble", "cli_recipes")]
from ensemble import DROVER, JAVA, Ensemble  # noqa: E402  (the paths above must come first)
from harness import p, wait_until  # noqa: E402
from servers import DroverServer, drover_binary  # noqa: E402
from terminal import PATIENCE_SECONDS, Failed, Terminal, following  # noqa: E402


def expect(actual, wanted, what):
    if actual != wanted:
        raise Failed(f"{what}: {actual!r}, not {wanted!r}")


def run(hosts, *words, status=0):
    done = subprocess.run([drover_binary(), "top", "-server", hosts, *words], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=PATIENCE_SECONDS, stdin=subprocess.DEVNULL)
    expect(done.returncode, status, f"exit code ({done.stdout} {done.stderr})")
    return done.stdout + done.stderr


def look(hosts, *words):
    return json.loads(run(hosts, "--once", "--json", *words))


class Writes:
    """Changes of two nodes, three of one for each of the other, for as long as the context lasts."""

    def __init__(self, member):
        self.member, self.over = member, threading.Event()

    def __enter__(self):
        self.thread = threading.Thread(target=self._write, daemon=True)
        self.begun = threading.Event()
        self.thread.start()
        if not self.begun.wait(PATIENCE_SECONDS):
            raise Failed("nobody writes")

    def _write(self):
        with self.member.client() as session:
            for path in ("/hot", "/hot/a", "/cold", "/cold/b"):
                session.create(path)
            while not self.over.is_set():
                for path in ("/hot/a", "/hot/a", "/hot/a", "/cold/b"):
                    session.call(p.SET_DATA, p.set_data_body(path, b"x"))
                self.begun.set()

    def __exit__(self, *_):
        self.over.set()
        self.thread.join(PATIENCE_SECONDS)


def everybody_is_shown(ensemble):
    leader = ensemble.settle()
    seen = look(ensemble.hosts)
    members = {row["sid"]: row for row in seen["members"]}
    expect(sorted(members), [1, 2, 3], f"ids of {seen}")
    for sid, row in members.items():
        expect((row["address"], row["role"]), (ensemble[sid].address, "leader" if ensemble[sid] is leader else "follower"),
               f"server {sid}")
        for key in ("zxid", "epoch", "lag", "sessions", "connections", "watches", "outstanding", "requests_per_second",
                    "latency_average_ms"):
            if row[key] is None:
                raise Failed(f"server {sid} ({ensemble[sid].kind}) has {key}: {row}")
        if row["read_latency_ms"]["p99"] is None or row["update_latency_ms"]["p50"] is None:
            raise Failed(f"percentiles of server {sid} ({ensemble[sid].kind}): {row}")
    expect(len({row["epoch"] for row in members.values()}), 1, "one epoch")
    expect(("drover" in members[1]["version"], "drover" in members[2]["version"]), (True, False), "versions")
    expect(seen["notes"], [], "notes")


def changes_and_rates_are_counted(ensemble):
    with Writes(ensemble.settle()):
        seen = look(ensemble.hosts, "--depth", "1")
        busy = max(row["requests_per_second"] for row in seen["members"])
        if busy < 10:
            raise Failed(f"requests are counted: {seen}")
        paths = [(one["path"], one["changes"]) for one in seen["changes"]["by_path"]]
        expect([path for path, _ in paths[:2]], ["/hot", "/cold"], "the hottest paths")
        if not 2.5 < paths[0][1] / paths[1][1] < 3.5:
            raise Failed(f"three to one: {paths}")
        expect([one["path"] for one in look(ensemble.hosts)["changes"]["by_path"][:2]], ["/hot/a", "/cold/b"], "deeper")
    expect(look(ensemble.hosts, "--no-paths")["changes"]["trouble"], "not counted (--no-paths)", "without paths")


def one_address_finds_itself_in_the_configuration(ensemble):
    """The configuration has no client ports here: the others are named, with what to do."""
    seen = look(ensemble[1].address)
    expect([row["sid"] for row in seen["members"] if row["address"]], [1], "who can be asked")
    expect(sum("its client port is not in the configuration; add it to -server" in note for note in seen["notes"]), 2,
           f"the others: {seen['notes']}")


def a_server_that_is_down_is_shown_as_down(ensemble):
    ensemble.settle()
    gone = ensemble.followers()[0]
    gone.kill()
    ensemble.settle()
    roles = {row["address"]: row["role"] for row in look(ensemble.hosts)["members"]}
    expect(roles[gone.address], "down", "the one that is gone")
    expect(sorted(roles.values()), ["down", "follower", "leader"], "roles")
    text = run(ensemble.hosts, "--once")
    expect("refused" in text, True, f"why: {text}")
    last = next(member for member in ensemble.running if member.mode() == "follower")
    last.kill()
    left = ensemble.running[0]
    wait_until(lambda: left.mode() is None, "a server without a quorum")
    seen = look(ensemble.hosts)
    expect(sorted(row["role"] for row in seen["members"]), ["down", "down", "looking"], "no quorum")
    expect(any("no leader" in note for note in seen["notes"]), True, "what that means")
    left.kill()
    expect("no server answers" in run(ensemble.hosts, "--once", status=1), True, "nobody")
    ensemble.start()


def fits(drawn):
    lines = [line.strip("\r").removesuffix("\x1b[K").removeprefix("\x1b[H") for line in drawn.split("\n")]
    return len(lines) == 8 and max(map(len, lines)) == 40


def a_terminal_is_a_live_screen(ensemble):
    leader = ensemble.settle()
    with Terminal([drover_binary(), "top", "-server", ensemble.hosts, "--interval", "0.1"]) as screen:
        screen.resize(30, 150)
        screen.wait_for("leader")
        screen.wait_for("q quit")
        with leader.client() as session:
            session.create("/seen")
            screen.wait_for("/seen")
        screen.type("+")
        screen.wait_for("depth 3")
        screen.type("--")
        screen.wait_for("depth 1")
        screen.type("r")
        screen.resize(8, 40)
        screen.wait_until(fits, "eight lines of forty characters")
        screen.type("q")
        expect(screen.wait(), 0, "how it ends")
    with Terminal([drover_binary(), "top", "-server", ensemble.hosts]) as screen:
        screen.wait_for("leader")
        screen.type("\x03")
        screen.wait_for("\x1b[?1049l")
        expect(screen.wait(), 0, "how Ctrl-C ends it")


def a_line_for_each_look(ensemble):
    with following([drover_binary(), "top", "-server", ensemble.hosts, "--json", "--interval", "0.1"]) as watching:
        for _ in range(3):
            expect(len(json.loads(watching.stdout.readline())["members"]), 3, "members of each look")


def words_that_are_not_allowed_are_reported(_):
    with DroverServer(properties={"zookeeper.4lw.commands.whitelist": "srvr"}) as server:
        seen = look(server.address)
        (row,) = seen["members"]
        expect((row["role"], row["sessions"], row["connections"] is not None), ("standalone", None, True), "what is known")
        expect(any("`mntr` is not allowed there; 4lw.commands.whitelist=" in note for note in seen["notes"]), True,
               f"what to do: {seen['notes']}")
        run(server.address, status=2)  # neither a terminal nor --once
        run(server.address, "--once", "--interval", "fast", status=2)


STORIES = [everybody_is_shown, changes_and_rates_are_counted, one_address_finds_itself_in_the_configuration,
           a_terminal_is_a_live_screen, a_line_for_each_look, a_server_that_is_down_is_shown_as_down, words_that_are_not_allowed_are_reported]


def main():
    words, failed, count = sys.argv[1:], 0, 0
    with Ensemble([DROVER, JAVA, DROVER]).start() as ensemble:
        for story in STORIES:
            if words and not any(word in story.__name__ for word in words):
                continue
            count += 1
            try:
                story(ensemble)
            except (Failed, AssertionError, OSError, KeyError, ValueError) as problem:
                failed += 1
                print(f"FAILED {story.__name__}: {problem!r}", flush=True)
    print(f"cli_top: {count - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
