# SPDX-License-Identifier: Apache-2.0
#
# An ensemble whose members change, and the operator who changes them at random, one change after the other, while
# everything else fails. The operator is a client like the others: its requests are part of the history.
#
# Three servers begin, up to five can be members. A server that joins is a new machine with an empty disk, or one that
# was a member before and kept its disk, or one that was removed and still runs. Server 1 may change its role, but is
# never removed and keeps its disk: its log is what the others are compared with.

import collections
import re
import shutil

from client import Client, Left
from ensemble import DROVER, Ensemble
from harness import OK, check_equal, wait_until
from members_model import CONFIG_NODE, OBSERVER, PARTICIPANT, Change, Members
from operations import PENDING, Operation

SERVERS = 5
KEEPER = 1
VOTERS_MIN = 2
PAUSE_SECONDS = (0.1, 1.5)  # between two changes
SYNC_SECONDS = 5  # that a server may take to be synced before it is made a member anyway
LEARN_SECONDS = 20  # within which a server learns that it was removed, when nothing fails
CONFIG = {"reconfigEnabled": "true", "standaloneEnabled": "false"}
PROPERTIES = {"zookeeper.skipACL": "yes"}


def spec_of(member):
    return f"{member.line()};127.0.0.1:{member.port}"


def line_of(member):
    return f"server.{member.sid}={spec_of(member)}"


class ChangingEnsemble(Ensemble):
    """All servers that can be members. The first ones are members."""

    def __init__(self, first, config=None, properties=None):
        super().__init__([DROVER] * SERVERS, config={**CONFIG, **(config or {})},
                         properties={**PROPERTIES, **(properties or {})}, failing_disks=True)
        self.first = set(first)
        lines = [line_of(member) for member in self if member.sid in self.first]
        for member in self:
            self._let_write_config(member)
            self.configure(member, lines)

    @staticmethod
    def _let_write_config(member):
        """The server rewrites its file, so only the first one is ours."""
        write = member.write_config
        member.write_config = lambda file: None if file.exists() else write(file)

    @staticmethod
    def configure(member, lines):
        """Its file lists these members and itself, as an operator would write it."""
        for key in [key for key in member.config if key.startswith("server.")]:
            del member.config[key]
        member.config.update(line.split("=", 1) for line in [*lines, line_of(member)])
        (member.base / "zoo.cfg").unlink(missing_ok=True)

    def serves(self):
        """True if there is one leader, and all members that it knows follow or observe."""
        leader = self.leader()
        return leader is not None and all(self[sid].mode() for sid in sids_shown_by(leader))


def sids_shown_by(member):
    """The members in its own eyes, without a session."""
    return {int(sid) for sid in re.findall(r"^server\.(\d+)=", member.word("conf"), re.MULTILINE)}


class Operator(Client):
    def __init__(self, number, seed, ensemble, roster):
        super().__init__(number, seed, [member.port for member in ensemble])
        self.name = "operator"
        self.ensemble, self.roster = ensemble, roster
        self.first = self.present = None
        self.asked, self.counts = 0, collections.Counter()
        self.open = []        # reconfigurations that may still happen
        self.removed = set()  # sids of servers that run and know, or will learn, that they were removed
        self.former = []      # folders with the logs of servers that lost their disk

    def choose(self):
        self.ending.wait(self.random.uniform(*PAUSE_SECONDS))
        self.look()
        change = self.choose_change()
        self.note_leavers(change)
        for sid in self.joiners(change):
            self.prepare(self.ensemble[sid])
        request = Operation("reconfig", change=change, version=self.present.version)
        self.asked += 1
        self.open.append(request)
        return [request]

    # ---- what is ---------------------------------------------------------------------------------------

    def look(self):
        """Reads the members, as of now."""
        request = Operation("get", CONFIG_NODE)
        self.perform([Operation("sync", "/"), request])
        check_equal(request.err, OK, f"getData {CONFIG_NODE}")
        with self.roster.lock:
            self.note_members(Members.parse(request.result[0].decode()))

    def note_members(self, members):
        before, self.present = self.present or members, members
        self.first = self.first or members
        self.counts.update(before.kinds_of_change_to(members))
        # All requests name the version that they are for, so an older one has no chance any more.
        self.open = [op for op in self.open if op.err is PENDING and op.version == members.version]
        outside = self.ensemble.members.keys() - members.sids
        self.removed -= members.sids
        self.roster.leavers = outside | {sid for op in self.open for sid in self.leavers(op.change)}
        for sid in sorted(before.sids & outside):
            self.take_leave_of(self.ensemble[sid])

    def take_leave_of(self, member):
        """It is not a member any more. Some operators let such a server run."""
        self.removed.add(member.sid)
        if not member.paused and self.random.random() < 0.5:
            self.roster.switch_off(member)

    def note_leavers(self, change):
        with self.roster.lock:
            self.roster.leavers |= self.leavers(change)

    def leavers(self, change):
        return self.present.sids - self.present.after(change, 0).sids

    def joiners(self, change):
        return sorted(self.present.after(change, 0).sids - self.present.sids)

    def check_removed(self):
        """A removed server stops serving as soon as it can know of its removal. No server is started or added
        meanwhile: that would excuse a server that continues."""
        with self.roster.lock:
            removed = [self.ensemble[sid] for sid in self.removed - self.uncertain()]
            for member in removed:
                wait_until(lambda member=member: member.mode() is None, f"{member} was removed and does not serve",
                           LEARN_SECONDS)
            self.counts["removed servers that ran on"] += sum(member.running for member in removed)

    def uncertain(self):
        """Servers that a request without an answer may still make members."""
        return {sid for op in self.open for sid in self.joiners(op.change)}

    # ---- what to change --------------------------------------------------------------------------------

    def choose_change(self):
        while True:
            make = self.random.choice((self.add, self.remove, self.replace, self.change_role, self.name_all))
            change = make()
            if change is None:
                continue
            after = self.present.after(change, 0)
            if KEEPER in after and len(after.voters) >= VOTERS_MIN:
                return change

    def add(self):
        sid = self.someone(self.outside())
        return sid and Change(joining=self.line(sid))

    def remove(self):
        sid = self.someone_inside()
        return sid and Change(leaving=str(sid))

    def replace(self):
        joins, leaves = self.someone(self.outside()), self.someone_inside()
        return joins and leaves and Change(joining=self.line(joins), leaving=str(leaves))

    def change_role(self):
        """Promotes or demotes."""
        sid = self.someone(self.present.sids)
        return Change(joining=self.line(sid, OBSERVER if sid in self.present.voters else PARTICIPANT))

    def name_all(self):
        named = [sid for sid in self.present.sids | self.outside() if self.random.random() < 0.7]
        return Change(members=",".join(self.line(sid) for sid in sorted({KEEPER, *named})))

    def outside(self):
        return self.ensemble.members.keys() - self.present.sids - self.uncertain()

    def someone(self, sids):
        return self.random.choice(sorted(sids)) if sids else None

    def someone_inside(self):
        """Often the leader, because it is the hardest one to remove."""
        leader = self.ensemble.leader() if self.random.random() < 0.3 else None
        return leader.sid if leader and leader.sid in self.present else self.someone(self.present.sids)

    def line(self, sid, role=None):
        member = self.ensemble[sid]
        member.role = role or self.random.choice((PARTICIPANT, PARTICIPANT, PARTICIPANT, OBSERVER))
        return line_of(member)

    # ---- servers that join -----------------------------------------------------------------------------

    def prepare(self, member):
        """Has it run and follow the leader."""
        with self.roster.lock:
            if member.paused or (member.running and self.random.random() < 0.5):
                return  # It follows as it is, even if it was removed.
            member.kill()
            self.removed.discard(member.sid)
            if self.random.random() < 0.5:
                self.lose_disk(member)
            self.ensemble.configure(member, self.present.lines)
            self.roster.switch_on(member)
        try:
            wait_until(lambda: member.mode() or self.ending.is_set(), f"{member} is synced", SYNC_SECONDS)
        except AssertionError:
            pass  # Another check has failed. "No quorum is synced" is a valid result.

    def lose_disk(self, member):
        if not member.files.exists():
            return
        self.former.append(member.base / f"former-{len(self.former)}")
        shutil.copytree(member.files, self.former[-1])
        member.wipe()
        for file in member.base.glob("zoo.cfg*"):
            file.unlink()

    # ---- the end ---------------------------------------------------------------------------------------

    def last_look(self):
        """After this nothing changes any more."""
        def looked():
            try:
                self.connect()
                self.look()
                return True
            except (Left, OSError):
                return False
            finally:
                self.connection.close()

        wait_until(looked, "the members", 60)
        self.leave()

    def servers_inside(self):
        return [self.ensemble[sid] for sid in sorted(self.present.sids)]

    def check_members(self):
        """All members show the same membership, and removed servers serve no clients."""
        for member in self.ensemble.running:
            if member.sid not in self.removed:
                wait_until(member.mode, f"{member} serves", 60)
                check_equal(sids_shown_by(member), self.present.sids, f"the members that {member} shows")
                check_equal(config_of(member), self.present.text, f"{CONFIG_NODE} of {member}")
        self.check_removed()


def config_of(member):
    with member.client() as session:
        return session.nodes([CONFIG_NODE])[CONFIG_NODE][0].decode()
