# SPDX-License-Identifier: Apache-2.0
#
# The whole tree as one server shows it, and whether two servers show the same: data, every field of Stat and
# every ACL of every node, read over a direct connection.

import time

from harness import NO_NODE, OK, check, check_equal, p, wait_until
from servers import SUPER_AUTH

# Nodes that a server writes by itself: its configuration, which each reads from its own file.
OWN_TO_EACH_SERVER = {"/zookeeper/config"}
SHOWN = 5


def read_everything(member, seconds=60):
    """{path: (data, Stat fields, ACL)} of every node, after everything that was committed before. An election
    without a fault, as on an overloaded machine, is not a failure."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            return _read_once(member)
        except OSError:
            if time.monotonic() > deadline:
                raise
        wait_until(member.mode, f"{member} serves", seconds)


def _read_once(member):
    tree = {}
    with member.client() as session:
        session.connection.call(p.AUTH_XID, p.AUTH, p.auth_body("digest", SUPER_AUTH))
        err, _ = session.call(p.SYNC, p.buffer("/"))
        check_equal(err, OK, f"sync on {member}")
        level = ["/"]
        while level:
            level = _read_level(session, level, tree)
    return tree


def _read_level(session, paths, tree):
    """Reads these nodes, returns their children. A node may go away between two answers: an ephemeral's."""
    below = []
    for op in (p.GET_DATA, p.GET_ACL, p.GET_CHILDREN):
        requests = [(op, p.path_watch_body(path) if op != p.GET_ACL else p.buffer(path)) for path in paths]
        for path, (err, answer) in zip(paths, session.pipeline(requests)):
            if err == NO_NODE:
                tree.pop(path, None)
                continue
            check_equal(err, OK, f"{p.OP_NAMES[op]} {path}")
            if op == p.GET_DATA:
                data = answer.buffer()
                tree[path] = (data, tuple(answer.stat().values()), None)
            elif op == p.GET_ACL and path in tree:
                tree[path] = (*tree[path][:2], tuple(answer.vector(answer.acl)))
            elif op == p.GET_CHILDREN:
                below += [f"{path.rstrip('/')}/{name}" for name in answer.vector(answer.string)]
    return below


def differences(one, other):
    """Lines that say where two trees differ; none when they are the same."""
    lines = []
    for path in sorted(one.keys() | other.keys()):
        if path in OWN_TO_EACH_SERVER or one.get(path) == other.get(path):
            continue
        if path not in one or path not in other:
            lines.append(f"{path}: only on the {'first' if path in one else 'second'}: "
                         f"{one.get(path) or other.get(path)}")
            continue
        for name, mine, theirs in zip(("data", "Stat", "ACL"), one[path], other[path]):
            if mine != theirs:
                lines.append(f"{path}: {name} {_shown(name, mine)} and {_shown(name, theirs)}")
    return lines


def _shown(name, value):
    return p.Stat(*value) if name == "Stat" else repr(value)[:200]


def check_same_everywhere(members):
    """Every member shows the same tree, which is returned."""
    members = list(members)
    first = read_everything(members[0])
    for member in members[1:]:
        found = differences(first, read_everything(member))
        check(not found, f"{members[0]} and {member} differ in {len(found)} places:\n  "
              + "\n  ".join(found[:SHOWN]))
    return first
