# SPDX-License-Identifier: Apache-2.0
#
# Ensembles of real processes whose members change, and clients that see it. Used by the reconfig tests.

import contextlib
import re
import select
import threading

from ensemble import DROVER, Ensemble, Member  # First: it makes tests/durability importable.
from harness import Session, check, check_equal, p, wait_until
from kazoo.client import KazooClient, KazooState
from kazoo.exceptions import ConnectionLoss, KazooException

CONFIG_NODE = "/zookeeper/config"
NO_QUORUM, BAD_ARGUMENTS, NO_AUTH, BAD_VERSION, DISABLED = -13, -8, -102, -103, -123

# When a leader is killed while it changes the members.
SENT, PROPOSED, ANSWERED = "sent", "proposed", "answered"
MOMENTS = (SENT, PROPOSED, ANSWERED)

RESIDENT_SECONDS = 10.0


class Members(Ensemble):
    """An ensemble whose members change. Each member writes its own zoo.cfg after its first start."""

    def __init__(self, kinds, observers=(), spares=None, config=None, properties=None, first=1):
        """`spares` are the kinds of servers that may join later, by sid. Clients can know their addresses before."""
        self.settings = {"reconfigEnabled": "true", "standaloneEnabled": "false", **(config or {})}
        self.options = {"zookeeper.skipACL": "yes", **(properties or {})}
        self.retired = []
        super().__init__(kinds, observers, config=self.settings, properties=self.options, first=first)
        self.spares = {sid: self._member(sid, kind) for sid, kind in (spares or {}).items()}
        for member in self:
            member.config.update(self.lines())
            self.let_write_config(member)

    def _member(self, sid, kind):
        return Member(sid, kind, config=self.settings, properties=self.options)

    @staticmethod
    def let_write_config(member):
        write = member.write_config
        member.write_config = lambda file: None if file.exists() else write(file)

    def start_led_by(self, sid):
        """Starts all. This one is there when the first quorum elects; it must have the highest sid of the voters."""
        self.start(sid, wait=False)
        wait_until(self[sid].answers, f"{self[sid]} answers", 60)
        for member in reversed(self.voters):
            if not member.running:
                self.start(member.sid)
        self.start()
        check(self.leader() is self[sid], f"{self[sid]} leads")
        return self

    def start_again_as(self, kind, leads):
        """The same ports, another kind, empty disks."""
        for member in self:
            member.stop()
            if member.files.exists():
                member.wipe()
            forget_members(member)
            member.become(kind)
        return self.start_led_by(leads)

    def lines(self):
        return {f"server.{member.sid}": spec_of(member) for member in self}

    @property
    def everybody(self):
        """Members and spares."""
        return [*self, *self.spares.values()]

    def add(self, sid, kind=DROVER):
        """A server that is not a member yet, and whose file contains the present members and itself."""
        self.members[sid] = self.spares.pop(sid, None) or self._member(sid, kind)
        self[sid].config.update(self.lines())
        self.let_write_config(self[sid])
        return self[sid]

    def retire(self, *sids):
        """Does not expect these servers to serve any more."""
        self.retired += [self.members.pop(sid) for sid in sids]

    def join(self, *sids):
        """Starts new servers, waits until they are synced, and makes them members."""
        for sid in sids:
            self.start(sid)
        return self.reconfig(joining=",".join(line_of(self[sid]) for sid in sids))

    def leave(self, *sids, at=None):
        """These are no members any more, and stop."""
        stays = at or next(member for member in self if member.sid not in sids)
        self.reconfig(leaving=",".join(map(str, sids)), at=stays)
        self.retire(*sids)
        for member in self.retired:
            member.stop()

    def reconfig(self, **change):
        """Returns the new members. If the leader or the server that was asked leaves, so do its clients: then the
        answer may be lost."""
        before = version_of(self.config(change.get("at")))
        try:
            error, text = self.try_reconfig(**change)
        except ConnectionError:
            wait_until(lambda: self._version() > before, "the new members", 60)
            return None
        check_equal(error, 0, f"reconfig {change}")
        return text

    def _version(self):
        """The newest that a server shows."""
        found = [0]
        for member in self.running:
            with contextlib.suppress(OSError):
                found.append(version_of(self.config(member)))
        return max(found)

    def try_reconfig(self, joining=None, leaving=None, members=None, version=-1, auth=None, at=None):
        """The error and the new members. NEWCONFIGNOQUORUM is an answer like any other."""
        member = at or self.settle()
        with member.client() as session:
            if auth:
                session.connection.call(p.AUTH_XID, p.AUTH, p.auth_body("digest", auth))
            error, body = session.call(p.RECONFIG, reconfig_body(joining, leaving, members, version))
            return error, body.buffer().decode() if error == 0 else None

    def reconfig_and_kill_leader(self, moment, before_kill=lambda leader: None, **change):
        """Asks a follower for a change and kills the leader at that moment. Returns the leader, and whether the
        change was made. Servers that are no members any more are retired."""
        leader = self.settle()
        before_kill(leader)
        asked = next(member for member in self.followers() if member.sid not in sids_of(change.get("leaving")))
        version = version_of(self.config(leader))
        session = Session(asked.port)
        session.send([(p.RECONFIG, reconfig_body(**change))])

        def answered():
            return select.select([session.connection.socket], [], [], 0)[0]

        if moment == ANSWERED:
            check_equal(session.answer()[0], 0, f"reconfig {change}")
        elif moment == PROPOSED:
            proposed = leader.base / "zoo.cfg.dynamic.next"
            wait_until(lambda: proposed.exists() or answered(), "the leader proposes the members", 60)
        leader.kill()
        session.close()
        # Servers that were removed do not serve, so this is not settle().
        wait_until(lambda: self.leader() is not None, "a new leader", 120)
        text = self.config_of_leader()
        gone = [sid for sid in sids_of(change.get("leaving")) if sid not in sids_in(text)]
        self.retire(*gone)
        for member in self.retired:
            member.stop()
        self.settle()
        return leader, version_of(text) > version

    def config_of_leader(self):
        found = []

        def read():
            with contextlib.suppress(OSError):
                if leader := self.leader():
                    found.append(self.config(leader))
            return found

        wait_until(read, "a leader that shows the members", 120)
        return found[0]

    def config(self, member=None):
        """The configuration that clients read, here or at the leader."""
        with (member or self.settle()).client() as session:
            error, body = session.call(p.GET_DATA, p.path_watch_body(CONFIG_NODE))
            check_equal(error, 0, "getData")
            return body.buffer().decode()

    def agree(self):
        """Returns the members when every server shows the same."""
        found = {}

        def same():
            with contextlib.suppress(OSError):
                found.update({member.sid: self.config(member) for member in self})
                return len(set(found.values())) == 1
            return False  # An unwanted election, as on an overloaded machine.

        self.settle()
        try:
            wait_until(same, "the same members everywhere", 60)
        except AssertionError as error:
            raise AssertionError(f"{error}: {found}") from error
        check_equal(sids_in(next(iter(found.values()))), sorted(self.members), "members")
        return next(iter(found.values()))

    def __exit__(self, *failure):
        for number, member in enumerate([*self.retired, *self.spares.values()]):
            self.members[-1 - number] = member
        super().__exit__(*failure)


def forget_members(member):
    """Removes the server's file; the next start writes it again, as an operator would."""
    for file in member.base.glob("zoo.cfg*"):
        file.unlink()


def spec_of(member):
    return f"{member.line()};127.0.0.1:{member.port}"


def line_of(member):
    return f"server.{member.sid}={spec_of(member)}"


def reconfig_body(joining=None, leaving=None, members=None, version=-1):
    return p.buffer(joining) + p.buffer(leaving) + p.buffer(members) + p.int64(version)


def version_of(text):
    return int(text.rpartition("version=")[2], 16)


def sids_in(text):
    return sorted(int(sid) for sid in re.findall(r"^server\.(\d+)=", text, re.MULTILINE))


def sids_of(leaving):
    return [int(sid) for sid in leaving.split(",")] if leaving else []


class Writer:
    """A session that creates nodes all the time and records which were acknowledged."""

    def __init__(self, ensemble, at=None):
        """`at`: the only server that it knows."""
        self.client = KazooClient(at.address if at else ensemble.hosts, timeout=30, randomize_hosts=False)
        self.states = []
        self.client.add_listener(self.states.append)
        self.client.start(30)
        self.session = self.client.client_id[0]
        self.client.ensure_path("/written")
        self.client.create("/owned", ephemeral=True)
        self.acknowledged = []
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self._write, daemon=True)
        self.thread.start()

    def _write(self):
        number = 0
        while not self.stopping.is_set():
            path = f"/written/{number:08}"
            with contextlib.suppress(ConnectionLoss):
                try:
                    self.client.create(path)
                except KazooException as error:
                    if not isinstance(error, ConnectionLoss):
                        self.states.append(repr(error))
                        return
                    raise
                self.acknowledged.append(path.rpartition("/")[2])
            number += 1

    def wait_for_more(self):
        """Writes are acknowledged after this moment, too."""
        before = len(self.acknowledged)
        wait_until(lambda: len(self.acknowledged) > before + 20, "writes go on", 60)

    def finish(self, ensemble):
        self.wait_for_more()
        self.stopping.set()
        self.thread.join(60)
        check(not self.thread.is_alive(), "the writer ends")
        check_equal(self.client.client_id[0], self.session, "session")
        bad = [state for state in self.states if state not in (KazooState.CONNECTED, KazooState.SUSPENDED)]
        check_equal(bad, [], "states of the session")
        self.client.sync("/written")
        for member in ensemble:
            with member.client() as session:
                session.call(p.SYNC, p.buffer(b"/written"))
                missing = set(self.acknowledged) - set(session.children("/written"))
                check_equal(missing, set(), f"acknowledged, but missing at {member}")
                check(session.exists("/owned"), "the ephemeral node is there")
        self.client.stop()
        self.client.close()


class Residents:
    """For each server one session with a short timeout, which knows no other server. It must not expire as long as
    its server runs and is a member, whoever leads."""

    def __init__(self, ensemble):
        self.ensemble = ensemble
        self.clients, self.states, self.owners = {}, {}, {}
        self.settle_in()

    def settle_in(self):
        """Every member has one again."""
        for member in self.ensemble:
            if member.sid not in self.clients:
                self._open(member)

    def _open(self, member):
        client = KazooClient(member.address, timeout=RESIDENT_SECONDS,
                             connection_retry={"max_tries": -1, "delay": 0.1, "backoff": 1, "max_delay": 0.3})
        states = []
        client.add_listener(states.append)
        client.start(60)
        client.retry(client.ensure_path, "/residents")
        client.retry(client.create, "/residents/r-", ephemeral=True, sequence=True)
        self.clients[member.sid], self.states[member.sid] = client, states
        self.owners[member.sid] = client.client_id[0]

    def move_out(self, *sids):
        """These servers are about to be killed or removed."""
        for sid in sids:
            if client := self.clients.pop(sid, None):
                client.stop()
                client.close()

    def check_alive(self):
        with self.ensemble.settle().client() as session:
            owners = {stat.ephemeralOwner for _, stat in session.below("/residents").values()}
        for sid, client in self.clients.items():
            check(KazooState.LOST not in self.states[sid], f"the session of server {sid} expired: {self.states[sid]}")
            check_equal(client.client_id[0], self.owners[sid], f"session of server {sid}")
            check(self.owners[sid] in owners, f"the session of server {sid} has its ephemeral node")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.move_out(*list(self.clients))
