#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# A partition that does not divide proves nothing: the proxy between servers must be the only way, cut in the
# direction that was asked for, and let everything through again afterwards.

import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "ensemble"))

from ensemble import DROVER, Ensemble  # noqa: E402
from harness import check, wait_until  # noqa: E402
from nemesis import Network  # noqa: E402
from suite import run  # noqa: E402
from trees import check_same_everywhere  # noqa: E402


def divided(directions_of):
    """Cuts the leader off as `directions_of(network, leader, others)` says, and lets the others go on."""
    ensemble = Ensemble([DROVER] * 3)
    network = Network(ensemble)
    with ensemble:
        try:
            ensemble.start()
            leader = ensemble.leader()
            others = [member for member in ensemble if member is not leader]
            with network.cut(directions_of(network, leader.sid, [member.sid for member in others])):
                wait_until(lambda: any(member.mode() == "leader" for member in others), "a new leader", 60)
                new = next(member for member in others if member.mode() == "leader")
                wait_until(lambda: leader.mode() is None, "the old leader gives up", 60)
                with new.client() as session:
                    session.create("/made while divided")
            ensemble.settle()
            tree = check_same_everywhere(ensemble)
            check("/made while divided" in tree, "what the majority wrote is there")
        finally:
            network.close()


def a_leader_cut_off_in_both_directions_is_replaced():
    divided(lambda network, leader, others: network.between([leader], others))


def a_leader_that_nobody_hears_is_replaced():
    divided(lambda network, leader, others: [(leader, other) for other in others])


def a_leader_that_hears_nobody_is_replaced():
    divided(lambda network, leader, others: [(other, leader) for other in others])


if __name__ == "__main__":
    sys.exit(run("network", [a_leader_cut_off_in_both_directions_is_replaced,
                             a_leader_that_nobody_hears_is_replaced,
                             a_leader_that_hears_nobody_is_replaced],
                 only=sys.argv[1] if len(sys.argv) > 1 else None))
