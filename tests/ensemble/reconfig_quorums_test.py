#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
#
# Reconfigurations that name all members: hierarchical quorums, whose groups and weights change while clients write,
# and servers with several addresses. The servers are drover, Apache ZooKeeper 3.8.0 and 3.9 (maven.py).
#
#   reconfig_quorums_test.py          the cases of CI
#   reconfig_quorums_test.py --all    every combination
#   reconfig_quorums_test.py --only TEXT

import argparse
import contextlib
import os
import random
import socket
import sys

from ensemble import DROVER, JAVA, JAVA39  # First: it makes tests/durability importable.
from harness import check, check_equal, wait_until
from load import Load
from members import Members, line_of
from releases import without_unreachable
from suite import run
from trees import check_same_everywhere

SEED = int(os.environ.get("DROVER_SEED", random.SystemRandom().randrange(1 << 32)))
WRITES = 3  # of each client, between two changes
SECOND_HOST = "127.0.0.2"


class Change:
    """An ensemble with its load. All members are named in every change."""

    def __init__(self, ensemble, load):
        self.ensemble, self.load = ensemble, load

    def goes_on(self):
        self.load.goes_on(WRITES)

    def to(self, *groups_and_weights):
        self.ensemble.reconfig(members=",".join([*map(line_of, self.ensemble), *groups_and_weights]))
        text = self.ensemble.agree()
        for line in groups_and_weights:
            check(line in text.splitlines(), f"{line} in {text}")
        check_equal("group." in text, bool(groups_and_weights), "groups")
        self.goes_on()

    def are_a_quorum(self, *sids):
        """They serve while all others are down."""
        others = [member for member in self.ensemble if member.sid not in sids]
        for member in others:
            member.kill()
        self.ensemble.settle()
        self.goes_on()
        self.ensemble.start()
        self.goes_on()

    def are_none(self, *sids):
        """They stop to serve when the others are down, and serve again afterwards."""
        for member in self.ensemble:
            if member.sid not in sids:
                member.kill()
        wait_until(lambda: not any(member.mode() for member in self.ensemble.running), f"{sids} do not serve", 60)
        self.ensemble.start()
        self.goes_on()

    def compare(self):
        for member in self.ensemble:
            member.check_not_diverged()
        self.load.pause()
        self.ensemble.agree()
        self.load.check_in(check_same_everywhere(self.ensemble))
        self.load.resume()


@contextlib.contextmanager
def changing(kinds, spares=None, **options):
    with Members(kinds, spares=spares, **options) as ensemble:
        ensemble.start_led_by(len(kinds))
        with Load(ensemble, SEED, servers=ensemble.everybody) as load:
            change = Change(ensemble, load)
            change.goes_on()
            try:
                yield change
            except Exception as error:
                raise AssertionError(f"DROVER_SEED={SEED}: {error}") from error


def weights_change(kinds, joins):
    """With weights, one server is a quorum by itself and the others are not. Then another one is, then a majority again."""
    with changing(kinds, spares={4: joins}) as change:
        change.to("group.1=1:2:3", "weight.1=3", "weight.2=1", "weight.3=1")
        change.are_a_quorum(1)
        change.are_none(2, 3)
        change.to("group.1=1:2:3", "weight.1=1", "weight.2=3", "weight.3=1")
        change.are_a_quorum(2)
        change.compare()
        change.ensemble.add(4)
        change.ensemble.start(4)
        change.to("group.1=1:2", "group.2=3:4", "weight.1=1", "weight.2=0", "weight.3=1", "weight.4=0")
        change.are_a_quorum(1, 3)
        change.are_none(2, 3, 4)
        change.to()
        change.are_a_quorum(1, 2, 4)
        change.compare()


def two_addresses(member, hosts=("127.0.0.1", SECOND_HOST)):
    """Gives the server's line one address for each of these."""
    ports = f"{member.quorum_port}:{member.election_port}"
    member.line = lambda: "|".join(f"{host}:{ports}" for host in hosts) + f":{member.role}"


def listens_at(member, host):
    with contextlib.suppress(ConnectionRefusedError):
        socket.create_connection((host, member.election_port), timeout=5).close()
        return True
    return False


def addresses_change(kinds, joins):
    # Java's parser of lines asks for the property.
    with changing(kinds, spares={4: joins}, config={"multiAddress.enabled": "true"},
                  properties={"zookeeper.multiAddress.enabled": "true"}) as change:
        ensemble = change.ensemble

        def moves(member):
            ensemble.reconfig(joining=line_of(member), at=next(other for other in ensemble if other is not member))
            check(line_of(member) in ensemble.agree(), line_of(member))
            change.goes_on()

        for member in list(ensemble):
            two_addresses(member)
            moves(member)
            wait_until(lambda member=member: listens_at(member, SECOND_HOST), f"{member} listens at both", 60)
        ensemble.add(4)
        two_addresses(ensemble[4])
        ensemble[4].config.update(ensemble.lines())
        ensemble.join(4)
        change.goes_on()
        change.compare()
        # All servers find each other, also after a restart.
        for member in list(ensemble):
            member.kill()
            ensemble.settle()
            ensemble.start(member.sid)
        # Back to one address, which is the second one.
        for member in list(ensemble):
            two_addresses(member, [SECOND_HOST])
            moves(member)
        for member in list(ensemble):
            member.kill()
            ensemble.settle()
            ensemble.start(member.sid)
        change.compare()


NAMES = {DROVER: "drover", JAVA: "java 3.8", JAVA39: "java 3.9"}


def case(claim, story, kinds, joins):
    def attempt():
        story(kinds, joins)

    attempt.__name__ = f"{claim}: {', '.join(NAMES[kind] for kind in kinds)}; {NAMES[joins]} joins"
    attempt.kinds = {*kinds, joins}
    return attempt


def weighing(kinds, joins):
    return case("the weights of a server decide what is a quorum", weights_change, kinds, joins)


def addressing(kinds, joins):
    return case("servers get a second address and lose the first", addresses_change, kinds, joins)


IN_CI = [weighing([DROVER] * 3, DROVER), weighing([DROVER, JAVA, DROVER], JAVA),
         addressing([DROVER] * 3, DROVER), addressing([DROVER, DROVER, JAVA], DROVER)]
MORE = [weighing([JAVA, DROVER, JAVA], DROVER), weighing([DROVER, JAVA39, JAVA39], DROVER),
        weighing([JAVA39, DROVER, DROVER], JAVA39), addressing([JAVA, DROVER, DROVER], JAVA),
        addressing([DROVER, DROVER, JAVA39], DROVER), addressing([JAVA39, DROVER, DROVER], JAVA39)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true", help="every combination, not only those of CI")
    parser.add_argument("--only", help="run the cases whose name contains this")
    arguments = parser.parse_args()
    cases = [*IN_CI, *(MORE if arguments.all else [])]
    return run("reconfig_quorums", without_unreachable("reconfig_quorums", cases), arguments.only)


if __name__ == "__main__":
    sys.exit(main())
