#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
#
# The members of an ensemble change while clients write and the leader is killed: three servers become five and three
# again, the leader leaves, and all servers of one kind are replaced by another. Nothing acknowledged is lost, all
# trees are equal, and no session expires whose server stays. The servers are drover, Apache ZooKeeper 3.8.0 and 3.9
# (maven.py).
#
#   reconfig_load_test.py          the cases of CI
#   reconfig_load_test.py --all    every combination
#   reconfig_load_test.py --list, --only TEXT
#   DROVER_SEED=n                  repeats what the raw sessions choose to write

import argparse
import os
import random
import sys

from ensemble import DROVER, JAVA, JAVA39, write_marker  # First: it makes tests/durability importable.
from harness import Session, check, check_equal, p, wait_until
from load import Load
from members import (ANSWERED, MOMENTS, PROPOSED, SENT, Members, Residents, forget_members, line_of, reconfig_body,
                     sids_in)
from mixed_test import JavaLostItsState, java_lost_its_state
from releases import without_unreachable
from scenarios import in_log
from suite import run
from trees import check_same_everywhere

SEED = int(os.environ.get("DROVER_SEED", random.SystemRandom().randrange(1 << 32)))
NAMES = {DROVER: "drover", JAVA: "java 3.8", JAVA39: "java 3.9"}
WRITES = 3  # of each client, between two changes


class Change:
    """An ensemble with its load and one session for each server."""

    def __init__(self, ensemble, load, residents):
        self.ensemble, self.load, self.residents = ensemble, load, residents

    def goes_on(self):
        self.load.goes_on(WRITES)

    def compare(self):
        """The same tree and the same members everywhere, nothing acknowledged missing, and no session expired."""
        for member in [*self.ensemble, *self.ensemble.retired]:
            member.check_not_diverged()
        self.load.pause()
        self.ensemble.agree()
        self.load.check_in(check_same_everywhere(self.ensemble))
        self.residents.check_alive()
        self.load.resume()

    def kill_leader_during(self, moment, **change):
        """The change is made in the end, whether the leader that was asked first got that far or not."""
        leader, made = self.ensemble.reconfig_and_kill_leader(
            moment, lambda leader: self.residents.move_out(leader.sid), **change)
        check(made or moment != ANSWERED, "an acknowledged change of the members is kept")
        print(f"reconfig_load: the change {'was made' if made else 'got lost'} with a leader killed when it was "
              f"{moment}", flush=True)
        self.goes_on()
        if not made:
            self.ensemble.reconfig(**change, at=self.ensemble.leader())
        return leader


def changing(kinds, spares, story):
    """Server 3 leads at first."""
    with Members(kinds, spares=spares) as ensemble:
        ensemble.start_led_by(3)
        try:
            with Load(ensemble, SEED, servers=ensemble.everybody) as load, Residents(ensemble) as residents:
                change = Change(ensemble, load, residents)
                change.goes_on()
                story(change)
        except Exception as error:
            if excuse := java_lost_its_state(ensemble):
                raise JavaLostItsState(excuse) from error
            raise AssertionError(f"DROVER_SEED={SEED}: {error}") from error


def three_become_five_become_three(kinds, joins, joining=PROPOSED, leaving=PROPOSED):
    def story(change):
        ensemble, residents = change.ensemble, change.residents
        for sid in (4, 5):
            ensemble.add(sid)
            ensemble.start(sid)
        lines = ",".join(line_of(ensemble[sid]) for sid in (4, 5))
        killed = change.kill_leader_during(joining, joining=lines)
        ensemble.start(killed.sid)
        ensemble.agree()
        residents.settle_in()
        change.goes_on()

        leader = ensemble.leader()
        residents.move_out(leader.sid)
        leader.kill()
        ensemble.settle()
        change.goes_on()
        ensemble.start(leader.sid)
        change.compare()

        leader = ensemble.leader()
        leaves = [member.sid for member in ensemble if member is not leader][:2]
        residents.move_out(*leaves)
        killed = change.kill_leader_during(leaving, leaving=",".join(map(str, leaves)))
        remaining = [sid for sid in leaves if sid in ensemble.members]
        ensemble.retire(*remaining)
        for member in ensemble.retired:
            member.stop()
        change.goes_on()
        ensemble.start(killed.sid)
        change.compare()

    changing(kinds, {4: joins, 5: joins}, story)


def the_leader_leaves_and_dies(kinds, joins):
    """It has proposed the members to which it does not belong."""
    def story(change):
        ensemble = change.ensemble
        ensemble.add(4)
        ensemble.join(4)
        change.residents.settle_in()
        change.goes_on()
        leader = ensemble.leader()
        change.kill_leader_during(PROPOSED, leaving=str(leader.sid))
        if leader.sid in ensemble.members:
            ensemble.retire(leader.sid)
        change.goes_on()
        change.compare()

    changing(kinds, {4: joins}, story)


def forgotten_with_the_leader(kinds, joins):
    """The leader logs a change of the members that nobody else receives, and dies. When it is back, the change never
    was, on its disk neither; and it can be made."""
    def story(change):
        ensemble = change.ensemble
        ensemble.add(4)
        ensemble.start(4)
        change.load.pause()
        leader = ensemble.leader()
        before = ensemble.config(leader)
        session = Session(leader.port)
        others = [member for member in ensemble if member is not leader]
        for member in others:
            member.pause()
        session.send([(p.RECONFIG, reconfig_body(joining=line_of(ensemble[4])))])
        proposed = leader.base / "zoo.cfg.dynamic.next"
        wait_until(lambda: proposed.exists() and in_log(leader, line_of(ensemble[4])), "the change in the log", 60)
        change.residents.move_out(*ensemble.members)
        for member in ensemble:
            member.kill()  # The others too, because their sockets may hold the proposal.
        session.close()
        ensemble.start(*[member.sid for member in others if member.sid != 4])
        check_equal(sids_in(ensemble.config()), sids_in(before), "the members without the leader that died")
        write_marker(ensemble.leader())
        forget_members(ensemble[4])  # Java has made a file of the members, to which it does not belong.
        ensemble.start(4)
        ensemble.start(leader.sid)
        change.load.resume()
        change.goes_on()
        check_equal(sids_in(ensemble.config(leader)), sids_in(before), f"the members at {leader}")
        if leader.kind == DROVER:
            wait_until(lambda: not proposed.exists(), f"{leader} forgets the change", 60)
        ensemble.reconfig(joining=line_of(ensemble[4]))
        change.residents.settle_in()
        change.compare()

    changing(kinds, {4: joins}, story)


def replaced_by_joining_and_leaving(first, second, back=True):
    """Each new server joins before an old one leaves; on the way back one request does both."""
    def story(change):
        ensemble, residents = change.ensemble, change.residents
        for old, new in ((1, 4), (2, 5), (3, 6)):
            ensemble.add(new)
            ensemble.join(new)
            change.goes_on()
            residents.move_out(old)
            ensemble.leave(old)
            residents.settle_in()
            change.goes_on()
        change.compare()
        for old, new in ((4, 1), (5, 2), (6, 3)) if back else ():
            joins = ensemble.add(new)
            ensemble.start(new)
            residents.move_out(old)
            ensemble.reconfig(joining=line_of(joins), leaving=str(old), at=joins)
            ensemble.retire(old)
            for member in ensemble.retired:
                member.stop()
            residents.settle_in()
            change.goes_on()
        change.compare()

    spares = {4: second, 5: second, 6: second, **({1: first, 2: first, 3: first} if back else {})}
    changing([first] * 3, spares, story)


def leads_and_changes(leads, others):
    """A leader of one kind adds a server of the other, removes one, and then itself."""
    def story(change):
        ensemble, residents = change.ensemble, change.residents
        ensemble.add(4)
        ensemble.join(4)
        change.goes_on()
        residents.move_out(1)
        ensemble.leave(1)
        change.goes_on()
        check(ensemble.leader().kind == leads, f"{NAMES[leads]} still leads")
        ensemble.add(5)
        ensemble.join(5)
        residents.move_out(3)
        ensemble.leave(3)
        change.goes_on()
        change.compare()

    changing([others, others, leads], {4: others, 5: others}, story)


def case(name, story, *arguments, **options):
    def attempt():
        try:
            story(*arguments, **options)
        except JavaLostItsState as excuse:
            print(f"reconfig_load: once more, because {excuse}", flush=True)
            story(*arguments, **options)

    attempt.__name__ = name
    attempt.kinds = {kind for argument in arguments
                     for kind in (argument if isinstance(argument, list) else [argument])}
    return attempt


def growing(kinds, joins, joining=PROPOSED, leaving=PROPOSED):
    who = ", ".join(NAMES[kind] for kind in kinds)
    return case(f"three become five become three: {who}; {NAMES[joins]} joins; the leader is killed when the change "
                f"is {joining} and when it is {leaving}",
                three_become_five_become_three, kinds, joins, joining=joining, leaving=leaving)


def forgetting(kinds, joins):
    return case(f"a change that only the dead leader has seen is forgotten: "
                f"{', '.join(NAMES[kind] for kind in kinds)}; {NAMES[joins]} joins",
                forgotten_with_the_leader, kinds, joins)


def leaving(kinds, joins):
    return case(f"the leader is killed when it has proposed that it leaves: "
                f"{', '.join(NAMES[kind] for kind in kinds)}; {NAMES[joins]} joins",
                the_leader_leaves_and_dies, kinds, joins)


def replacing(first, second, back=True):
    return case(f"three {NAMES[first]} servers are replaced by {NAMES[second]} by joining and leaving"
                f"{', and back' if back else ''}", replaced_by_joining_and_leaving, first, second, back=back)


def leading(leads, others):
    return case(f"{NAMES[leads]} leads, and changes {NAMES[others]} members", leads_and_changes, leads, others)


IN_CI = [
    growing([DROVER] * 3, DROVER),
    growing([DROVER, DROVER, JAVA], DROVER, SENT, PROPOSED),
    growing([DROVER] * 3, DROVER, ANSWERED, ANSWERED),
    leaving([DROVER] * 3, DROVER),
    forgetting([DROVER] * 3, DROVER),
    replacing(JAVA, DROVER),
    leading(JAVA39, DROVER),
    leading(DROVER, JAVA39),
]

MIXES = [([DROVER] * 3, DROVER), ([DROVER] * 3, JAVA), ([JAVA] * 3, DROVER), ([JAVA, JAVA, DROVER], DROVER),
         ([DROVER, DROVER, JAVA], JAVA), ([DROVER] * 3, JAVA39), ([JAVA39] * 3, DROVER)]


def all_combinations():
    moments = [(joining, MOMENTS[(at + 1) % 3]) for at, joining in enumerate(MOMENTS)]
    return [*IN_CI, *[growing(kinds, joins, *pair) for kinds, joins in MIXES for pair in moments],
            forgetting([JAVA, JAVA, DROVER], JAVA), forgetting([DROVER, DROVER, JAVA], DROVER),
            *[leaving(*mix) for mix in MIXES[1:]],
            forgetting([DROVER, DROVER, JAVA39], DROVER), forgetting([JAVA39, JAVA39, DROVER], DROVER),
            replacing(DROVER, JAVA), replacing(JAVA39, DROVER), replacing(DROVER, DROVER),
            leading(JAVA, DROVER), leading(DROVER, JAVA)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true", help="every combination, not only those of CI")
    parser.add_argument("--list", action="store_true", help="say what would be run")
    parser.add_argument("--only", help="run the cases whose name contains this")
    arguments = parser.parse_args()
    cases = all_combinations() if arguments.all else IN_CI
    if arguments.list:
        print("\n".join(each.__name__ for each in cases))
        return 0
    return run("reconfig_load", without_unreachable("reconfig_load", cases), arguments.only)


if __name__ == "__main__":
    sys.exit(main())
