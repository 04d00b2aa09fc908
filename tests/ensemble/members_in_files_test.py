#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
#
# The members change as they did before there was reconfig: zoo.cfg is edited and the servers restart, one at a time.
# Java lost its ensembles that way: a leader that had just been added committed nothing (ZOOKEEPER-3829, 3830, 3842),
# and servers kept a member that no file named any more (ZOOKEEPER-3814). reconfigEnabled is false, unless a case
# switches it on.
#
#   members_in_files_test.py --only TEXT

import argparse
import sys

from ensemble import DROVER, JAVA, Ensemble, Member, write_marker  # First: it makes tests/durability importable.
from harness import check, check_equal, wait_until
from suite import run


class InFiles(Ensemble):
    """Each server has the members of its last start. Those that are not listed by a leader wait."""

    def new_server(self, sid, kind):
        self.members[sid] = Member(sid, kind)
        self.write_members(sid)
        return self[sid]

    def write_members(self, sid):
        config = self[sid].config
        for key in [key for key in config if key.startswith("server.")]:
            del config[key]
        config.update({f"server.{member.sid}": member.line() for member in self})

    def roll(self, *sids, **settings):
        """These restart with the present members and settings, and the ensemble serves after each."""
        for sid in sids:
            self[sid].stop()
            self.write_members(sid)
            self[sid].config.update(settings)
            self[sid].launch()
            wait_until(lambda sid=sid: self[sid].mode() in ("leader", "follower"), f"server {sid} serves again", 60)

    def check_serves(self, markers):
        """All servers serve, take a write, and have all earlier writes."""
        self.settle()
        for member in self:
            write_marker(member)
            markers += 1
        self.level()
        for member in self:
            with member.client() as session:
                found = [name for name in session.children("/") if name.startswith("marker")]
                check(len(found) >= markers, f"{member} has {len(found)} of {markers} writes")


def a_fourth_server_is_added(kinds, joins):
    with InFiles(kinds) as ensemble:
        ensemble.start()
        leads = ensemble.leader().sid
        write_marker(ensemble[leads])
        # The leader last, but Java's servers behind it: they do not join a leader with fewer members, whose drover
        # servers do not let the new one in.
        order = sorted((1, 2, 3), key=lambda sid: (ensemble[sid].kind == JAVA, sid == leads))
        ensemble.new_server(4, joins).launch()
        ensemble.roll(*order)
        ensemble.check_serves(1)
        # Also with the new server in the lead, which is what Java could not do.
        if ensemble.leader() is not ensemble[4]:
            ensemble.level()
            leader = ensemble.leader()
            leader.stop()
            ensemble.settle()
            check(ensemble.leader() is ensemble[4], "server 4 leads")
            write_marker(ensemble[4])
            ensemble.start(leader.sid)
        ensemble.check_serves(2)


def added(kinds, joins):
    def case():
        a_fourth_server_is_added(kinds, joins)
    case.__name__ = f"a_fourth_server_is_added_{joins}_to_{'_'.join(kinds)}"
    return case


def a_server_is_replaced_by_one_with_another_id():
    with InFiles([DROVER] * 3) as ensemble:
        ensemble.start()
        write_marker(ensemble[3])
        gone = ensemble.members.pop(1)
        gone.stop()
        try:
            ensemble.new_server(4, DROVER).launch()
            ensemble.roll(2, 3)
            ensemble.check_serves(1)
            for sid in (2, 3):
                check("link to server 1" not in ensemble[sid].said(), f"server {sid} has forgotten server 1")
        finally:
            gone.remove()


def reconfig_is_switched_on():
    """One server at a time has it; then it works, and the files of all hold the members."""
    with InFiles([DROVER] * 3) as ensemble:
        ensemble.start()
        write_marker(ensemble[3])
        ensemble.roll(1, 2, 3, reconfigEnabled="true")
        ensemble.check_serves(1)
        for member in ensemble:
            wait_until(lambda m=member: list(m.base.glob("zoo.cfg.dynamic.*")), f"{member} stores the members")
        versions = {file.name for member in ensemble for file in member.base.glob("zoo.cfg.dynamic.*")}
        check_equal(len(versions), 1, f"versions of the members: {versions}")


CASES = [added([DROVER] * 3, DROVER), added([DROVER, DROVER, JAVA], DROVER), added([DROVER] * 3, JAVA),
         a_server_is_replaced_by_one_with_another_id, reconfig_is_switched_on]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", help="run the cases whose name contains this")
    arguments = parser.parse_args()
    return run("members_in_files", CASES, arguments.only)


if __name__ == "__main__":
    sys.exit(main())
