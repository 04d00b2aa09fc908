# SPDX-License-Identifier: Apache-2.0
#
# Ensembles whose members change while they run. Every line of the configuration has its client port, anybody may
# reconfigure, and further servers can be started that are not members yet.

from ensemble import DROVER, JAVA, OBSERVER, VOTER, Ensemble, Member, write_marker
from harness import check, wait_until

CONFIG = {"reconfigEnabled": "true", "standaloneEnabled": "false"}
PROPERTIES = {"zookeeper.skipACL": "yes"}


class GrowingMember(Member):
    def line(self, quorum_port=None, election_port=None, role=None):
        ports = f"{quorum_port or self.quorum_port}:{election_port or self.election_port}"
        return f"127.0.0.1:{ports}:{role or self.role};127.0.0.1:{self.port}"

    @property
    def text(self):
        """As `reconfig` takes it."""
        return f"server.{self.sid}={self.line()}"


class GrowingEnsemble(Ensemble):
    def __init__(self, kinds, config=None, properties=None):
        self.settings = ({**CONFIG, **(config or {})}, {**PROPERTIES, **(properties or {})})
        self.members, self._said_at_launch = {}, {}
        for sid, kind in enumerate(kinds, 1):
            self.members[sid] = GrowingMember(sid, kind, VOTER, *self.settings)
        self._initial = {f"server.{member.sid}": member.line() for member in self}
        for member in self:
            member.config.update(self._initial)

    def new_server(self, sid, kind=JAVA):
        """A server that is not a member. Its file has the first members and itself, as an observer; so it
        finds the leader and never votes."""
        member = GrowingMember(sid, kind, VOTER, *self.settings)
        member.config.update({**self._initial, f"server.{sid}": member.line(role=OBSERVER)})
        self.members[sid] = member
        return member

    def new_machine(self, sid, kind=JAVA):
        """Another machine for the id of a dead one. Its file has the present members, and its own addresses. Returns
        the dead one."""
        dead, member = self.members[sid], GrowingMember(sid, kind, VOTER, *self.settings)
        self.members[sid] = member
        member.config.update({f"server.{each.sid}": each.line() for each in self})
        self._said_at_launch[sid] = {each.sid: each.said_bytes() for each in self}
        return dead

    def start_new_server(self, sid, kind=JAVA):
        member = self.new_server(sid, kind)
        self._said_at_launch[sid] = {each.sid: each.said_bytes() for each in self}
        member.launch()
        wait_until(lambda: member.mode() is not None, f"{member} serves", 60)
        return member

    def configured(self):
        """The lines of /zookeeper/config by id, as its leader has them."""
        leader = self.settle()
        with leader.client() as session:
            text = session.nodes(["/zookeeper/config"])["/zookeeper/config"][0].decode()
        lines = dict(line.split("=", 1) for line in text.splitlines())
        return {int(key[len("server."):]): line for key, line in lines.items() if key.startswith("server.")}


__all__ = ["DROVER", "JAVA", "GrowingEnsemble", "GrowingMember", "check", "wait_until", "write_marker"]
