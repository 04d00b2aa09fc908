#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
#
# The members of a running ensemble change: servers join, leave, move to other ports, and are replaced, while a client
# writes. All members are drover, or drover and Java 3.8.0 or 3.9 together. And with reconfigEnabled=false a drover
# server stops when others change the members, before two old members can elect each other beside the new ones.
#
#   reconfig_test.py              the cases of CI
#   reconfig_test.py --all        more of them with Java
#   reconfig_test.py --only TEXT

import argparse
import contextlib
import sys

from ensemble import (DROVER, JAVA, JAVA39, OBSERVER, VOTER, Ensemble,  # First: it makes tests/durability importable.
                      write_marker)
from harness import check, check_equal, p, wait_until
from kazoo.client import KazooClient
from kazoo.exceptions import ConnectionLoss
from members import (BAD_ARGUMENTS, BAD_VERSION, DISABLED, NO_AUTH, NO_QUORUM, Members, Writer, line_of, sids_in,
                     version_of)
from releases import without_unreachable
from servers import SUPER_AUTH
from suite import run

RECONFIGURED = "the ensemble was reconfigured"
REMOVED = "was removed from the ensemble by a reconfiguration"
HALTED_EXIT = 4
WRONG_CONFIG_EXIT = 2


def the_members_have_a_version_from_the_first_epoch_on():
    with Members([DROVER] * 3) as ensemble:
        ensemble.start()
        text = ensemble.agree()
        check_equal(version_of(text), 0x100000000, "version")
        check_equal(text.splitlines()[0], line_of(ensemble[1]), "first line")
        for member in ensemble:
            check(line_of(ensemble[3]) in member.word("conf"), "conf shows the members")
            check((member.base / "zoo.cfg.dynamic.100000000").exists(), "the dynamic file")
            check("zoo.cfg.dynamic.100000000" in (member.base / "zoo.cfg").read_text(), "the static file names it")


def three_servers_become_five():
    with Members([DROVER] * 3) as ensemble:
        ensemble.start()
        writer = Writer(ensemble)
        for sid in (4, 5):
            ensemble.add(sid)
            text = ensemble.join(sid)
            check_equal(sids_in(text), sorted(ensemble.members), "members")
            writer.wait_for_more()
        text = ensemble.agree()
        check_equal(ensemble.leader().word("mntr").count("quorum_size\t5"), 1, "quorum_size")
        writer.finish(ensemble)
        # The new ones count: with two of the old ones gone there is a quorum only with them.
        for sid in (1, 2):
            ensemble[sid].stop()
        ensemble.settle()
        write_marker(ensemble.leader())
        check_equal(version_of(ensemble.config()), version_of(text), "version")


def a_leader_that_is_removed_hands_over():
    with Members([DROVER] * 3) as ensemble:
        ensemble.start()
        ensemble.add(4)
        ensemble.join(4)
        writer = Writer(ensemble)
        writer.wait_for_more()
        leader = ensemble.leader()
        ensemble.reconfig(leaving=str(leader.sid))
        ensemble.retire(leader.sid)
        writer.wait_for_more()
        ensemble.agree()
        writer.finish(ensemble)
        wait_until(lambda: leader.mode() is None, "the removed leader does not serve")
        check(leader.running, "it still runs")


def all_members_can_be_replaced():
    with Members([DROVER] * 3) as ensemble:
        ensemble.start()
        writer = Writer(ensemble)
        for sid in (4, 5, 6):
            ensemble.add(sid)
            ensemble.start(sid)
        writer.client.set_hosts(ensemble.hosts)
        ensemble.reconfig(members=",".join(line_of(ensemble[sid]) for sid in (4, 5, 6)))
        ensemble.retire(1, 2, 3)
        ensemble.agree()
        writer.wait_for_more()
        for member in ensemble.retired:
            wait_until(lambda member=member: member.mode() is None, f"{member} does not serve")
            member.stop()
        writer.finish(ensemble)


def a_removed_server_can_be_added_again():
    with Members([DROVER] * 4) as ensemble:
        ensemble.start()
        member = ensemble.followers()[0]
        ensemble.reconfig(leaving=str(member.sid))
        ensemble.retire(member.sid)
        wait_until(lambda: member.mode() is None, "the removed server does not serve")
        check(REMOVED in member.said(), "it says so")
        ensemble.agree()
        # Without a restart.
        ensemble.reconfig(joining=line_of(member))
        ensemble.members[member.sid] = member
        ensemble.retired.clear()
        ensemble.agree()
        # With one: its files do not list it any more.
        ensemble.reconfig(leaving=str(member.sid))
        ensemble.retire(member.sid)
        wait_until(lambda: member.mode() is None, "the removed server does not serve")
        member.stop()
        member.launch()
        check_equal(member.process.wait(60), WRONG_CONFIG_EXIT, "exit code")
        member.process = None
        check("may have removed this server" in member.said(), "it says why")
        ensemble.retired.clear()
        ensemble.members[member.sid] = member
        member.config.update(ensemble.lines())
        (member.base / "zoo.cfg").unlink()
        ensemble.join(member.sid)
        ensemble.agree()


def the_last_members_are_in_force_after_a_restart_of_all():
    with Members([DROVER] * 3) as ensemble:
        ensemble.start()
        ensemble.add(4)
        ensemble.join(4)
        ensemble.reconfig(leaving="1")
        ensemble[1].stop()
        ensemble.retire(1)
        text = ensemble.agree()
        name = f"zoo.cfg.dynamic.{version_of(text):x}"
        for member in ensemble:
            member.stop()
            check_equal(sorted((member.base / name).read_text().splitlines()), text.splitlines()[:-1], name)
            check(name in (member.base / "zoo.cfg").read_text(), "zoo.cfg names the file")
            check(not (member.base / "zoo.cfg.dynamic.next").exists(), "nothing is proposed")
        ensemble.start()
        check_equal(ensemble.agree(), text, "members after the restart")
        for member in ensemble:
            member.kill()
        ensemble.start()
        check_equal(ensemble.agree(), text, "members after a crash of all")


def one_server_grows_to_three_and_back():
    with Members([DROVER]) as ensemble:
        ensemble.start()
        write_marker(ensemble[1])
        for sid in (2, 3):
            ensemble.add(sid)
            ensemble.join(sid)
        ensemble.agree()
        ensemble.reconfig(leaving="1,2")
        ensemble.retire(1, 2)
        ensemble.agree()
        write_marker(ensemble[3])


def a_standalone_server_becomes_an_ensemble_and_is_standalone_again():
    with Members([DROVER]) as ensemble:
        member = ensemble[1]
        as_member = dict(member.config)
        alone = {key: value for key, value in as_member.items()
                 if not key.startswith("server.") and key != "standaloneEnabled"}

        def restart(config):
            member.stop()
            (member.base / "zoo.cfg").unlink(missing_ok=True)
            member.config = config
            member.launch()

        restart(alone)
        wait_until(lambda: member.mode() == "standalone", "standalone")
        with member.client() as session:
            session.create("/first", b"kept")
        restart(as_member)
        ensemble.settle()
        for sid in (2, 3):
            ensemble.add(sid)
            ensemble.join(sid)
        with ensemble[3].client() as session:
            check(session.exists("/first"), "the data of the standalone server")
            session.create("/second")
        ensemble.reconfig(leaving="2,3", at=member)
        ensemble.retire(2, 3)
        ensemble.agree()
        restart(alone)
        wait_until(lambda: member.mode() == "standalone", "standalone again")
        with member.client() as session:
            check_equal(session.nodes(["/first"])["/first"][0], b"kept", "data")
            check(session.exists("/second"), "the data of the ensemble")


def wrong_requests_get_the_errors_of_java():
    with Members([DROVER] * 3, properties={"zookeeper.skipACL": "no"}) as ensemble:
        ensemble.start()
        version = version_of(ensemble.config(ensemble[1]))
        nobody = "server.9=127.0.0.1:1:2:participant;127.0.0.1:3"
        for member in ensemble:
            def answer(member=member, auth=SUPER_AUTH, **change):
                return ensemble.try_reconfig(at=member, auth=auth, **change)[0]
            check_equal(answer(leaving="1", version=version + 1), BAD_VERSION, "another version")
            check_equal(answer(joining="server.9=nonsense"), BAD_ARGUMENTS, "a line that is none")
            check_equal(answer(members=nobody), NO_QUORUM, "members that are not connected")
            check_equal(answer(leaving="1", auth=None), NO_AUTH, "nobody in particular")
        check_equal(version_of(ensemble.agree()), version, "nothing has changed")


def without_reconfig_enabled_nothing_changes():
    with Members([DROVER] * 3, config={"reconfigEnabled": "false"}) as ensemble:
        ensemble.start()
        check_equal(ensemble.try_reconfig(leaving="1")[0], DISABLED, "reconfig")
        check(not list(ensemble[1].base.glob("zoo.cfg.dynamic*")), "no dynamic file")


# --- with Java ---

def servers_change_their_roles(leads, joins):
    """A server joins as an observer and votes for a while. Then it observes how a voter changes its role."""
    with Members([DROVER, DROVER, leads]) as ensemble:
        leader = ensemble.start_led_by(3)[3]
        writer = Writer(ensemble)
        joiner = ensemble.add(4, joins)
        joiner.role = OBSERVER
        joiner.config.update(ensemble.lines())
        ensemble.join(4)
        ensemble.agree()
        check_equal(joiner.mode(), "observer", "role")
        for member, role, mode in ((joiner, VOTER, "follower"), (joiner, OBSERVER, "observer"),
                                   (ensemble[2], OBSERVER, "observer"), (ensemble[2], VOTER, "follower")):
            member.role = role
            ensemble.reconfig(joining=line_of(member), at=ensemble[1])
            wait_until(lambda: member.mode() == mode, f"{member} is a {mode}", 60)
            ensemble.agree()
            writer.wait_for_more()
        check(ensemble.leader() is leader, f"{leader} still leads")
        writer.finish(ensemble)


def servers_of_both_kinds_are_replaced(leads, joins):
    """Under a leader of one kind, servers of the other kind join, and then the leader leaves."""
    with Members([leads] * 3) as ensemble:
        ensemble.start()
        writer = Writer(ensemble)
        for sid in (4, 5):
            ensemble.add(sid, joins)
            ensemble.join(sid)
            writer.wait_for_more()
        ensemble.agree()
        leader = ensemble.leader()
        ensemble.reconfig(leaving=str(leader.sid))
        ensemble.retire(leader.sid)
        leader.stop()
        ensemble.agree()
        writer.wait_for_more()
        # All servers stop: the files of both kinds are good for a start.
        writer.finish(ensemble)
        for member in ensemble:
            member.stop()
        ensemble.start()
        ensemble.agree()


# --- drover with reconfigEnabled=false ---

def with_one_that_does_not_follow():
    """Server 3 leads: among equals the highest sid wins."""
    ensemble = Ensemble([DROVER, JAVA, JAVA], config={"reconfigEnabled": "true"},
                        properties={"zookeeper.skipACL": "yes"})
    ensemble[1].config["reconfigEnabled"] = "false"
    return ensemble


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


def a_member_without_reconfig_that_is_removed_stops():
    with with_one_that_does_not_follow() as ensemble:
        ensemble.start()
        check_equal(ensemble.leader().kind, JAVA, "who leads")
        remove(ensemble, 1)
        stops(ensemble[1])
        write_marker(ensemble[3])


def a_member_without_reconfig_that_stays_stops_too():
    with with_one_that_does_not_follow() as ensemble:
        ensemble.start()
        # One of the two remaining members has stopped, so the change is never committed.
        with contextlib.suppress(ConnectionLoss):
            remove(ensemble, next(m.sid for m in ensemble if m.kind == JAVA and m is not ensemble.leader()))
        stops(ensemble[1])


def a_member_without_reconfig_that_was_away_stops_when_it_returns():
    with with_one_that_does_not_follow() as ensemble:
        ensemble.start()
        ensemble[1].stop()
        remove(ensemble, 1)
        ensemble[1].launch()
        stops(ensemble[1])
        write_marker(ensemble[3])


NAMES = {DROVER: "drover", JAVA: "java 3.8", JAVA39: "java 3.9"}


def mixed(story, leads, other):
    def attempt():
        story(leads, other)

    attempt.__name__ = f"{story.__name__.replace('_', ' ')}: {NAMES[other]}, and {NAMES[leads]} leads"
    attempt.kinds = (leads, other)
    return attempt


CASES = [the_members_have_a_version_from_the_first_epoch_on, three_servers_become_five,
         a_leader_that_is_removed_hands_over, all_members_can_be_replaced,
         a_removed_server_can_be_added_again,
         the_last_members_are_in_force_after_a_restart_of_all, one_server_grows_to_three_and_back,
         a_standalone_server_becomes_an_ensemble_and_is_standalone_again,
         wrong_requests_get_the_errors_of_java, without_reconfig_enabled_nothing_changes,
         a_member_without_reconfig_that_is_removed_stops, a_member_without_reconfig_that_stays_stops_too,
         a_member_without_reconfig_that_was_away_stops_when_it_returns]
MIXED = [mixed(servers_of_both_kinds_are_replaced, DROVER, JAVA),
         mixed(servers_of_both_kinds_are_replaced, JAVA, DROVER),
         *[mixed(servers_change_their_roles, leads, other)
           for leads, other in ((DROVER, DROVER), (DROVER, JAVA), (JAVA, DROVER))]]
MORE = [mixed(servers_change_their_roles, leads, other)
        for leads, other in ((DROVER, JAVA39), (JAVA39, DROVER), (JAVA, JAVA), (JAVA, JAVA39))]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true", help="more cases with Java")
    parser.add_argument("--only", help="run the cases whose name contains this")
    arguments = parser.parse_args()
    mixed_cases = [*MIXED, *MORE] if arguments.all else MIXED
    return run("reconfig", [*CASES, *without_unreachable("reconfig", mixed_cases)], arguments.only)


if __name__ == "__main__":
    sys.exit(main())
