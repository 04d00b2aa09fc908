#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
#
# Other people's clients change the members of a drover ensemble: zkCli.sh prints the same as with Java servers on the
# same ports, kazoo's own tests of reconfig pass on both, and its calls do what they promise.
#
# Debian's interpreter is used on purpose, because kazoo and its tests are a Debian module (python3-kazoo).
#
#   reconfig_clients_test.py --only TEXT

import argparse
import logging
import sys
import threading
import unittest

from ensemble import DROVER, JAVA  # First: it makes tests/durability importable.
from harness import check, check_equal
from kazoo import exceptions
from kazoo.client import KazooClient
from kazoo.testing import harness as kazoo_harness
from members import CONFIG_NODE, Members, line_of, version_of
import shells
from servers import MissingDependency, SUPER_AUTH
from suite import run

LEADER = 3
FIVE = "server.5=127.0.0.9:2888:3888:observer;127.0.0.9:2181"
KAZOO_SUPER = "super:D/InIHSb7yEEbrWz8b9l71RjZJU="  # super:test, which kazoo's tests use
KAZOO_TESTS = 3
PATIENCE = 30


def closed_ensemble(**properties):
    """Only the super user may change the members."""
    return Members([DROVER] * 3, properties={"zookeeper.skipACL": "no", **properties})


# --- zkCli ---

def zkcli_commands(ensemble, file):
    members = ",".join(map(line_of, ensemble))
    return [
        "config", "config -s", "config -c", "config -w -c", f"get {CONFIG_NODE}", f"stat {CONFIG_NODE}",
        f"getAcl {CONFIG_NODE}", f"reconfig -add {FIVE}", "reconfig -remove 5",
        f"addauth digest {SUPER_AUTH.decode()}",
        f"reconfig -add {FIVE}", "config -c", "reconfig -s -remove 5", f"reconfig -remove 77 -add {FIVE}",
        f"reconfig -members {members}", f"reconfig -members {members},{FIVE}", f"reconfig -file {file}",
        "reconfig -v 1 -remove 1", "reconfig -remove 1,2,3", "reconfig -remove x", "reconfig -add nonsense",
        "reconfig -members server.9=127.0.0.9:1:2;3", "reconfig", "reconfig -add", "reconfig -v x -remove 5",
        f"reconfig -members {members} -remove 5", f"reconfig -file {file}.none", "config -c", "config -s",
        f"delete {CONFIG_NODE}", f"setAcl {CONFIG_NODE} world:anyone:r", f"set {CONFIG_NODE} text", "config",
        f"reconfig -file {file}", "config -s",
    ]


def zkcli_prints_the_same_as_with_java_servers():
    with closed_ensemble() as ensemble:
        file = ensemble[LEADER].base / "members.cfg"
        file.write_text("".join(f"{line_of(member)}\n" for member in ensemble))
        commands = zkcli_commands(ensemble, file)
        found = {}
        for kind in (JAVA, DROVER):
            ensemble.start_again_as(kind, LEADER)
            found[kind] = shells.run_script("java", ensemble[1], commands, keep_zxids=True)
        (expected, events, code), (actual, our_events, our_code) = found[JAVA], found[DROVER]
        wrong = [f"{command}\n{theirs}\n{ours}" for command, theirs, ours in zip(commands, expected, actual)
                 if theirs != ours]
        check(not wrong, "\n".join(wrong))
        check_equal(our_events, events, "events")
        check_equal(our_code, code, "exit code")
        said = "".join(out + err for out, err in actual)
        check_equal(said.count("Committed new configuration"), 7, "changes")
        ensemble.agree()


# --- kazoo ---

class Server:
    """The attributes of a server that kazoo's tests use."""

    running = True

    def __init__(self, member):
        self.address = member.address


class Outcome(unittest.TextTestResult):
    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.passed = []

    def addSuccess(self, test):
        self.passed.append(test.id())


def kazoo_s_own_tests_of_reconfig_pass_on_both():
    try:
        from kazoo.tests.test_client import TestReconfig
    except ImportError as missing:
        raise MissingDependency(f"{missing} (Debian package: python3-pytest)") from missing
    with closed_ensemble(**{"zookeeper.DigestAuthenticationProvider.superDigest": KAZOO_SUPER}) as ensemble:
        cluster = [Server(member) for member in ensemble]
        kazoo_harness.get_global_cluster = lambda: cluster
        passed = {}
        for kind in (JAVA, DROVER):
            ensemble.start_again_as(kind, LEADER)
            tests = unittest.defaultTestLoader.loadTestsFromTestCase(TestReconfig)
            outcome = unittest.TextTestRunner(sys.stdout, resultclass=Outcome).run(tests)
            check(outcome.wasSuccessful(), f"kazoo's tests pass on {kind}")
            check_equal(outcome.skipped, [], f"skipped on {kind}")
            passed[kind] = outcome.passed
        check_equal(passed[DROVER], passed[JAVA], "passed")
        check_equal(len(passed[JAVA]), KAZOO_TESTS, "how many passed")


def raises(error, call, *arguments, **options):
    try:
        call(*arguments, **options)
    except error:
        return
    raise AssertionError(f"expected {error.__name__}")


def kazoo_changes_the_members_and_sees_the_changes():
    with closed_ensemble() as ensemble:
        ensemble.start()
        client = KazooClient(ensemble.hosts, auth_data=[("digest", SUPER_AUTH.decode())])
        client.start(PATIENCE)
        seen, news = [], threading.Condition()

        @client.DataWatch(CONFIG_NODE)
        def on_data(data, _):
            with news:
                seen.append(data)
                news.notify_all()

        def is_seen(data):
            with news:
                check(news.wait_for(lambda: data in seen, PATIENCE), "the watch fires")

        try:
            before = version_of(client.get(CONFIG_NODE)[0].decode())
            ensemble.add(4)
            ensemble.start(4)
            data, stat = client.reconfig(joining=line_of(ensemble[4]), leaving=None, new_members=None,
                                         from_config=before)
            check(line_of(ensemble[4]).encode() in data, "server 4 is a member")
            check_equal((stat.version, stat.mzxid), (-1, version_of(data.decode())), "Stat")
            is_seen(data)
            check_equal(ensemble.agree().encode(), data, "members")
            raises(exceptions.BadVersionError, client.reconfig, None, "4", None, from_config=before)
            raises(exceptions.BadArgumentsError, client.reconfig, "nonsense", None, None)
            raises(exceptions.NewConfigNoQuorumError, client.reconfig, None, None,
                   FIVE.replace("observer", "participant"))
            members = ",".join(line_of(ensemble[sid]) for sid in (1, 2, 3))
            data, _ = client.reconfig(None, None, members)
            is_seen(data)
            ensemble.retire(4)
            check_equal(ensemble.agree().encode(), data, "members")
        finally:
            client.stop()
            client.close()


CASES = [zkcli_prints_the_same_as_with_java_servers, kazoo_s_own_tests_of_reconfig_pass_on_both,
         kazoo_changes_the_members_and_sees_the_changes]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", help="run the cases whose name contains this")
    arguments = parser.parse_args()
    logging.getLogger("kazoo").setLevel(logging.CRITICAL)
    return run("reconfig_clients", CASES, arguments.only)


if __name__ == "__main__":
    sys.exit(main())
