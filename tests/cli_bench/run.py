#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Does `drover bench` count its requests, measure from when each was due, and leave nothing behind? It does not
# test the speed of a server (see bench/).
#
#   run.py [WORD...]     only stories whose name has one of the words; DROVER names the program
import contextlib
import json
import pathlib
import signal
import socket
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / name) for name in ("compat", "durability", "cli_recipes")]
from harness import Session, wait_until  # noqa: E402  (the paths above must come first)
from servers import KINDS, drover_binary, four_letter_word  # noqa: E402
from terminal import PATIENCE_SECONDS, Failed, Terminal  # noqa: E402

QUICK = ("--seconds", "0.4", "--warm-up", "0.1", "--sessions", "4", "--in-flight", "4", "--keys", "50")


def expect(actual, wanted, what):
    if actual != wanted:
        raise Failed(f"{what}: {actual!r}, not {wanted!r}")


def check(condition, what):
    if not condition:
        raise Failed(what)


def command(server, *words):
    return [drover_binary(), "bench", *words, "-server", server.address]


def run(server, *words, status=0):
    done = subprocess.run(command(server, *words), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=PATIENCE_SECONDS, stdin=subprocess.DEVNULL)
    expect(done.returncode, status, f"exit code of bench {' '.join(words)} ({done.stdout} {done.stderr})")
    return done.stdout + done.stderr


def roots(server):
    session = Session(server.port)
    try:
        return [name for name in session.children("/") if name.startswith("drover-bench-")]
    finally:
        session.close()


def received(server):
    for line in four_letter_word(server.port, "srvr").splitlines():
        if line.startswith("Received: "):
            return int(line.split()[1])
    raise Failed("srvr says no count")


def begin(server, *words):
    """A load that is under way: the server has received more requests than the nodes that are made first."""
    before = received(server)
    process = subprocess.Popen(command(server, *words), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_until(lambda: received(server) > before + 400, "requests", PATIENCE_SECONDS)
    return process


def every_load_gives_a_result_and_leaves_nothing(server):
    for load in ("get", "set", "create", "mixed", "lock", "watch"):
        keys = ("--keys", "2") if load == "lock" else ()
        before = received(server)
        result = json.loads(run(server, load, "--json", *QUICK, *keys))
        expect((result["load"], result["errors"], result["interrupted"]), (load, {}, False), "how it went")
        check(result["count"] > 20, f"something was counted: {result}")
        latency = [result["latency_us"][name] for name in ("p50", "p90", "p95", "p99", "p99.9", "p99.99", "max")]
        check(latency == sorted(latency) and latency[0] > 1, f"percentiles grow: {result}")
        check(abs(result["per_second"] - result["count"] / result["seconds"]) < 2, f"the rate is that of the count: {result}")
        if load in ("get", "set", "mixed", "create"):
            # A request is a packet; those of the set-up and of the warm-up are not counted.
            check(received(server) - before > result["count"], f"what was counted was sent: {result}")
        expect(roots(server), [], f"what {load} leaves")


def text_is_for_people(server):
    text = run(server, "get", *QUICK)
    for part in ("get: ", " requests in 0.4 s, ", "p50", "p99.99", "max", "CPU of this client"):
        check(part in text, f"{part!r} is in {text}")


def a_rate_is_kept(server):
    result = json.loads(run(server, "get", "--json", "--rate", "500", "--seconds", "1", "--warm-up", "0.2", "--sessions", "4"))
    expect(result["count"], 500, "requests that were due")


def a_stopped_server_is_seen_by_all_that_were_due(server):
    """200 requests are due in each of three seconds, and the server stops for about one of them: a third of all, not only
    those that were under way, have waited."""
    load = begin(server, "get", "--json", "--rate", "200", "--seconds", "3", "--warm-up", "0", "--sessions", "2",
                 "--in-flight", "2", "--keys", "300")
    server.process.send_signal(signal.SIGSTOP)
    try:
        load.wait(timeout=1)
        raise Failed("it ended while the server stood still")
    except subprocess.TimeoutExpired:
        server.process.send_signal(signal.SIGCONT)
    out, _ = load.communicate(timeout=PATIENCE_SECONDS)
    result = json.loads(out)
    expect((load.returncode, result["count"], result["errors"]), (0, 600, {}), "all that were due")
    check(result["latency_us"]["p90"] > 200_000, f"a tenth waited for 0.2 s at least: {result}")
    check(result["latency_us"]["max"] > 900_000, f"the first of them for the whole second: {result}")
    expect(roots(server), [], "what it leaves")


def an_interrupted_load_counts_and_cleans_up(server):
    for number, load in ((signal.SIGINT, "create"), (signal.SIGTERM, "lock")):
        process = begin(server, load, "--json", "--seconds", "600", "--warm-up", "0")
        check(roots(server), "nodes while it runs")
        process.send_signal(number)
        out, _ = process.communicate(timeout=PATIENCE_SECONDS)
        result = json.loads(out)
        expect((process.returncode, result["interrupted"]), (0, True), "how it ends")
        check(result["count"] > 0, f"what was done is counted: {result}")
        expect(roots(server), [], "what it leaves")


def leftovers_of_a_killed_load_are_removed(server):
    process = begin(server, "create", "--seconds", "600")
    process.kill()
    process.communicate()
    check(len(roots(server)) == 1, "what it leaves")
    check("removed /drover-bench-" in run(server, "clean"), "the removed nodes are reported")
    expect(roots(server), [], "after that")
    check("nothing to remove" in run(server, "clean"), "nothing more")


def errors_are_counted_by_kind(server):
    """A server that goes away and comes back: the load goes on, and says what it met."""
    process = begin(server, "set", "--json", "--seconds", "2", "--warm-up", "0", "--sessions", "2", "--keys", "10",
                    "-timeout", "6000")
    server.kill()
    server.start()
    out, err = process.communicate(timeout=PATIENCE_SECONDS)
    result = json.loads(out)
    # How long a JVM takes to come back is not known: its sessions may be over by then.
    kinds = [kind for kind in result["errors"] if not kind.startswith("without a reply")]
    check(kinds and set(kinds) <= {"ConnectionLoss", "Session expired"}, f"{result} {err}")
    expect((process.returncode, roots(server)), (0, []), "how it ends")


def a_session_that_ends_while_it_cleans_up_is_replaced(server):
    """The server is stopped from the end of the load until its sessions expire: a new session removes the nodes."""
    process = begin(server, "set", "--json", "--seconds", "2", "--warm-up", "0", "--sessions", "2", "--keys", "10",
                    "-timeout", "20000")
    server.kill()
    with socket.create_server(("127.0.0.1", server.port)) as silent, contextlib.ExitStack() as held:
        until = time.monotonic() + 21
        while time.monotonic() < until:
            silent.settimeout(max(0.01, until - time.monotonic()))
            with contextlib.suppress(TimeoutError):
                held.enter_context(silent.accept()[0])
    server.start()
    out, err = process.communicate(timeout=PATIENCE_SECONDS)
    expect((process.returncode, roots(server)), (0, []), f"how it ends: {out} {err}")


def a_terminal_has_a_line_of_progress(server):
    with Terminal(command(server, "get", "--seconds", "600", "--warm-up", "0")) as screen:
        screen.wait_for("get: 1 of 600 s")
        screen.wait_for("p99")
        screen.type("\x03")
        screen.wait_for("(interrupted)")
        expect(screen.wait(), 0, "how it ends")
    expect(roots(server), [], "what it leaves")


def wrong_words_are_refused(server):
    run(server, "delete", status=2)
    run(server, "get", "--sessions", "0", status=2)
    run(server, "watch", "--sessions", "1", status=2)
    done = subprocess.run([drover_binary(), "bench", "-server", "127.0.0.1:1"], stderr=subprocess.PIPE, text=True)
    check(done.returncode == 1 and "Is a server running there?" in done.stderr, f"nobody there: {done.stderr}")


STORIES = [every_load_gives_a_result_and_leaves_nothing, text_is_for_people, a_rate_is_kept,
           a_stopped_server_is_seen_by_all_that_were_due, an_interrupted_load_counts_and_cleans_up,
           leftovers_of_a_killed_load_are_removed, errors_are_counted_by_kind, a_terminal_has_a_line_of_progress]
OF_OURS = [wrong_words_are_refused, a_session_that_ends_while_it_cleans_up_is_replaced]


def main():
    words, failed, count = sys.argv[1:], 0, 0
    for kind in ("drover", "java"):
        with KINDS[kind]() as server:
            for story in STORIES + (OF_OURS if kind == "drover" else []):
                if words and not any(word in story.__name__ for word in words):
                    continue
                count += 1
                begun = time.monotonic()
                try:
                    story(server)
                except (Failed, AssertionError, OSError, KeyError, ValueError, subprocess.TimeoutExpired) as problem:
                    failed += 1
                    print(f"FAILED on {kind}: {story.__name__}: {problem!r}", flush=True)
                if time.monotonic() - begun > 15:
                    print(f"{story.__name__} took {time.monotonic() - begun:.0f} s on {kind}", flush=True)
    print(f"cli_bench: {count - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
