#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
#
# Java's leader changes the members of the ensemble. Drover does not follow such a change: it stops, before two
# old members can elect each other beside the new ones.
#
#   reconfig_test.py --only TEXT

import argparse
import contextlib
import sys

from ensemble import DROVER, JAVA, Ensemble, write_marker  # First: it makes tests/durability importable.
from harness import check, check_equal, wait_until
from kazoo.client import KazooClient
from kazoo.exceptions import ConnectionLoss
from suite import run

RECONFIGURED = "the ensemble was reconfigured"
HALTED_EXIT = 4


def reconfigurable():
    """Server 3 leads: among equals the highest sid wins."""
    return Ensemble([DROVER, JAVA, JAVA], config={"reconfigEnabled": "true"},
                    properties={"zookeeper.skipACL": "yes"})


def remove(ensemble, sid):
    leader = ensemble.leader()
    client = KazooClient(f"127.0.0.1:{leader.port}")
    client.start(30)
    try:
        client.reconfig(joining=None, leaving=str(sid), new_members=None)
    finally:
        client.stop()
        client.close()


def stops(member):
    wait_until(lambda: not member.running, f"{member} stops", 60)
    check(RECONFIGURED in member.said(), f"{member} says why")
    check_equal(member.process.returncode, HALTED_EXIT, "exit code")
    member.process = None


def a_member_that_is_removed_stops():
    with reconfigurable() as ensemble:
        ensemble.start()
        check_equal(ensemble.leader().kind, JAVA, "who leads")
        remove(ensemble, 1)
        stops(ensemble[1])
        write_marker(ensemble[3])


def a_member_that_stays_stops_too():
    with reconfigurable() as ensemble:
        ensemble.start()
        # One of the two remaining members has stopped, so the change is never committed.
        with contextlib.suppress(ConnectionLoss):
            remove(ensemble, next(m.sid for m in ensemble if m.kind == JAVA and m is not ensemble.leader()))
        stops(ensemble[1])


def a_member_that_was_away_stops_when_it_returns():
    with reconfigurable() as ensemble:
        ensemble.start()
        ensemble[1].stop()
        remove(ensemble, 1)
        ensemble[1].launch()
        stops(ensemble[1])
        write_marker(ensemble[3])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", help="run the cases whose name contains this")
    arguments = parser.parse_args()
    return run("reconfig", [a_member_that_is_removed_stops, a_member_that_stays_stops_too,
                            a_member_that_was_away_stops_when_it_returns], arguments.only)


if __name__ == "__main__":
    sys.exit(main())
