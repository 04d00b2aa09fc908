#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
#
# The dashboard's view of servers that join, leave, and follow without being members.
#
#   reconfig_page_test.py --only TEXT

import argparse
import contextlib
import json
import sys
import urllib.request

from ensemble import DROVER  # First: it makes tests/durability importable.
from harness import Session, check_equal, p, wait_until
from members import Members, line_of, reconfig_body, version_of
from ports import free_port
from suite import run

MEMBER, JOINING, LEAVING, GUEST = "member", "joining", "leaving", "guest"


class WithPages(Members):
    """Each server has its page."""

    def _member(self, sid, kind):
        return with_page(super()._member(sid, kind))

    def start(self, *sids, wait=True):
        for member in self:
            with_page(member)
        return super().start(*sids, wait=wait)


def with_page(member):
    if not hasattr(member, "http"):
        member.http = free_port()
        member.config["admin.serverPort"] = member.http
        member.properties["zookeeper.admin.enableServer"] = "true"
    return member


def page_of(member):
    with urllib.request.urlopen(f"http://127.0.0.1:{member.http}/api/ensemble", timeout=10) as answer:
        return json.load(answer)


def standings(member):
    return {one["id"]: one["membership"] for one in page_of(member)["members"]}


def shows(member, wanted):
    found = {}

    def right():
        with contextlib.suppress(OSError):
            found["last"] = standings(member)
        return found.get("last") == wanted

    try:
        wait_until(right, f"the page of {member}", 60)
    except AssertionError as error:
        raise AssertionError(f"{error}: {found} instead of {wanted}") from error


def a_server_joins_and_leaves_on_the_page():
    with WithPages([DROVER] * 3) as ensemble:
        ensemble.start()
        three = {1: MEMBER, 2: MEMBER, 3: MEMBER}
        for member in ensemble:
            shows(member, three)
        joins = ensemble.add(4)
        ensemble.start(4)
        shows(ensemble.leader(), {**three, 4: GUEST})
        check_equal(page_of(ensemble.leader())["quorum"], {"voters": 3, "needed": 2, "up": 3}, "a guest does not count")
        text = ensemble.reconfig(joining=line_of(joins))
        for member in ensemble:
            shows(member, {**three, 4: MEMBER})
            check_equal(int(page_of(member)["config"]["version"], 16), version_of(text), "version")
        leader = ensemble.leader()
        leaves = next(member for member in ensemble.followers() if member.sid != 4)
        ensemble.reconfig(leaving=str(leaves.sid), at=leader)
        ensemble.retire(leaves.sid)
        rest = {member.sid: MEMBER for member in ensemble}
        for member in ensemble:
            shows(member, {**rest, leaves.sid: GUEST} if member is leader else rest)
        shows(leaves, {**rest, leaves.sid: GUEST})


def a_change_that_waits_for_its_quorum_is_shown():
    with WithPages([DROVER] * 3) as ensemble:
        ensemble.start()
        joins = ensemble.add(4)
        ensemble.start(4)
        leader = ensemble.leader()
        others = [member for member in ensemble if member is not leader]
        leaves = next(member for member in others if member is not joins)
        session = Session(leader.port)
        for member in others:
            member.pause()
        session.send([(p.RECONFIG, reconfig_body(joining=line_of(joins), leaving=str(leaves.sid)))])
        shows(leader, {sid: LEAVING if sid == leaves.sid else JOINING if sid == 4 else MEMBER
                       for sid in sorted(ensemble.members)})
        page = page_of(leader)
        for member in others:
            member.unpause()
        session.close()
        check_equal(page["config"]["version"], "0x100000000", "in force")
        proposed = int(page["config"]["proposed"], 16)
        check_equal(proposed > 0x100000000, True, "a later one is proposed")


CASES = [a_server_joins_and_leaves_on_the_page, a_change_that_waits_for_its_quorum_is_shown]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", help="run the cases whose name contains this")
    arguments = parser.parse_args()
    return run("reconfig_page", CASES, arguments.only)


if __name__ == "__main__":
    sys.exit(main())
