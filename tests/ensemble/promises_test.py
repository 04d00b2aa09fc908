#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
#
# A voter has promised a later epoch than the leader's, to a candidate that never led. It may not follow this
# leader, and must not be locked out. Drover's leader steps down for a new epoch. Java's does not: there drover
# joins as an observer until the next election.
#
#   promises_test.py --only TEXT

import argparse
import sys

from ensemble import DROVER, JAVA, Ensemble  # First: it makes tests/durability and tests/compat importable.
from harness import check, check_equal, wait_until
from suite import run
from trees import check_same_everywhere


def accepted_epoch(member):
    return int((member.files / "acceptedEpoch").read_text().split()[0])


def promise_more(member, epoch):
    """Writes the epoch as if it had been promised to a candidate that never came."""
    member.stop()
    (member.files / "acceptedEpoch").write_text(str(epoch))


def write_through(member, path):
    with member.client() as session:
        session.create(path, b"1")


def start(ensemble, leading):
    """Starts the ensemble with a leader of this kind, and writes something."""
    ensemble.start()
    ensemble.lead(next(member for member in ensemble if member.kind == leading))
    write_through(ensemble.leader(), "/before")


def let_a_drover_leader_step_down(voter):
    """A voter of this kind comes back with a later promise."""
    with Ensemble([DROVER, DROVER, voter]) as ensemble:
        start(ensemble, DROVER)
        late = ensemble[3] if ensemble.leader() is not ensemble[3] else ensemble[1]
        epoch = accepted_epoch(ensemble.leader())
        promise_more(late, epoch + 5)
        write_through(ensemble.leader(), "/while-away")
        ensemble.start(late.sid)
        wait_until(lambda: ensemble.serves() and late.mode() in ("leader", "follower"), "a voter that is let in", 30)
        check(all(accepted_epoch(member) > epoch + 5 for member in ensemble), "an epoch later than the promise")
        write_through(late, "/after")
        check_same_everywhere(ensemble)


def drover_looks_on_at_a_java_leader_that_stays():
    with Ensemble([JAVA, JAVA, DROVER]) as ensemble:
        start(ensemble, JAVA)
        leader, late = ensemble.leader(), ensemble[3]
        other = next(member for member in ensemble if member not in (leader, late))
        epoch = accepted_epoch(leader)
        promise_more(late, epoch + 5)
        write_through(leader, "/while-away")
        ensemble.start(late.sid)
        wait_until(lambda: late.mode() == "observer", "a voter that looks on", 30)
        check(ensemble.leader() is leader, "the leader stays")
        check_equal(accepted_epoch(leader), epoch, "its epoch")
        check(f"sid: {-1 - late.sid} not in the current config" in leader.said(), "an id that Java does not count")
        write_through(late, "/while-looking-on")
        check_same_everywhere(ensemble)
        # Without its follower the leader has no quorum, even if drover looks on; with drover's vote there is one again.
        other.stop()
        wait_until(lambda: ensemble.serves() and late.mode() in ("leader", "follower"), "a new epoch", 60)
        check(accepted_epoch(late) > epoch + 5, "an epoch later than the promise")
        write_through(late, "/after")
        ensemble.start(other.sid)
        tree = check_same_everywhere(ensemble)
        check({"/before", "/while-away", "/while-looking-on", "/after"} <= tree.keys(), "every write is there")


def a_drover_leader_steps_down_for_a_java_voter():
    let_a_drover_leader_step_down(JAVA)


def a_drover_leader_steps_down_for_a_drover_voter():
    let_a_drover_leader_step_down(DROVER)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", help="run the cases whose name contains this")
    arguments = parser.parse_args()
    return run("promises", [a_drover_leader_steps_down_for_a_java_voter, a_drover_leader_steps_down_for_a_drover_voter,
                            drover_looks_on_at_a_java_leader_that_stays], arguments.only)


if __name__ == "__main__":
    sys.exit(main())
