#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
#
# A quorum of an ensemble is lost for good. A survivor is forced to be an ensemble of its own with
# `drover inspect members --force`, and others join it. Lost servers that come back with their old disks stop.
#
#   lost_quorum_test.py --only TEXT

import argparse
import contextlib
import json
import shutil
import subprocess
import sys

from ensemble import DROVER  # First: it makes tests/durability importable.
from ensemble import write_marker
from harness import Session, check, check_equal, p, wait_until
from members import Members, line_of, reconfig_body, sids_in, version_of
from servers import drover_binary
from suite import run

HALTED_EXIT, WRONG_CONFIG_EXIT = 4, 2
OTHER_HISTORY = "leads a history that is not the one on this disk"


def inspect(*words, expect=0, answer=""):
    """Both outputs of `drover inspect members`."""
    done = subprocess.run([drover_binary(), "inspect", "members", *map(str, words)], input=answer, capture_output=True,
                          text=True, timeout=60)
    check_equal(done.returncode, expect, f"exit code of {words}: {done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def config_of(member):
    return member.base / "zoo.cfg"


def members_on_disk(member, expect=0):
    """The last record of each kind."""
    lines = [json.loads(line) for line in inspect(config_of(member), "--json", expect=expect).splitlines()]
    return {line["kind"]: line for line in lines}


def force(member, **options):
    return inspect(config_of(member), "--force", line_of(member), "--yes", **options)


@contextlib.contextmanager
def three_with_data(config=None):
    """Three servers that hold the nodes 1 to 100, and have stopped."""
    with Members([DROVER] * 3, config=config) as ensemble:
        ensemble.start()
        with ensemble.leader().client() as session:
            for number in range(1, 101):
                session.create(f"/{number}", b"kept")
        ensemble.level()
        for member in ensemble:
            member.stop()
        yield ensemble


def lose(ensemble, *sids):
    """Stops these servers for good. Their disks are kept: some tests start them again."""
    lost = [ensemble[sid] for sid in sids]
    ensemble.retire(*sids)
    return lost


def check_data(member):
    with member.client() as session:
        session.call(p.SYNC, p.buffer(b"/1"))
        missing = [n for n in range(1, 101) if not session.exists(f"/{n}")]
        check_equal(missing, [], f"nodes missing at {member}")


def halts(member):
    """The server stops by itself and does not change its data."""
    member.launch()
    wait_until(lambda: not member.running, f"{member} stops", 60)
    check_equal(member.process.returncode, HALTED_EXIT, f"exit code\n{member.log_tail()}")
    check(OTHER_HISTORY in member.said(), f"{member} says why")
    member.process = None


def the_survivor_serves_alone_and_grows_again():
    with three_with_data() as ensemble:
        before = members_on_disk(ensemble[1])
        lose(ensemble, 2, 3)
        said = force(ensemble[1])
        check("LOST: what only servers 2, 3 have" in said and "NEVER start servers 2, 3" in said, said)
        after = members_on_disk(ensemble[1])
        check(int(after["result"]["version"], 16) > int(before["result"]["version"], 16), "a later version")
        check(after["server"]["history"] != before["server"]["history"], "another history")
        ensemble.start()
        check_equal(sids_in(ensemble.config()), [1], "members")
        check_equal(version_of(ensemble.config()), int(after["result"]["version"], 16), "version")
        check_data(ensemble[1])
        for sid in (4, 5):
            ensemble.add(sid)
            ensemble.join(sid)
        check_equal(sids_in(ensemble.agree()), [1, 4, 5], "members")
        # The survivor is not needed any more.
        ensemble[1].stop()
        ensemble.settle()
        check_data(ensemble[4])
        ensemble.start(1)
        for member in ensemble:
            member.check_not_diverged()


def lost_servers_that_come_back_stop_and_keep_their_data():
    with three_with_data() as ensemble:
        # One of them holds a write that the survivor does not have.
        ensemble.start(2, 3)
        with ensemble.leader().client() as session:
            session.create("/acknowledged")
        for sid in (2, 3):
            ensemble[sid].stop()
        lost = lose(ensemble, 2, 3)
        force(ensemble[1])
        ensemble.start()
        for sid in (4, 5):
            ensemble.add(sid)
            ensemble.join(sid)
        version = version_of(ensemble.agree())
        for member in lost:
            last = members_on_disk(member)["server"]["last"]
            halts(member)
            # Its files name the new members, so it cannot take part in a quorum of the old ones.
            found = members_on_disk(member, expect=1)
            check_equal(found["server"]["last"], last, "its data")
            member.launch()
            check_equal(member.process.wait(60), WRONG_CONFIG_EXIT, "exit code of the next start")
            member.process = None
        for member in lost:
            log = subprocess.run([drover_binary(), "inspect", "log", member.data_dir, "--path", "/acknowledged"],
                                 capture_output=True, text=True, timeout=60)
            check("create /acknowledged" in log.stdout, "the write can still be read from its disk")
        check_equal(version_of(ensemble.agree()), version, "nobody was added")
        write_marker(ensemble.leader())
        for member in ensemble:
            member.check_not_diverged()


def lost_servers_that_come_back_together_find_the_survivor_first():
    with three_with_data() as ensemble:
        lost = lose(ensemble, 2, 3)
        force(ensemble[1])
        ensemble.start()
        for member in lost:
            member.launch()
        for member in lost:
            wait_until(lambda member=member: not member.running, f"{member} stops", 60)
            check_equal(member.process.returncode, HALTED_EXIT, f"exit code\n{member.log_tail()}")
            member.process = None
        check_data(ensemble[1])
        check_equal(sids_in(ensemble.config()), [1], "members")


# The split that the manual describes: two ensembles, and no data goes from one to the other.
def lost_servers_that_serve_while_the_survivor_is_away_never_mix_with_it():
    with three_with_data() as ensemble:
        lost = lose(ensemble, 2, 3)
        for member in lost:
            member.launch()
        wait_until(lambda: any(member.mode() == "leader" for member in lost), "the lost servers serve", 60)
        force(ensemble[1])
        ensemble.start()
        write_marker(ensemble[1])
        next(m for m in lost if m.mode() == "leader").kill()
        for member in lost:
            if member.running:  # It looks for a leader, and finds the survivor.
                wait_until(lambda member=member: not member.running, f"{member} stops", 60)
                check_equal(member.process.returncode, HALTED_EXIT, f"exit code\n{member.log_tail()}")
                member.process = None
        check_data(ensemble[1])


def another_survivor_joins_with_an_empty_disk():
    with three_with_data() as ensemble:
        other, = lose(ensemble, 3)
        lose(ensemble, 2)
        force(ensemble[1])
        ensemble.start()
        halts(other)
        other.wipe()
        config_of(other).unlink()
        ensemble.retired.remove(other)
        ensemble.members[3] = other
        others = {key: value for key, value in other.config.items() if not key.startswith("server.")}
        other.config = {**others, **ensemble.lines()}
        ensemble.join(3)
        check_equal(sids_in(ensemble.agree()), [1, 3], "members")
        check_data(other)


def a_reconfiguration_that_was_never_committed_does_not_count():
    """The leader has logged it, and its followers died before they had."""
    with Members([DROVER] * 3) as ensemble:
        ensemble.start()
        ensemble.add(4)
        ensemble.start(4)
        leader = ensemble.leader()
        followers = [member for member in ensemble if member is not leader]
        session = Session(leader.port)
        for member in followers:
            member.pause()
        session.send([(p.RECONFIG, reconfig_body(joining=line_of(ensemble[4])))])
        wait_until(lambda: (leader.base / "zoo.cfg.dynamic.next").exists(), "the proposed members")
        for member in ensemble:
            member.kill()
        session.close()
        check("was proposed" in inspect(config_of(leader)), "the proposed members are shown")
        lose(ensemble, *(member.sid for member in followers))
        force(leader)
        ensemble.start()
        check_equal(sids_in(ensemble.config()), [leader.sid], "members")
        check(not (leader.base / "zoo.cfg.dynamic.next").exists(), "nothing is proposed")


def wrong_uses_are_refused_and_change_nothing():
    with three_with_data() as ensemble:
        one, two = ensemble[1], ensemble[2]

        def files():
            found = {file.name: file.read_bytes() for file in [*one.base.glob("zoo.cfg*"), *one.files.glob("*Epoch")]
                     if file.is_file()}
            return found, sorted(file.name for file in one.base.iterdir())

        before = files()
        force_line = ("--force", line_of(one))
        ensemble.start(1, 2)
        check("in use by another server" in inspect(config_of(one), *force_line, "--yes", expect=1), "it runs")
        for member in (one, two):
            member.stop()
        before = files()
        check("server.N" in inspect(config_of(one), "--force", "nonsense", expect=2), "a line that is none")
        check("clientPort" in inspect(config_of(one), "--force", "server.1=nonsense", expect=2), "a bad server")
        check("No such file" in inspect(one.base / "missing.cfg", *force_line, expect=1), "no such file")
        check("zoo.cfg of the server" in inspect(one.data_dir, *force_line, expect=1), "a data directory")
        check("is not a voter" in inspect(config_of(one), "--force", line_of(two), expect=1), "others only")
        check("only voter" in inspect(config_of(one), *force_line, "--force", line_of(two), expect=1), "two voters")
        check("Nothing was changed" in inspect(config_of(one), *force_line, expect=1, answer="no\n"), "not confirmed")
        check_equal(files(), before, "files")
        written = config_of(one).read_text()
        for key in ("reconfigEnabled=true", "standaloneEnabled=false"):
            config_of(one).write_text(written.replace(key, ""))
            check(key in inspect(config_of(one), *force_line, "--yes", expect=1), f"without {key}")
        config_of(one).write_text(written)
        shutil.move(one.files, one.base / "burnt")
        check("does not exist" in inspect(config_of(one), *force_line, "--yes", expect=1), "no data")
        shutil.move(one.base / "burnt", one.files)
        check_equal(files(), before, "files")
        ensemble.start()


def a_survivor_with_server_lines_in_zoo_cfg_is_edited_by_hand():
    """reconfigEnabled=false. The manual says how."""
    with three_with_data(config={"reconfigEnabled": "false"}) as ensemble:
        lose(ensemble, 2, 3)
        survivor = ensemble[1]
        check("edit them by hand" in force(survivor, expect=1), "it says what to do")
        lines = config_of(survivor).read_text().splitlines()
        config_of(survivor).write_text("\n".join(
            line for line in lines if not line.startswith(("server.2=", "server.3="))) + "\n")
        ensemble.start()
        check_data(survivor)


CASES = [the_survivor_serves_alone_and_grows_again, lost_servers_that_come_back_stop_and_keep_their_data,
         lost_servers_that_come_back_together_find_the_survivor_first,
         lost_servers_that_serve_while_the_survivor_is_away_never_mix_with_it,
         another_survivor_joins_with_an_empty_disk, a_reconfiguration_that_was_never_committed_does_not_count,
         wrong_uses_are_refused_and_change_nothing, a_survivor_with_server_lines_in_zoo_cfg_is_edited_by_hand]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", help="run the cases whose name contains this")
    arguments = parser.parse_args()
    return run("lost_quorum", CASES, arguments.only)


if __name__ == "__main__":
    sys.exit(main())
