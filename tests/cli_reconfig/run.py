#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Tests of `drover reconfig` on an ensemble of Java's servers and on one of drover's.
#
#   run.py [WORD...]     only stories whose name has one of the words; DROVER names the program
import json
import pathlib
import re
import subprocess
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / name) for name in ("compat", "durability", "ensemble", "cli_recipes")]
from ensemble import DROVER, JAVA, write_marker  # noqa: E402  (the paths above must come first)
import shells  # noqa: E402
from growing import GrowingEnsemble  # noqa: E402
from harness import p, wait_until  # noqa: E402
from ports import free_port  # noqa: E402
from servers import drover_binary  # noqa: E402
from terminal import PATIENCE_SECONDS, Failed, Terminal  # noqa: E402

LONGEST_WRITE_SECONDS = 4.0  # on a busy machine; less than any timeout that a stop of writes would last


def expect(actual, wanted, what):
    if actual != wanted:
        raise Failed(f"{what}: {actual!r}, not {wanted!r}")


def expect_in(part, text):
    if part not in text:
        raise Failed(f"{part!r} is not in:\n{text}")


def run(hosts, *words, status=0):
    done = subprocess.run([drover_binary(), "reconfig", "-server", hosts, *words], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=2 * PATIENCE_SECONDS, stdin=subprocess.DEVNULL)
    expect(done.returncode, status, f"exit code of {words} ({done.stdout})")
    return done.stdout


def show(ensemble):
    return json.loads(run(ensemble[1].address, "show", "--json"))


def roles(ensemble):
    return {one["id"]: one["role"] for one in show(ensemble)["members"]}


class Writes:
    """Counts writes of one client, and the longest time that one took."""

    def __init__(self, member):
        self.member, self.over, self.problem = member, threading.Event(), None
        self.count, self.longest = 0, 0.0

    def __enter__(self):
        self.thread = threading.Thread(target=self._write, daemon=True)
        self.thread.start()
        wait_until(lambda: self.count > 0, "somebody writes")
        return self

    def _write(self):
        try:
            with self.member.client() as session:
                while not self.over.is_set():
                    began = time.monotonic()
                    session.create("/written-", flags=p.SEQUENTIAL)
                    self.longest = max(self.longest, time.monotonic() - began)
                    self.count += 1
        except (AssertionError, OSError) as problem:
            self.problem = problem

    def __exit__(self, *_):
        self.over.set()
        self.thread.join(PATIENCE_SECONDS)
        expect(self.problem, None, "writes")


def members_are_shown(ensemble):
    leader = ensemble.settle()
    seen = show(ensemble)
    expect([(one["id"], one["role"]) for one in seen["members"]], [(1, "voter"), (2, "voter"), (3, "voter")], "members")
    expect((seen["voters"], seen["quorum"]), (3, 2), "quorum")
    expect({one["id"]: one["state"] for one in seen["members"]}[leader.sid], "leader", "who leads")
    text = run(ensemble[1].address, "show")
    expect_in(f"configuration version {seen['version']}; 3 voters: 2 make a quorum, 1 may fail", text)
    top = subprocess.run([drover_binary(), "top", "--once", "--no-paths", "-server", ensemble[1].address],
                         stdout=subprocess.PIPE, text=True, timeout=PATIENCE_SECONDS, stdin=subprocess.DEVNULL).stdout
    expect_in(f"configuration version {seen['version']}", top)


def nothing_is_done_without_consent(ensemble):
    before = show(ensemble)["version"]
    expect_in("cannot ask for confirmation without a terminal; use --yes", run(ensemble[1].address, "remove", "3", status=1))
    expect_in("step 1   remove server.3", run(ensemble[1].address, "remove", "3", "--dry-run"))
    with Terminal([drover_binary(), "reconfig", "-server", ensemble[1].address, "remove", "3"]) as screen:
        screen.wait_for("Continue? [y/N]")
        screen.type("n\r")
        screen.wait_for("Nothing was changed.")
        expect(screen.wait(), 1, "exit code")
    expect(show(ensemble)["version"], before, "version")


def two_operators_do_not_disturb_each_other(ensemble):
    """One reads the plan while the other one changes the members."""
    leader = ensemble.settle()
    first, second = (member.sid for member in ensemble if member is not leader)
    with Terminal([drover_binary(), "reconfig", "-server", leader.address, "demote", str(first)]) as screen:
        screen.wait_for("Continue? [y/N]")
        expect_in("Done. 2 voters", run(leader.address, "demote", str(second), "--yes"))
        screen.type("y\r")
        screen.wait_for("somebody else has changed the members meanwhile; look at them and begin again")
        screen.wait_for("Nothing was changed.")
        expect(screen.wait(), 1, "exit code")
    expect(roles(ensemble), {leader.sid: "voter", first: "voter", second: "observer"}, "roles")
    expect_in("Done. 3 voters", run(leader.address, "promote", str(second), "--yes"))


def what_cannot_work_is_refused(ensemble):
    address = ensemble[1].address
    before = show(ensemble)["version"]
    dead = ensemble.new_server(9)
    for words, wanted in ((("remove", "8"), "server.8 is not a member"),
                          (("promote", "2"), "server.2 is a voter already"),
                          (("add", ensemble[2].text), "server.2 is a member already"),
                          (("remove", "1", "2", "3"), "no voter would be left"),
                          (("add", dead.text), "server.9 does not run")):
        text = run(address, *words, "--yes", status=1)
        expect_in(wanted, text)
        expect_in("Nothing was changed.", text)
    for words in ((), ("grow",), ("add",), ("add", "server.4=x"), ("remove", "x"), ("replace", "1"), ("show", "1")):
        run(address, *words, status=2)
    del ensemble.members[9]
    expect(show(ensemble)["version"], before, "version")


def two_servers_join_while_clients_write(ensemble):
    ensemble.settle()
    fourth, fifth = ensemble.new_server(4, ensemble.kind), ensemble.new_server(5, ensemble.kind)
    fourth.launch()
    fifth.launch()
    wait_until(lambda: fourth.answers() and fifth.answers(), "both run", 60)
    with Writes(ensemble[1]) as writes:
        text = run(ensemble[1].address, "add", fourth.text, fifth.text, "--yes")
        expect_in("Done. 5 voters: 3 make a quorum, 2 may fail.", text)
        expect(roles(ensemble), {sid: "voter" for sid in (1, 2, 3, 4, 5)}, "roles")
        count = writes.count
        wait_until(lambda: writes.count > count, "writes go on")
    if writes.longest > LONGEST_WRITE_SECONDS:
        raise Failed(f"a write took {writes.longest:.1f} s")
    expect({member.mode() for member in ensemble}, {"leader", "follower"}, "modes")


def roles_change_and_change_back(ensemble):
    ensemble.settle()
    voter = next(member for member in ensemble if member.sid > 3 and member.mode() == "follower")
    address = ensemble[1].address
    expect_in("Done. 4 voters", run(address, "demote", str(voter.sid), "--yes"))
    expect(voter.mode(), "observer", "mode")
    expect(roles(ensemble)[voter.sid], "observer", "role")
    expect_in("Done. 5 voters", run(address, "promote", str(voter.sid), "--yes"))
    expect(voter.mode(), "follower", "mode")


def servers_are_removed(ensemble):
    ensemble.settle()
    text = run(ensemble[1].address, "remove", "4", "5", "--yes")
    expect_in("Done. 3 voters: 2 make a quorum, 1 may fail.", text)
    expect_in("they no longer vote. Stop them.", text)
    for sid in (4, 5):
        ensemble.members.pop(sid).remove()
    write_marker(ensemble.settle())


def the_leader_is_removed_and_comes_back(ensemble):
    """The reply may be lost with the leader; the configuration shows that it is done."""
    leader = ensemble.settle()
    left = next(member for member in ensemble if member is not leader)
    text = run(leader.address, "remove", str(leader.sid), "--yes")
    expect_in(f"server.{leader.sid} leads", text)
    expect_in("Done. 2 voters", text)
    wait_until(lambda: any(member.mode() == "leader" for member in ensemble if member is not leader), "a new leader", 60)
    write_marker(left)
    # Java's serves on without a vote. Drover's serves nobody until it is a member again.
    if ensemble.kind == JAVA:
        wait_until(lambda: leader.mode() is not None, "the old leader serves", 60)
    expect_in("Done. 3 voters", run(left.address, "add", leader.text, "--yes"))


def a_server_that_runs_gets_another_client_port(ensemble):
    leader = ensemble.settle()
    moved = next(member for member in ensemble if member is not leader and member.sid != 1)
    old_text, old_port = moved.text, moved.port
    moved.port = free_port()
    expect_in("takes its new addresses itself", run(ensemble[1].address, "replace", str(moved.sid), moved.text, "--yes"))
    write_marker(moved)
    moved.port = old_port
    expect_in("Done. 3 voters", run(ensemble[1].address, "replace", str(moved.sid), old_text, "--yes"))
    write_marker(moved)


def a_dead_server_is_replaced(ensemble):
    leader = ensemble.settle()
    dead = next(member for member in ensemble if member.sid != 1 and member is not leader)
    dead.kill()
    ensemble.settle()
    new = ensemble.start_new_server(6, ensemble.kind)
    text = run(ensemble[1].address, "replace", str(dead.sid), new.text, "--yes")
    expect_in(f"server.{dead.sid} does not serve now", text)
    expect_in("Done. 3 voters", text)
    ensemble.members.pop(dead.sid).remove()
    expect(sorted(roles(ensemble)), sorted(ensemble.members), "members")
    write_marker(ensemble.settle())


def a_failure_says_how_to_go_back(ensemble):
    """With --force it adds a server that does not run: the server stays an observer, and writes continue."""
    dead = ensemble.new_server(7, ensemble.kind)
    text = run(ensemble[1].address, "add", dead.text, "--force", "--yes", "--wait", "1", status=1)
    expect_in("not synced within 1 s", text)
    expect_in("The members are now", text)
    expect_in("To go on, when server.7 is synced: drover reconfig promote 7", text)
    expect_in("To go back: drover reconfig remove 7", text)
    expect(roles(ensemble)[7], "observer", "role")
    write_marker(ensemble[1])
    expect_in("Done.", run(ensemble[1].address, "remove", "7", "--yes"))
    del ensemble.members[7]


def neutral(answer):
    """Without the version, which grows; and Debian corrects a word of Apache's."""
    return [re.sub(r"(?m)^version=\w+$|^\w+(?= 127\.)", "VERSION", str(part)).replace("commmitted", "committed")
            for part in answer]


def the_shells_reconfigure_alike(ensemble):
    """`reconfig` and `config` of zkCli and of our shell, one after the other on the same servers."""
    ensemble.settle()
    folder = ensemble[1].base
    members = folder / "members"
    members.write_text("# a comment\n" + "".join(f"{member.text}\n" for member in ensemble))
    bad, foreign = folder / "bad", folder / "foreign"
    bad.write_text("server.1=foo\n")
    foreign.write_text(f"{ensemble[1].text}\ninitLimit=5\n")
    whole = ",".join(member.text for member in ensemble)
    strangers = ",".join(f"server.{sid}=127.0.0.1:{sid}1:{sid}2;{sid}3" for sid in range(20, 24))
    for words in (("config",), ("config", "-c"), ("config", "-s"), ("config", "-w"), ("reconfig",),
                  ("reconfig", "-v", "zz", "-remove", "3"), ("reconfig", "-v", "1", "-remove", "3"),
                  ("reconfig", "-file", "/nonexistent"), ("reconfig", "-file", bad), ("reconfig", "-file", foreign),
                  ("reconfig", "-file", members, "-add", strangers), ("reconfig", "-file", members, "-members", whole),
                  ("reconfig", "-file", members), ("reconfig", "-members", whole.upper(), "-s"),
                  ("reconfig", "-remove", "99"), ("reconfig", "-add", "server.9=foo"),
                  ("reconfig", "-remove", ",".join(map(str, ensemble.members))), ("reconfig", "-add", strangers)):
        java, ours = (neutral(shells.run(shell, ensemble[1], arguments=map(str, words))) for shell in ("java", "drover"))
        expect(ours, java, f"{words}")


def rights_are_needed(_):
    with GrowingEnsemble([JAVA] * 3, properties={"zookeeper.skipACL": "no"}) as ensemble:
        ensemble.start()
        address = ensemble[1].address
        text = run(address, "demote", "1", "--yes", status=1)
        expect_in("--auth digest:super:PASSWORD", text)
        expect_in("Nothing was changed.", text)
        expect_in("Done.", run(address, "demote", "1", "--yes", "--auth", "digest:super:admin"))


def a_standalone_server_becomes_an_ensemble_and_goes_back(_):
    """By the steps of docs/operating.md."""
    with GrowingEnsemble([DROVER]) as ensemble:
        member = ensemble[1]
        address, myid, file = member.address, member.data_dir / "myid", member.base / "zoo.cfg"
        member.write_config = lambda _: None  # The operator and the server write it.
        alone = f"# ours\ntickTime=500\ndataDir={member.data_dir}\nclientPort={member.port}\n"
        file.write_text(alone)
        myid.unlink()
        member.launch()
        wait_until(lambda: member.mode() == "standalone", "a standalone server")
        with member.client() as session:
            session.create("/kept", b"alone")
        member.stop()

        myid.write_text("1\n")
        added = ["standaloneEnabled=false", "reconfigEnabled=true", "initLimit=10", "syncLimit=5", member.text]
        file.write_text(alone + "\n".join(added) + "\n")
        ensemble.start()
        lines = [ensemble.start_new_server(sid, DROVER).text for sid in (2, 3)]
        expect_in("Done. 3 voters", run(address, "add", *lines, "--yes"))
        with ensemble[3].client() as session:
            session.call(p.SYNC, p.buffer("/"))
            expect(session.nodes(["/kept"])["/kept"][0], b"alone", "what the standalone server wrote")
            session.create("/kept/by-three")
        expect_in("Done. 1 voter", run(address, "remove", "2", "3", "--yes"))
        for sid in (2, 3):
            ensemble.members.pop(sid).remove()
        member.stop()

        gone = ("dynamicConfigFile", *(line.partition("=")[0] for line in added))
        rest = [line for line in file.read_text().splitlines() if line.partition("=")[0] not in gone]
        if not any(line.startswith("clientPort=") for line in rest):
            rest.append(f"clientPort={member.port}")
        expect(sorted(rest), sorted(alone.splitlines()), "what is left of zoo.cfg")
        file.write_text("\n".join(rest) + "\n")
        member.launch()
        wait_until(lambda: member.mode() == "standalone", "a standalone server")
        with member.client() as session:
            expect(session.children("/kept"), ["by-three"], "what the ensemble wrote")
            session.create("/kept/by-one")


STORIES = [members_are_shown, the_shells_reconfigure_alike, nothing_is_done_without_consent,
           two_operators_do_not_disturb_each_other, what_cannot_work_is_refused,
           two_servers_join_while_clients_write, roles_change_and_change_back, servers_are_removed,
           the_leader_is_removed_and_comes_back, a_server_that_runs_gets_another_client_port, a_dead_server_is_replaced,
           a_failure_says_how_to_go_back]


def tell(story, ensemble):
    try:
        story(ensemble)
    except (Failed, AssertionError, OSError, KeyError, ValueError, subprocess.TimeoutExpired) as problem:
        print(f"FAILED {story.__name__} ({getattr(ensemble, 'kind', JAVA)}): {problem}", flush=True)
        return False
    return True


def main():
    words, results = sys.argv[1:], []
    for kind in (JAVA, DROVER):
        with GrowingEnsemble([kind] * 3) as ensemble:
            ensemble.kind = kind
            ensemble.start()
            for story in STORIES:
                if not words or any(word in story.__name__ for word in words):
                    results.append(tell(story, ensemble))
    for story in (rights_are_needed, a_standalone_server_becomes_an_ensemble_and_goes_back):
        if not words or any(word in story.__name__ for word in words):
            results.append(tell(story, None))
    print(f"cli_reconfig: {sum(results)} passed, {len(results) - sum(results)} failed")
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
