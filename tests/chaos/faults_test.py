#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Tests that the faults really happen: a partition cuts exactly the requested directions, because all traffic
# between servers goes through the proxy, and heals afterwards; delays and losses have an effect; servers see a
# clock that jumps.

import contextlib
import pathlib
import sys
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "ensemble"))

from ensemble import DROVER, Ensemble  # noqa: E402
from harness import check, wait_until  # noqa: E402
from nemesis import HOUR_MS, FalseClock, Network  # noqa: E402
from suite import run  # noqa: E402
from trees import check_same_everywhere  # noqa: E402


@contextlib.contextmanager
def three_servers():
    """(ensemble, network)"""
    ensemble = Ensemble([DROVER] * 3, config={"tickTime": 200})
    for member in ensemble:
        member.clock = FalseClock(member.base)
    network = Network(ensemble)
    with ensemble:
        try:
            ensemble.start()
            yield ensemble, network
        finally:
            network.close()


def is_written(path, members):
    """Creates the node at the leader among the members, if one serves."""
    for member in members:
        if member.mode() != "leader":
            continue
        with contextlib.suppress(ConnectionError):
            with member.client() as session:
                if not session.exists(path):
                    session.create(path)
                return True
    return False


def divided(directions_of):
    """Cuts the leader off as `directions_of(network, leader, others)` says, and lets the others go on."""
    with three_servers() as (ensemble, network):
        leader = ensemble.leader()
        others = [member for member in ensemble if member is not leader]
        with network.cut(directions_of(network, leader.sid, [member.sid for member in others])):
            wait_until(lambda: any(member.mode() == "leader" for member in others), "a new leader", 60)
            wait_until(lambda: leader.mode() is None, "the old leader gives up", 60)
            # On a busy machine the others may change their leader once more.
            wait_until(lambda: is_written("/made while divided", others), "a new leader serves", 60)
        ensemble.settle()
        tree = check_same_everywhere(ensemble)
        check("/made while divided" in tree, "what the majority wrote is there")


def a_leader_cut_off_in_both_directions_is_replaced():
    divided(lambda network, leader, others: network.between([leader], others))


def a_leader_that_cannot_send_is_replaced():
    divided(lambda network, leader, others: [(leader, other) for other in others])


def a_leader_that_cannot_receive_is_replaced():
    divided(lambda network, leader, others: [(other, leader) for other in others])


def seconds_of(session, path, data=b""):
    began = time.monotonic()
    session.create(path, data)
    return time.monotonic() - began


def a_bad_network_makes_a_write_wait_for_its_quorum():
    with three_servers() as (ensemble, network), ensemble.leader().client() as session:
        everywhere = network.between(network.sids, network.sids)
        # A proposal there, and an acknowledgement back.
        for number, (least, how) in enumerate(((0.1, {"delay": (0.05, 0.05)}),
                                               (0.4, {"loss": 1, "resend": (0.2, 0.2)}),
                                               (0.2, {"bytes_per_second": 50_000}))):
            with network.weather(everywhere, **how):
                took = seconds_of(session, f"/n{number}", bytes(10_000))
            check(took >= least, f"{how}: {took:.3f} s")
        took = min(seconds_of(session, f"/m{number}") for number in range(20))
        check(took < 0.1, f"afterwards: {took:.3f} s")


def a_server_sees_the_shifted_clock():
    with three_servers() as (ensemble, _), ensemble.leader().client() as session:
        for number, offset_ms in enumerate((HOUR_MS, -HOUR_MS, -1, 0)):
            ensemble.leader().clock.jump_to(offset_ms)
            path = session.create(f"/n{number}")
            off_ms = session.nodes([path])[path][1].ctime - time.time() * 1000
            check(abs(off_ms - offset_ms) < 60_000, f"{off_ms} ms, not {offset_ms}")


if __name__ == "__main__":
    sys.exit(run("faults", [a_leader_cut_off_in_both_directions_is_replaced,
                            a_leader_that_cannot_send_is_replaced,
                            a_leader_that_cannot_receive_is_replaced,
                            a_bad_network_makes_a_write_wait_for_its_quorum,
                            a_server_sees_the_shifted_clock],
                 only=sys.argv[1] if len(sys.argv) > 1 else None))
