#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
#
# The files of a membership change hands: what Java 3.8.0 writes beside zoo.cfg, drover's code reads, and the
# reverse. One server, which is an ensemble of one with standaloneEnabled=false; and three, of which one has proposed
# members when all are killed.
#
#   membership_files_test.py --only TEXT

import argparse
import pathlib
import shutil
import subprocess
import sys

from ensemble import DROVER, JAVA, Ensemble, write_marker  # First: it makes tests/durability importable.
from harness import Session, check, check_equal, p, wait_until
from members import Members, reconfig_body, sids_in
from scenarios import in_log
from servers import drover_binary
from suite import run

CONFIG_NODE = "/zookeeper/config"
OBSERVER = "server.9=10.1.1.9:2888:3888:observer;0.0.0.0:2181"


class Folder:
    """One member, and the files around its zoo.cfg."""

    def __init__(self):
        self.ensemble = Ensemble([JAVA], config={"reconfigEnabled": "true", "standaloneEnabled": "false",
                                                 "# a comment": "which Java drops"},
                                 properties={"zookeeper.skipACL": "yes"})
        self.member = self.ensemble[1]
        self.zoo_cfg = self.member.base / "zoo.cfg"
        self.line = f"server.1={self.member.line()};127.0.0.1:{self.member.port}"
        self.member.write_config(self.zoo_cfg)
        self.written = self.zoo_cfg.read_text()
        # From now on the servers write it.
        self.member.write_config = lambda _: None

    def __enter__(self):
        self.ensemble.__enter__()
        return self

    def __exit__(self, *failure):
        self.ensemble.__exit__(*failure)

    def start(self, kind):
        self.member.become(kind)
        self.ensemble.start()

    def stop(self):
        self.member.stop()

    def config(self):
        """The configuration that clients read."""
        with self.member.client() as session:
            error, body = session.call(p.GET_DATA, p.path_watch_body(CONFIG_NODE))
            check_equal(error, 0, "getData")
            return body.buffer().decode()

    def reconfig(self, joining=None, leaving=None, members=None):
        with self.member.client() as session:
            error, _ = session.call(p.RECONFIG, p.buffer(joining) + p.buffer(leaving) + p.buffer(members) +
                                    p.int64(-1))
            check_equal(error, 0, "reconfig")

    def tool(self, verb, *text):
        """The committed and the proposed membership after it."""
        program = pathlib.Path(drover_binary()).parent / "membership_tool"
        done = subprocess.run([program, verb, self.zoo_cfg, "1", *text], capture_output=True, text=True,
                              check=False)
        check_equal(done.returncode, 0, f"{verb}: {done.stderr}")
        committed, _, proposed = done.stdout.strip().partition("\n---\n")
        return committed, proposed

    def files(self, pattern="zoo.cfg*"):
        return sorted(file.name for file in self.member.base.glob(pattern))


def version_of(text):
    return int(text.rpartition("version=")[2], 16)


def with_version(text, version):
    return f"{text.rpartition('version=')[0]}version={version:x}"


def what_java_wrote_is_read():
    with Folder() as folder:
        folder.start(JAVA)
        folder.reconfig(members=f"{folder.line},{OBSERVER}")
        said = folder.config()
        folder.stop()
        check_equal(folder.tool("show"), (said, ""), "after Java's reconfig")
        check_equal(folder.zoo_cfg.with_name("zoo.cfg.bak").read_text(), folder.written, "the copy")
        check("# a comment" in folder.written, "the operator wrote a comment")
        check("# a comment" not in folder.zoo_cfg.read_text(), "Java drops it")
        folder.start(DROVER)
        check_equal(folder.config(), said, "drover on the same folder")
        folder.stop()
        folder.start(JAVA)
        folder.reconfig(leaving="9")
        folder.stop()
        check_equal(folder.tool("show")[0].splitlines()[:-1], [folder.line], "after Java removed the observer")


def what_we_wrote_is_read_by_java():
    with Folder() as folder:
        folder.start(JAVA)
        first = folder.config()
        folder.stop()
        # Back to the operator's file: our code makes the first change.
        folder.zoo_cfg.write_text(folder.written)
        ours = with_version(f"{folder.line}\n{OBSERVER}\nversion=", version_of(first) + 0x10)
        folder.tool("propose", ours)
        folder.tool("commit", ours)
        check_equal(folder.tool("show"), (ours, ""), "what we wrote")
        check("# a comment" in folder.zoo_cfg.read_text(), "the comment stays")
        check("clientPort" not in folder.zoo_cfg.read_text(), "the client port has moved")
        folder.start(JAVA)
        check_equal(folder.config(), ours, "Java on our files")
        folder.reconfig(leaving="9")
        said = folder.config()
        folder.stop()
        check_equal(folder.tool("show"), (said, ""), "what Java made of it")
        check("zoo.cfg.dynamic.next" not in folder.files(), "nothing is proposed")


def java_takes_up_what_we_have_proposed():
    with Folder() as folder:
        folder.start(JAVA)
        folder.reconfig(members=folder.line)
        before = folder.config()
        folder.stop()
        proposed = with_version(f"{folder.line}\n{OBSERVER}\nversion=", version_of(before) + 0x10)
        folder.tool("propose", proposed)
        check_equal(folder.tool("show"), (before, proposed), "both are known")
        folder.start(JAVA)
        # A new leader activates the last membership that it has seen.
        wait_until(lambda: OBSERVER in folder.config(), "Java activates it", 20)
        said = folder.config()
        folder.stop()
        check_equal(folder.tool("show"), (said, ""), "it is committed now")


class Copies:
    """What the servers' folders contained."""

    def __init__(self, ensemble):
        self.folders = {member.base: member.base.with_name(f"{member.base.name}-copy") for member in ensemble}
        for folder, copy in self.folders.items():
            shutil.copytree(folder, copy)

    def restore(self):
        for folder, copy in self.folders.items():
            shutil.rmtree(folder)
            copy.rename(folder)


def what_java_had_proposed_is_decided_by_drover():
    """All three are killed when only the leader's log has the change. If the leader's files come back with the
    others', the change is made; if the others have begun without it, it never was."""
    with Members([JAVA] * 3) as ensemble:
        leader = ensemble.start_led_by(3)[3]
        write_marker(leader)
        session = Session(leader.port)
        for sid in (1, 2):
            ensemble[sid].pause()
        session.send([(p.RECONFIG, reconfig_body(joining=OBSERVER))])
        proposed = leader.base / "zoo.cfg.dynamic.next"
        wait_until(lambda: proposed.exists() and in_log(leader, OBSERVER), "the change in the log", 60)
        for member in ensemble:
            member.kill()
            member.become(DROVER)
        session.close()
        copies = Copies(ensemble)

        ensemble.start_led_by(3)
        for member in ensemble:
            wait_until(lambda: sids_in(ensemble.config(member)) == [1, 2, 3, 9], f"the change at {member}", 60)
            wait_until(lambda: not (member.base / proposed.name).exists(), f"nothing is proposed at {member}", 60)
        write_marker(ensemble.leader())

        for member in ensemble:
            member.stop()
        copies.restore()
        ensemble.start(1, 2)
        write_marker(ensemble.leader())
        ensemble.start(3)
        check_equal(sids_in(ensemble.agree()), [1, 2, 3], "members")
        wait_until(lambda: not proposed.exists(), "nothing is proposed", 60)
        check(not in_log(leader, OBSERVER), f"{leader} has cut it off")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", help="run the cases whose name contains this")
    arguments = parser.parse_args()
    return run("members", [what_java_wrote_is_read, what_we_wrote_is_read_by_java, java_takes_up_what_we_have_proposed,
                           what_java_had_proposed_is_decided_by_drover], arguments.only)


if __name__ == "__main__":
    sys.exit(main())
