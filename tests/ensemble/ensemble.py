# SPDX-License-Identifier: Apache-2.0
#
# Ensembles of real processes, each member Apache ZooKeeper 3.8.0 or drover, and each free to become the other
# on the same data directory: that is how a live cluster migrates, and what these tests are about.
#
# Nothing here sleeps for a fixed time: every wait is for a condition and has a deadline.

import contextlib
import os
import pathlib
import re
import shutil
import signal
import socket
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "durability"))

import log_holes  # noqa: E402
from harness import FailingDisk, Session, check, p, wait_until  # noqa: E402
import maven  # noqa: E402
from ports import free_port  # noqa: E402
from servers import (JVM_FLAGS, LIBRARY_JARS, LOG_FLAGS, SERVER_JARS, Server, drover_binary,  # noqa: E402
                     four_letter_word, java_binary, java_classpath)

JAVA, JAVA39, DROVER = "java", "java39", "drover"  # Apache ZooKeeper 3.8.0, 3.9 from Maven Central, and ours
VOTER, OBSERVER = "participant", "observer"

# At this level, a Java leader logs that it sends TRUNC.
SYNC_LOG_FLAG = "-Dorg.slf4j.simpleLogger.log.org.apache.zookeeper.server.quorum.LearnerHandler=debug"

TICK_MS = 500
INIT_LIMIT = 30
SYNC_LIMIT = 6  # ticks: a stopped server is given up after three seconds
SETTLE_SECONDS = 120
WORD_SECONDS = 2

# How a learner is synced: a Java learner says it itself, a drover learner's leader says it. (Java's
# does not name the learner of a snapshot.)
JAVA_LEARNER = {"DIFF": "Getting a diff from the leader", "TRUNC": "Truncating log to get in sync",
                "SNAP": "Getting a snapshot from leader"}
LEADER = {"DIFF": r"Sending DIFF zxid=0x\w+ +for peer sid: ?{0}\b|learner {0} is synced with DIFF",
          "TRUNC": r"Sending TRUNC .* for peer sid: ?{0}\b|learner {0} is synced with TRUNC",
          "SNAP": r"Sending snapshot last zxid of peer|learner {0} is synced with SNAP"}


def other_kind(kind):
    return DROVER if kind == JAVA else JAVA


class Member(Server):
    """One server of an ensemble. Ports, sid and data directory stay; the kind may change while it is down."""

    name = "member"

    def __init__(self, sid, kind, role=VOTER, config=None, properties=None, failing_disk=False):
        ensemble_config = {"initLimit": INIT_LIMIT, "syncLimit": SYNC_LIMIT, "maxSessionTimeout": 60000}
        if role == OBSERVER:
            ensemble_config["peerType"] = "observer"
        super().__init__({**ensemble_config, **(config or {})},
                         {"zookeeper.forceSync": "yes", **(properties or {})}, tick_ms=TICK_MS)
        self.sid, self.kind, self.role = sid, kind, role
        self.port, self.quorum_port, self.election_port = free_port(), free_port(), free_port()
        (self.data_dir / "myid").write_text(f"{sid}\n")
        self.disk = FailingDisk(self.base) if failing_disk else None
        self.clock = self.routes = None  # a wrong clock, and a way through a proxy, with the same interface
        self.paused = False
        self._said_before = 0

    def __str__(self):
        return f"server {self.sid} ({self.kind} {self.role})"

    @property
    def files(self):
        return self.data_dir / "version-2"

    def line(self, quorum_port=None, election_port=None):
        """The server's line in the configuration; other ports lead through a proxy."""
        return (f"127.0.0.1:{quorum_port or self.quorum_port}:{election_port or self.election_port}"
                f":{self.role}")

    def command(self, config_file):
        properties = [f"-D{key}={value}" for key, value in self.properties.items()]
        if self.kind == DROVER:
            return [drover_binary(), "server", str(config_file), *properties]
        return [java_binary(), *JVM_FLAGS, "-Xmx256m", *LOG_FLAGS, SYNC_LOG_FLAG, *properties, "-cp",
                self._classpath(), "org.apache.zookeeper.server.quorum.QuorumPeerMain",
                str(config_file)]

    def _classpath(self):
        if self.kind == JAVA39:
            return ":".join([*maven.zookeeper_jars(), java_classpath(*LIBRARY_JARS)])
        return java_classpath(*SERVER_JARS)

    def launch(self):
        """Starts the process; whether it serves is for the others to decide too."""
        check(self.process is None, f"{self} runs already")
        self._said_before = self.said_bytes()
        added = self._environment() if self.kind == DROVER else {}
        os.environ.update(added)  # Only for this start: servers.py passes our environment on.
        try:
            self._launch()
        finally:
            for name in added:
                del os.environ[name]
        self.paused = False

    def _environment(self):
        """The environment for the preloaded fault libraries."""
        merged = {}
        for liar in filter(None, (self.disk, self.clock, self.routes)):
            for name, value in liar.environment().items():
                merged[name] = f"{merged[name]}:{value}" if name in merged else value
        return merged

    @property
    def running(self):
        return self.process is not None and self.process.poll() is None

    def pause(self):
        """Returns when every thread has stopped: on a busy machine some go on for a while."""
        self.process.send_signal(signal.SIGSTOP)
        self.paused = True
        wait_until(lambda: set(self._thread_states()) == {"T"}, f"{self} stops")

    def _thread_states(self):
        for status in pathlib.Path(f"/proc/{self.process.pid}/task").glob("*/stat"):
            yield status.read_text().rpartition(")")[2].split()[0]

    def unpause(self):
        self.process.send_signal(signal.SIGCONT)
        self.paused = False

    def become(self, kind):
        check(self.process is None, f"{self} runs")
        self.kind = kind

    def wipe(self):
        """The disk was replaced; that it is server N is in the configuration, not on the disk."""
        check(self.process is None, f"{self} runs")
        shutil.rmtree(self.files)

    def said(self, since=None):
        """The server's log since the last start, or from this offset."""
        data = self.log_file.read_bytes() if self.log_file.exists() else b""
        return data[self._said_before if since is None else since:].decode(errors="replace")

    def said_bytes(self):
        return self.log_file.stat().st_size if self.log_file.exists() else 0

    def check_not_diverged(self):
        """Drover detects with digests that its state differs from the leader's, and takes the leader's. That heals, so
        nothing else would show it; but it must never be needed."""
        found = re.search(".*makes another state here than at the leader.*", self.said(since=0))
        check(found is None, f"{self}: {found and found.group()}")

    def word(self, word, timeout=WORD_SECONDS):
        return four_letter_word(self.port, word, timeout)

    def answers(self):
        """True if the process runs, serving or not."""
        with contextlib.suppress(OSError):
            return self.word("ruok") == "imok"
        return False

    def mode(self):
        """leader, follower, observer, or None while it does not serve."""
        return self._server_line("Mode")

    def zxid(self):
        return self._server_line("Zxid")

    def _server_line(self, name):
        if self.running and not self.paused:
            with contextlib.suppress(OSError):
                found = re.search(rf"^{name}: (\w+)$", self.word("srvr"), re.MULTILINE)
                return found and found.group(1)
        return None

    @contextlib.contextmanager
    def client(self):
        """A session that is closed at the end. Otherwise it would expire later, while a test expects no writes."""
        try:
            session = Session(self.port)
        except AssertionError as refusal:
            raise ConnectionError(f"{self} does not serve") from refusal
        try:
            yield session
            session.call(p.CLOSE_SESSION)
        finally:
            session.close()


class Ensemble:
    """Members by sid. As a context it ends what it started, and keeps the directories of a failure."""

    def __init__(self, kinds, observers=(), config=None, properties=None, failing_disks=False, first=1):
        """`kinds` are those of servers `first`, `first` + 1, …; the sids in `observers` do not vote."""
        self.members = {sid: Member(sid, kind, OBSERVER if sid in observers else VOTER, config, properties,
                                    failing_disks)
                        for sid, kind in enumerate(kinds, first)}
        self._said_at_launch = {}
        lines = {f"server.{sid}": member.line() for sid, member in self.members.items()}
        for member in self.members.values():
            member.config.update(lines)

    def __getitem__(self, sid):
        return self.members[sid]

    def __iter__(self):
        return iter(self.members.values())

    @property
    def voters(self):
        return [member for member in self if member.role == VOTER]

    @property
    def running(self):
        """The members that could serve: running and not paused."""
        return [member for member in self if member.running and not member.paused]

    @property
    def hosts(self):
        return ",".join(member.address for member in self)

    def leader(self):
        """The member that leads, or None."""
        leaders = [member for member in self.running if member.mode() == "leader"]
        return leaders[0] if len(leaders) == 1 else None

    def followers(self):
        return [member for member in self.running if member.mode() == "follower"]

    def start(self, *sids, wait=True):
        """Starts these, or all that are down, together; returns when everybody who runs serves."""
        for member in [self[sid] for sid in sids] if sids else list(self):
            if not member.running:
                self._said_at_launch[member.sid] = {each.sid: each.said_bytes() for each in self}
                member.launch()
        if wait:
            self.settle()
        return self

    def serves(self):
        """True if one server leads and all others that run follow or observe."""
        modes = [member.mode() for member in self.running]
        return all(modes) and modes.count("leader") == 1

    def settle(self, seconds=SETTLE_SECONDS):
        """Returns the leader as soon as all servers serve. No server may have ended by itself."""
        def settled():
            for member in self:
                check(member.process is None or member.running,
                      f"{member} ended with exit code {member.process and member.process.returncode}:\n"
                      f"{member.log_tail()}")
            return self.serves()

        try:
            wait_until(settled, "an ensemble that serves", seconds)
        except AssertionError as error:
            modes = {str(member): member.mode() for member in self}
            raise AssertionError(f"{error}: {modes}") from error
        return self.leader()

    def how_synced(self, member):
        """Every way in which it was synced since its start, in the order of its leaders' logs."""
        if member.kind == JAVA:
            return _in_order(JAVA_LEARNER, member.said())
        before = self._said_at_launch[member.sid]
        patterns = {how: pattern.format(member.sid) for how, pattern in LEADER.items()}
        return [how for other in self if other is not member
                for how in _in_order(patterns, other.said(before[other.sid]))]

    def lead(self, wanted):
        """Makes `wanted` the leader without losing anything: the others cannot win against it."""
        leader = self.settle()
        if leader is wanted:
            return
        check(len(self.voters) == 3, "written for three voters")
        behind, partner = [member for member in self.voters if member is not wanted]
        behind.stop()
        self.settle()
        self.level()
        partner.stop()
        self.start(behind.sid)
        check(self.leader() is wanted, f"{wanted} leads, not {self.leader()}")
        self.start(partner.sid)

    def level(self):
        """Returns when all running members are at the same zxid, which needs clients that write nothing. Not without
        a write: until its first commit a Java leader reports the beginning of its epoch."""
        write_marker(self.leader())
        zxids = {}

        def level():
            zxids.update({member.sid: member.zxid() for member in self.running})
            return len(set(zxids.values())) == 1

        try:
            wait_until(level, "servers at the same zxid")
        except AssertionError as error:
            raise AssertionError(f"{error}: {zxids}") from error

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        for member in self:
            member.kill()
        if kind is None:
            for member in self:
                member.remove()
        else:
            keep(self)


def write_marker(member):
    with member.client() as session:
        session.create("/marker", flags=p.SEQUENTIAL)


def _in_order(patterns, text):
    found = [(at.start(), how) for how, pattern in patterns.items() for at in re.finditer(pattern, text)]
    return [how for _, how in sorted(found)]


def keep(ensemble):
    """Copies what a failure left behind to where the end of this process does not delete it."""
    folder = pathlib.Path(os.environ.get("DROVER_KEEP", tempfile.gettempdir()))
    target = folder / f"drover-ensemble-{os.getpid()}"
    number = 1
    while (target / str(number)).exists():
        number += 1
    for member in ensemble:
        shutil.copytree(member.base, target / str(number) / f"server-{member.sid}-{member.kind}")
    print("\n".join([f"kept for inspection: {target / str(number)}", *log_holes.report(ensemble)]), flush=True)
