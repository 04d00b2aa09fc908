#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
#
# Apache ZooKeeper 3.8.0 and drover in one ensemble while clients of both kinds write. Whichever server leads,
# however a server joins, and whatever happens to the others: in the end all servers have the same tree, Stat
# included, and no acknowledged write is missing.
#
#   mixed_test.py             the cases of CI
#   mixed_test.py --all       every combination
#   mixed_test.py --list, --only TEXT, --setups voters|observers
#   DROVER_SEED=n             repeats what the raw sessions choose to write
#
# Debian's interpreter is used on purpose, because kazoo is a Debian module (python3-kazoo).

import argparse
import collections
import contextlib
import os
import random
import re
import sys

from ensemble import DROVER, JAVA, Ensemble
from load import Load
from scenarios import (EVENTS, JOINS, PROPERTIES, Stage, every_server_is_replaced_by_the_other_kind_and_back,
                       follower_is_killed, follower_is_stopped_and_continued, joins_by_diff, joins_by_snap,
                       joins_by_trunc, joins_with_an_empty_disk, leader_is_killed,
                       leader_is_stopped_and_continued)
from suite import run

SEED = int(os.environ.get("DROVER_SEED", random.SystemRandom().randrange(1 << 32)))

# Servers 1, 2, 3 vote; server 3 is of the kind that is to lead, because among equals the highest sid wins.
# The joiner is not of the leader's kind where that can be: a protocol is tested between two implementations.
Setup = collections.namedtuple("Setup", "name kinds leading joiner observers")
SETUPS = [
    Setup("two java, one drover, java leads", (DROVER, JAVA, JAVA), JAVA, 1, ()),
    Setup("two java, one drover, drover leads", (JAVA, JAVA, DROVER), DROVER, 1, ()),
    Setup("one java, two drover, java leads", (DROVER, DROVER, JAVA), JAVA, 1, ()),
    Setup("one java, two drover, drover leads", (JAVA, DROVER, DROVER), DROVER, 1, ()),
    Setup("drover observes java", (JAVA, JAVA, JAVA, DROVER), JAVA, 4, (4,)),
    Setup("drover observes a mixed ensemble, drover leads", (JAVA, JAVA, DROVER, DROVER), DROVER, 4, (4,)),
    Setup("java observes drover", (DROVER, DROVER, DROVER, JAVA), DROVER, 4, (4,)),
    Setup("java observes a mixed ensemble, java leads", (DROVER, DROVER, JAVA, JAVA), JAVA, 4, (4,)),
]

# Every setup, every join and every event, in pairs that differ.
IN_CI = [
    (0, joins_by_diff, leader_is_killed),
    (0, joins_by_trunc, leader_is_stopped_and_continued),
    (1, joins_by_snap, follower_is_killed),
    (1, joins_by_trunc, leader_is_killed),
    (2, joins_with_an_empty_disk, follower_is_stopped_and_continued),
    (2, joins_by_diff, every_server_is_replaced_by_the_other_kind_and_back),
    (3, joins_by_diff, leader_is_stopped_and_continued),
    (3, joins_by_snap, leader_is_killed),
    (3, joins_with_an_empty_disk, follower_is_killed),
    (4, joins_by_diff, leader_is_killed),
    (4, joins_by_snap, follower_is_stopped_and_continued),
    (5, joins_with_an_empty_disk, leader_is_killed),
    (6, joins_by_diff, leader_is_stopped_and_continued),
    (6, joins_with_an_empty_disk, leader_is_killed),
    (7, joins_by_snap, follower_is_killed),
]


def all_combinations():
    # An observer logs only what is committed, so it never has anything to truncate.
    return [(number, join, event) for number, setup in enumerate(SETUPS) for join in JOINS for event in EVENTS
            if not (setup.observers and join is joins_by_trunc)]


class Theatre:
    """The stage of the current setup. It is kept from case to case, because a JVM takes a second to start,
    and given up after a failure, because nobody knows what that left behind."""

    def __init__(self):
        self.number = None
        self.resources = None

    def stage(self, number):
        if self.number != number:
            self.close()
            setup = SETUPS[number]
            self.resources = contextlib.ExitStack()
            ensemble = self.resources.enter_context(
                Ensemble(setup.kinds, setup.observers, properties=PROPERTIES))
            ensemble.start()
            load = self.resources.enter_context(Load(ensemble, f"{SEED}/{number}"))
            self.open_stage = Stage(ensemble, load, setup.leading, ensemble[setup.joiner])
            self.number = number
        return self.open_stage

    def close(self, failure=(None, None, None)):
        if self.resources:
            self.resources.__exit__(*failure)
        self.number = self.resources = None


class JavaLostItsState(AssertionError):
    """A failure of Java 3.8.0. Drover's would come again when the case is tried again."""


def java_lost_its_state(ensemble):
    """A Java follower that loses its leader reads its log forward on one thread, while another may still
    apply what was committed: then old transactions come after newer ones. It sees so itself, by digests, on
    the first of these threads, which applies nothing at other times."""
    mismatch = re.compile(r"\[QuorumPeer\[myid=.*(Digests are not matching|First digest mismatch)")
    for member in ensemble:
        if mismatch.search(member.said(since=0)):
            return f"{member} has mixed up its own state when it lost its leader"
    return None


def case_of(theatre, number, join, event):
    def attempt():
        try:
            stage = theatre.stage(number)
            stage.ensure_leader()
            join(stage)
            event(stage)
            stage.compare()
        except Exception as error:
            excuse = theatre.resources and theatre.number == number and java_lost_its_state(stage.ensemble)
            theatre.close((type(error), error, error.__traceback__))
            if excuse:
                raise JavaLostItsState(excuse) from error
            raise AssertionError(f"DROVER_SEED={SEED}: {error}") from error

    def case():
        try:
            attempt()
        except JavaLostItsState as excuse:
            print(f"mixed: once more, because {excuse}", flush=True)
            attempt()

    joiner = "observer" if SETUPS[number].observers else SETUPS[number].kinds[0]
    case.__name__ = f"{SETUPS[number].name}; {joiner} {join.__name__}; {event.__name__}"
    return case


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true", help="every combination, not only those of CI")
    parser.add_argument("--setups", choices=("voters", "observers"),
                        help="only those without, or only those with observers")
    parser.add_argument("--list", action="store_true", help="say what would be run")
    parser.add_argument("--only", help="run the cases whose name contains this")
    arguments = parser.parse_args()
    theatre = Theatre()
    choices = [choice for choice in (all_combinations() if arguments.all else IN_CI)
               if arguments.setups in (None, "observers" if SETUPS[choice[0]].observers else "voters")]
    cases = [case_of(theatre, *choice) for choice in choices]
    if arguments.list:
        print("\n".join(case.__name__.replace("_", " ") for case in cases))
        return 0
    try:
        return run("mixed", cases, arguments.only)
    finally:
        theatre.close()


if __name__ == "__main__":
    sys.exit(main())
