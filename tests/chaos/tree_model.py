# SPDX-License-Identifier: Apache-2.0
#
# A model of the tree: the expected reply to each write, with every field of Stat. Written from the description
# of the protocol and kept small, because servers are checked against it.

from harness import BAD_VERSION, NO_NODE, NODE_EXISTS, OK, p
from operations import CHILDREN_CHANGED, CREATED, DATA_CHANGED, DELETED

NOT_EMPTY = -111
RUNTIME_INCONSISTENCY = -2


class Node:
    __slots__ = ("data", "czxid", "mzxid", "pzxid", "ctime", "mtime", "version", "creates", "owner",
                 "children")

    def __init__(self, data, zxid, time, owner):
        self.data, self.owner = data, owner
        self.czxid = self.mzxid = self.pzxid = zxid
        self.ctime = self.mtime = time
        self.version = self.creates = 0
        self.children = set()

    def stat(self):
        # The server stores how many children were created, and shows that every one was also deleted except
        # for those that are there.
        cversion = 2 * self.creates - len(self.children)
        return (self.czxid, self.mzxid, self.ctime, self.mtime, self.version, cversion, 0, self.owner,
                len(self.data), len(self.children), self.pzxid)


class Tree:
    """`changes[path]` are the (zxid, event type) that a data watch sees, `child_changes` a child watch."""

    def __init__(self):
        self.nodes = {"": Node(b"", 0, 0, 0)}
        self.changes = {}
        self.child_changes = {}
        self.zxid = self.time = 0

    def apply(self, operation, session, zxid, time):
        """(error, result) as the client must see it."""
        self.zxid, self.time, self.session = zxid, time, session
        if operation.kind == "multi":
            return OK, self._multi(operation)
        err, result, commit = self._judge(operation)
        if err == OK:
            commit()
            result = result()
        return err, result

    def close_session(self, session, zxid):
        self.zxid = zxid
        for path in [path for path, node in self.nodes.items() if node.owner == session]:
            self._remove(path)

    def find(self, path):
        return self.nodes.get("" if path == "/" else path)

    def _judge(self, operation):
        """(error, function for the result, function that does it), nothing done yet."""
        if operation.kind == "create":
            return self._judge_create(operation)
        node = self.find(operation.path)
        if node is None:
            return NO_NODE, None, None
        if operation.version not in (-1, node.version):
            return BAD_VERSION, None, None
        if operation.kind == "set":
            return OK, node.stat, lambda: self._set(operation, node)
        if operation.kind == "check":
            return OK, lambda: None, lambda: None
        if node.children:
            return NOT_EMPTY, None, None
        return OK, lambda: None, lambda: self._remove(operation.path)

    def _judge_create(self, operation):
        parent = self.nodes.get(operation.path.rpartition("/")[0])
        if parent is None:
            return NO_NODE, None, None
        path = operation.path
        if operation.flags in (p.SEQUENTIAL, p.EPHEMERAL_SEQUENTIAL):
            path += f"{parent.creates:010d}"
        if path in self.nodes:
            return NODE_EXISTS, None, None
        owner = self.session if operation.flags in (p.EPHEMERAL, p.EPHEMERAL_SEQUENTIAL) else 0
        return OK, lambda: (path, self.nodes[path].stat()), lambda: self._add(path, operation.data, owner)

    def _add(self, path, data, owner):
        parent_path, _, name = path.rpartition("/")
        parent = self.nodes[parent_path]
        parent.creates += 1
        parent.children.add(name)
        parent.pzxid = self.zxid
        self.nodes[path] = Node(data, self.zxid, self.time, owner)
        self._note(self.changes, path, CREATED)
        self._note(self.child_changes, parent_path or "/", CHILDREN_CHANGED)

    def _set(self, operation, node):
        node.data, node.mzxid, node.mtime = operation.data, self.zxid, self.time
        node.version += 1
        self._note(self.changes, operation.path, DATA_CHANGED)

    def _remove(self, path):
        parent_path, _, name = path.rpartition("/")
        parent = self.nodes[parent_path]
        parent.children.discard(name)
        parent.pzxid = self.zxid
        del self.nodes[path]
        self._note(self.changes, path, DELETED)
        self._note(self.child_changes, parent_path or "/", CHILDREN_CHANGED)

    def _note(self, table, path, event):
        table.setdefault(path, []).append((self.zxid, event))

    def _multi(self, operation):
        """The results of the parts, all or nothing. Judged one after the other on what the earlier ones did,
        so the effects are tried on a copy of the few nodes that they can touch."""
        trial = _Trial(self, operation)
        results = []
        failed = None
        for part in operation.parts:
            if failed is not None:
                results.append((RUNTIME_INCONSISTENCY, None, None))
                continue
            err, result, commit = trial.tree._judge(part)
            if err != OK:
                failed = err
                results = [(OK, None, None)] * len(results) + [(err, None, None)]
                continue
            commit()
            result = result()
            results.append((OK, result[0] if part.kind == "create" else None,
                            result if part.kind == "set" else None))
        if failed is None:
            trial.keep()
        return tuple(results)


class _Trial:
    """A tree with copies of all nodes that a multi may change."""

    def __init__(self, tree, operation):
        self.real = tree
        self.tree = Tree()
        self.tree.zxid, self.tree.time, self.tree.session = tree.zxid, tree.time, tree.session
        paths = {path for part in operation.parts for path in (part.path, part.path.rpartition("/")[0])}
        self.tree.nodes = {path: _copy(tree.nodes[path]) for path in paths if path in tree.nodes}
        self.paths = paths

    def keep(self):
        for path in self.paths:
            if path in self.tree.nodes:
                self.real.nodes[path] = self.tree.nodes[path]
            else:
                self.real.nodes.pop(path, None)
        for mine, theirs in ((self.real.changes, self.tree.changes),
                             (self.real.child_changes, self.tree.child_changes)):
            for path, events in theirs.items():
                mine.setdefault(path, []).extend(events)


def _copy(node):
    copy = Node(node.data, 0, 0, node.owner)
    for name in Node.__slots__:
        setattr(copy, name, getattr(node, name))
    copy.children = set(node.children)
    return copy
