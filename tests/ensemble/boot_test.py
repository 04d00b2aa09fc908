#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
#
# The first start of an ensemble of real processes: servers without data serve as soon as a quorum of them is up,
# whatever the order of their starts, and never at the expense of data that one of them has.
#
#   boot_test.py [TEXT]                      the tests, or those whose name contains TEXT
#   boot_test.py --measure RUNS SERVERS KIND how long a quorum takes to serve; starts are spread over 0-1 s

import random
import re
import sys
import time

from ensemble import DROVER, JAVA, SETTLE_SECONDS, Ensemble  # First: it makes tests/durability and tests/compat importable.
from harness import check, check_equal, wait_until
from suite import run

BEGINS = "A NEW HISTORY BEGINS"
WAITS = "waiting for a leader that has it|does not know its history"
DIVERGED_EXIT = 4
# A quorum serves within this time after it is up, and in so many times the time that a process took to start here: the
# second part is small on an idle machine, and allows for others' load.
SERVE_SECONDS = 2.0
STARTS = 20


def check_no_time_limit_was_needed(ensemble):
    """A server that waits in vain gives up after initLimit, 15 s here. No server may need that long."""
    for member in ensemble:
        check("within initLimit" not in member.said(since=0), f"{member} waited for initLimit")


def quorum_serves(ensemble):
    modes = [member.mode() for member in ensemble]
    return "leader" in modes and sum(mode is not None for mode in modes) * 2 > len(modes)


def write(ensemble, name):
    with ensemble.leader().client() as client:
        client.create(f"/{name}")


class Starts:
    """When servers were launched, when they were up, and when a quorum served."""

    def __init__(self, ensemble):
        self.ensemble, self.launched, self.up, self.served = ensemble, {}, {}, None

    def launch(self, sid):
        self.launched[sid] = time.monotonic()
        self.ensemble[sid].launch()

    def is_up(self, sid):
        if sid not in self.up and self.ensemble[sid].answers():
            self.up[sid] = time.monotonic()
        return sid in self.up

    def is_over(self):
        all_up = all([self.is_up(sid) for sid in self.launched])
        if self.served is None and quorum_serves(self.ensemble):
            self.served = time.monotonic()
        return all_up and self.served is not None

    def check_in_time(self):
        quorum = len(self.launched) // 2 + 1
        took = self.served - sorted(self.up.values())[quorum - 1]
        start = max(self.up[sid] - self.launched[sid] for sid in self.up)
        allowed = SERVE_SECONDS + STARTS * start
        print(f"  a quorum serves {took:.2f} s after it is up; the slowest start took {start:.2f} s", flush=True)
        check(took <= allowed, f"a quorum served {took:.2f} s after it was up, {allowed:.2f} s are allowed")


def new_servers_serve(servers, seed):
    """Some start together, some when the one before them is up."""
    dice = random.Random(seed)
    order = list(range(1, servers + 1))
    dice.shuffle(order)
    with Ensemble([DROVER] * servers) as ensemble:
        starts = Starts(ensemble)
        for sid in order:
            starts.launch(sid)
            if dice.random() < 0.5:
                wait_until(lambda sid=sid: starts.is_over() or starts.is_up(sid), f"server {sid} is up")
        wait_until(starts.is_over, "a quorum serves, and all are up", SETTLE_SECONDS)
        starts.check_in_time()
        ensemble.settle()
        check_no_time_limit_was_needed(ensemble)


def new_servers_case(servers, seed):
    def case():
        new_servers_serve(servers, seed)
    case.__name__ = f"{servers}_new_servers_serve_order_{seed}"
    return case


def two_of_three_new_servers_serve_and_log_it():
    with Ensemble([DROVER] * 3) as ensemble:
        ensemble.start(1, 2)
        check_equal(sum(member.said().count(BEGINS) for member in ensemble), 1, "loud lines")
        write(ensemble, "before")
        ensemble.start(3)
        ensemble.level()
        check_no_time_limit_was_needed(ensemble)
        check(BEGINS not in ensemble[3].said(), "a joining server starts no new history")


def new_servers_of_both_kinds_serve(kinds):
    with Ensemble(kinds) as ensemble:
        ensemble.start(1, 2)
        check_equal(ensemble.leader().sid, 2, "leader")
        write(ensemble, "before")
        ensemble.start(3)
        ensemble.level()
        check_no_time_limit_was_needed(ensemble)


def both_kinds_case(kinds):
    def case():
        new_servers_of_both_kinds_serve(kinds)
    case.__name__ = "of_new_servers_" + "_".join(kinds) + "_the_first_two_serve"
    return case


def leave_the_data_with_one(ensemble):
    """All servers stop, and two of three lose their disks."""
    ensemble.start()
    write(ensemble, "old")
    ensemble.level()
    for member in ensemble:
        member.stop()
    ensemble[1].wipe()
    ensemble[2].wipe()


def a_server_whose_history_the_others_have_lost_stops_and_keeps_it():
    with Ensemble([DROVER] * 3) as ensemble:
        leave_the_data_with_one(ensemble)
        ensemble.start(1, 2)
        check_equal(sum(member.said().count(BEGINS) for member in ensemble.running), 1, "loud lines")
        write(ensemble, "new")

        late = ensemble[3]
        held = {path.name: path.read_bytes() for path in late.files.iterdir() if "Epoch" not in path.name}
        late.launch()
        check_equal(late.process.wait(60), DIVERGED_EXIT, "exit code")
        late.process = None
        check("leads a history that is not the one on this disk" in late.said(), "it says why")
        for name, content in held.items():
            check((late.files / name).read_bytes().startswith(content.rstrip(b"\0")), f"{name} is unchanged")
        ensemble.settle()

        late.wipe()
        ensemble.start(3)
        ensemble.level()


def empty_servers_wait_while_one_that_has_data_answers():
    with Ensemble([DROVER] * 3) as ensemble:
        leave_the_data_with_one(ensemble)
        ensemble.start(3, wait=False)
        wait_until(ensemble[3].answers, "the one with data is up")
        ensemble.start(1, 2, wait=False)
        for sid in (1, 2):
            wait_until(lambda sid=sid: re.search(WAITS, ensemble[sid].said()), f"server {sid} waits")
        check(not quorum_serves(ensemble), "two empty servers outvote one that has data")
        # The operator's word ends it.
        ensemble[1].stop()
        (ensemble[1].data_dir / "initialize").touch()
        ensemble.start(1)
        with ensemble.leader().client() as client:
            check(client.exists("/old"), "all servers have what one had")


def measure(runs, servers, kind):
    """Seconds from the moment a quorum is started until one serves, sorted."""
    times = []
    for seed in range(runs):
        dice = random.Random(seed)
        at = sorted((dice.random(), sid) for sid in range(1, servers + 1))
        with Ensemble([kind] * servers, config={"tickTime": 2000, "initLimit": 10, "syncLimit": 5}) as ensemble:
            began = time.monotonic()
            for number, (delay, sid) in enumerate(at, 1):
                time.sleep(max(0.0, began + delay - time.monotonic()))
                ensemble[sid].launch()
                if number == servers // 2 + 1:
                    quorum_up = time.monotonic()
            wait_until(lambda: quorum_serves(ensemble), "a quorum that serves", 120)
            quorum_at = time.monotonic()
            wait_until(ensemble.serves, "everybody serves", 120)
            times.append((quorum_at - quorum_up, time.monotonic() - began - at[-1][0]))
    quorum, everybody = (sorted(each) for each in zip(*times))
    for name, seconds in (("quorum serves", quorum), ("everybody serves", everybody)):
        print(f"{kind} {servers} servers, {runs} runs, {name}: min {seconds[0]:.2f} s, "
              f"median {seconds[runs // 2]:.2f} s, max {seconds[-1]:.2f} s")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        measure(int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
        sys.exit(0)
    sys.exit(run("boot", [
        *[new_servers_case(servers, seed) for servers in (3, 5) for seed in range(2)],
        two_of_three_new_servers_serve_and_log_it,
        both_kinds_case([DROVER, JAVA, DROVER]),
        both_kinds_case([JAVA, DROVER, JAVA]),
        a_server_whose_history_the_others_have_lost_stops_and_keeps_it,
        empty_servers_wait_while_one_that_has_data_answers,
    ], only=sys.argv[1] if len(sys.argv) > 1 else None))
