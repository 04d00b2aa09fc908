# SPDX-License-Identifier: Apache-2.0
#
# A model of /zookeeper/config: the members of the ensemble, and what a reconfiguration makes of them.

import collections
import re

from harness import BAD_VERSION, OK

CONFIG_NODE = "/zookeeper/config"
NO_QUORUM, IN_PROGRESS = -13, -14
# Whether these are right depends on connections at that moment, which are in no log.
UNPREDICTABLE = frozenset((NO_QUORUM, IN_PROGRESS))

PARTICIPANT, OBSERVER = "participant", "observer"

# A request of an operator: lines that join, sids that leave, or the lines of all members; None if not given.
Change = collections.namedtuple("Change", "joining leaving members", defaults=(None, None, None))


class Members:
    """`specs` are the values of the `server.N` keys by sid. The version is the zxid of the reconfiguration."""

    def __init__(self, specs, version):
        self.specs, self.version = dict(sorted(specs.items())), version

    @classmethod
    def parse(cls, text):
        return cls(_specs(text), int(re.search(r"^version=(\w+)$", text, re.MULTILINE).group(1), 16))

    def __contains__(self, sid):
        return sid in self.specs

    @property
    def sids(self):
        return set(self.specs)

    @property
    def voters(self):
        return {sid for sid, spec in self.specs.items() if f":{PARTICIPANT};" in spec}

    @property
    def lines(self):
        return [f"server.{sid}={spec}" for sid, spec in self.specs.items()]

    @property
    def text(self):
        """The text as a server shows it."""
        return "\n".join([*self.lines, f"version={self.version:x}"])

    def after(self, change, version):
        if change.members is not None:
            return Members(_specs(change.members.replace(",", "\n")), version)
        leaving = {int(sid) for sid in (change.leaving or "").split(",") if sid}
        specs = {sid: spec for sid, spec in self.specs.items() if sid not in leaving}
        return Members({**specs, **_specs((change.joining or "").replace(",", "\n"))}, version)

    def kinds_of_change_to(self, later):
        """The difference, in an operator's words."""
        came, went = later.sids - self.sids, self.sids - later.sids
        stayed = self.sids & later.sids
        kinds = []
        if came:
            kinds.append("replaced" if went else "added")
        elif went:
            kinds.append("removed")
        if (later.voters - self.voters) & stayed:
            kinds.append("promoted")
        if (self.voters - later.voters) & stayed:
            kinds.append("demoted")
        return kinds


class MembersModel:
    """`past` are all memberships in order; the last one is in force."""

    def __init__(self, first):
        self.past = [first]

    @property
    def present(self):
        return self.past[-1]

    def judge(self, op, txn):
        """The reason why this reconfiguration cannot have ended as its transaction says, or None."""
        is_conditional = op.version != -1
        if txn.error == BAD_VERSION:
            return None if is_conditional and op.version != self.present.version else "the version is the present one"
        if txn.error not in UNPREDICTABLE and txn.error != OK:
            return f"decided as error {txn.error}"
        if is_conditional and op.version != self.present.version and txn.error != IN_PROGRESS:
            return f"the version is not {self.present.version:#x}"
        return None

    def apply(self, op, txn):
        """Returns the new text."""
        self.past.append(self.present.after(op.change, txn.zxid))
        return self.present.text


def _specs(lines):
    return {int(sid): spec for sid, spec in re.findall(r"^server\.(\d+)=(.*)$", lines, re.MULTILINE)}
