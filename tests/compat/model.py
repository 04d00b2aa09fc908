# SPDX-License-Identifier: Apache-2.0
#
# The differential test's own model of the tree: which nodes exist, who may read them, and which
# watch events a write could cause. It follows from requests and from the replies both servers gave.
#
# It is needed for three things. The generator wants paths that exist, versions that match and sessions with
# ephemerals, or most requests would only meet NONODE. 3.9 puts into an event the zxid of its cause, which
# 3.8.0 does not say. And 3.9 refuses exists on a node that one may not read, where 3.8.0 answers.

import base64
import dataclasses
import hashlib

import protocol as p


def digest_id(user_and_password):
    user = user_and_password.split(b":", 1)[0]
    digest = base64.b64encode(hashlib.sha1(user_and_password).digest())
    return (user + b":" + digest).decode()


@dataclasses.dataclass
class Node:
    acl: list
    owner: object = None  # The logical session of an ephemeral node.
    version: int = 0
    aversion: int = 0
    mzxid: int = 0


@dataclasses.dataclass
class PossibleEvent:
    """An event that a watcher of `path` gets, if there is one."""

    zxid: int
    kind: int
    path: str
    unordered: bool = False


class Identity:
    """The auth infos of one connection."""

    def __init__(self):
        self.digests = []
        self.is_super = False

    def add(self, auth):
        identity = digest_id(auth)
        if identity not in self.digests:
            self.digests.append(identity)
        self.is_super = self.is_super or auth == b"super:admin"

    def may_read(self, acl):
        return self.is_super or not acl or any(
            perms & p.READ and self._matches(scheme, name) for perms, scheme, name in acl)

    def _matches(self, scheme, name):
        if scheme == "world":
            return True
        if scheme == "digest":
            return name in self.digests
        return scheme == "ip" and name in ("127.0.0.1", "127.0.0.1/32", "127.0.0.0/8", "0.0.0.0/0")


def parent_of(path):
    return path.rsplit("/", 1)[0] or "/"


class Model:
    def __init__(self):
        self.nodes = {
            "/": Node(p.OPEN_ACL),
            "/zookeeper": Node(p.OPEN_ACL),
            "/zookeeper/quota": Node(p.OPEN_ACL),
            "/zookeeper/config": Node([(p.READ, "world", "anyone")], aversion=-1),
        }

    def ephemerals_of(self, session):
        return [path for path, node in self.nodes.items() if session is not None and node.owner == session]

    def has_children(self, path):
        prefix = path.rstrip("/") + "/"
        return any(other.startswith(prefix) for other in self.nodes if other != path)

    def create(self, path, acl, owner, identity, zxid):
        self.nodes[path] = Node(self._expand(acl, identity), owner, mzxid=zxid)
        return [PossibleEvent(zxid, 1, path), PossibleEvent(zxid, 4, parent_of(path))]

    def delete(self, path, zxid, unordered=False):
        if self.nodes.pop(path, None) is None:
            return []
        return [PossibleEvent(zxid, 2, path, unordered), PossibleEvent(zxid, 4, parent_of(path), unordered)]

    def set_data(self, path, zxid):
        node = self.nodes.get(path)
        if node is None:
            return []
        node.version += 1
        node.mzxid = zxid
        return [PossibleEvent(zxid, 3, path)]

    def set_acl(self, path, acl, identity):
        node = self.nodes.get(path)
        if node is not None:
            node.acl = self._expand(acl, identity)
            node.aversion += 1

    def close_session(self, session, zxid):
        # The servers walk a hash set here, so nobody may rely on the order.
        return [event for path in self.ephemerals_of(session)
                for event in self.delete(path, zxid, unordered=True)]

    @staticmethod
    def _expand(acl, identity):
        expanded = []
        for perms, scheme, name in acl:
            if scheme == "auth":
                expanded += [(perms, "digest", digest) for digest in identity.digests]
            else:
                expanded.append((perms, scheme, name))
        return expanded
