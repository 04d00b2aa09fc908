# SPDX-License-Identifier: Apache-2.0
#
# The requests of the differential test, drawn from a seed, most of them plausible, some of them absurd.
# The path alphabet is tiny, so that nodes exist, collide and get deleted all the time.
#
# Requests on which Java is known to die, or to leave the common history, are not drawn; pinned.py sends each of
# them on purpose. Where only 3.8.0 does, they are drawn for newer servers (`is_3_9`).

import re
import struct

import protocol as p
from model import digest_id
from odd_values import NAMES, ODD_ACLS, ODD_PATHS, QUOTA_TEXTS, UNKNOWN_OPS, USERS

MANGLED_OPS = (
    p.CREATE, p.DELETE, p.EXISTS, p.GET_DATA, p.SET_DATA, p.GET_ACL, p.SET_ACL, p.GET_CHILDREN, p.SYNC,
    p.GET_CHILDREN2, p.CREATE2, p.CREATE_CONTAINER, p.CREATE_TTL, p.GET_EPHEMERALS, p.SET_WATCHES,
    p.GET_ALL_CHILDREN_NUMBER, p.SET_WATCHES2,
)


MANGLED_WRITES = (p.CREATE, p.DELETE, p.SET_DATA, p.SET_ACL, p.CREATE2, p.CREATE_CONTAINER, p.CREATE_TTL)


class Request:
    """One request and what it would mean for the model. `alone` requests are never pipelined with others:
    auth is answered outside the pipeline, and an unknown op ends the connection."""

    __slots__ = ("op", "body", "text", "effects", "alone", "xid", "sub_ops", "path", "watch")

    def __init__(self, op, body=b"", text="", effects=(), alone=False, xid=None, sub_ops=None, path=None,
                 watch=False):
        self.op, self.body, self.text = op, body, text
        self.effects, self.alone, self.xid, self.sub_ops = effects, alone, xid, sub_ops
        self.path, self.watch = path, watch

    def ends_burst(self):
        """A change of ACLs decides who gets later events; a watch by exists may be refused by 3.9 only; and
        when 3.8.0 fails on a multi half-way with an exception, requests in flight behind it still see its
        first half, or not, as the threads happen to run."""
        return (self.alone or self.op == p.SET_ACL or (self.op == p.EXISTS and self.watch)
                or any(part.throws_in_multi() for part in self.sub_ops or ()))

    def throws_in_multi(self):
        if self.op not in (p.CREATE, p.CREATE2, p.CREATE_CONTAINER, p.CREATE_TTL):
            return False
        null_id = any(scheme is not None and name is None for _, scheme, name in self.effects[0][1] or ())
        return null_id or (self.op != p.CREATE_TTL and self.body[-4:] in (p.int32(5), p.int32(6)))

    def describe(self):
        name = p.OP_NAMES.get(self.op, f"op {self.op}")
        return f"{name} {self.text}".strip() + f"  [body {len(self.body)} bytes: {self.body[:200].hex()}]"


class Workload:
    def __init__(self, rng, model, clients, is_3_9):
        self.rng, self.model, self.clients, self.is_3_9 = rng, model, clients, is_3_9
        self.watched = []  # Paths with watches, of whichever client: writes there make events.
        self._makers = [
            (100, self.create), (70, self.delete), (40, self.exists), (40, self.get_data),
            (60, self.set_data), (25, self.get_acl), (25, self.set_acl), (30, self.get_children),
            (30, self.get_children2), (10, self.sync), (8, self.ping), (60, self.multi),
            (25, self.multi_read), (20, self.set_watches), (30, self.add_watch), (12, self.check_watches),
            (12, self.remove_watches), (12, self.get_ephemerals), (12, self.get_all_children_number),
            (8, self.who_am_i), (12, self.mangled), (3, self.reconfig), (14, self.quota), (3, self.unknown_op),
        ] + ([(3, self.delete_container)] if is_3_9 else [])
        self._weights = [weight for weight, _ in self._makers]

    def next_request(self, client):
        make = self.rng.choices(self._makers, self._weights)[0][1]
        return make(client)

    # Ingredients.

    def one_in(self, n):
        return self.rng.randrange(n) == 0

    def existing(self):
        return self.rng.choice(list(self.model.nodes))

    def path(self, odd=30):
        """A path for any purpose: mostly one that exists or nearly does."""
        if self.one_in(odd):
            return self.rng.choice(ODD_PATHS)
        draw = self.rng.random()
        if draw < 0.4 and self.watched:
            return self.rng.choice(self.watched[-12:])
        if draw < 0.8:
            return self.existing()
        return self.new_path()

    def new_path(self):
        parent = self.existing()
        for _ in range(4):
            if parent.count("/") < 3 and not parent.startswith("/zookeeper") and len(parent) < 64:
                break
            parent = self.existing()
        else:
            parent = "/"
        return parent.rstrip("/") + "/" + self.rng.choice(NAMES)

    def data(self):
        draw = self.rng.random()
        if draw < 0.08:
            return None
        if draw < 0.2:
            return b""
        if draw < 0.97:
            return self.rng.randbytes(self.rng.randrange(1, 40))
        return self.rng.randbytes(self.rng.choice([1000, 4096, 70000]))

    def acl(self):
        rng = self.rng
        if rng.random() < 0.72:
            return p.OPEN_ACL
        if self.one_in(4):
            return rng.choice(ODD_ACLS)
        entries = []
        for _ in range(rng.choice([1, 1, 2, 3])):
            perms = rng.choice([p.ALL, p.ALL, p.READ, p.READ | p.WRITE, p.ADMIN, 0, -1, 1 << 20,
                                p.CREATE_PERM | p.DELETE_PERM, rng.randrange(32)])
            entries.append(self._acl_entry(perms))
        if rng.random() < 0.4:  # Keep the tree usable for others.
            entries.append((rng.choice([p.ALL, p.READ | p.CREATE_PERM]), "world", "anyone"))
        return entries

    def _acl_entry(self, perms):
        kind = self.rng.randrange(5)
        if kind == 0:
            return (perms, "world", "anyone")
        if kind == 1:
            return (perms, "auth", self.rng.choice(["", "ignored"]))
        if kind == 2:
            addresses = ["127.0.0.1", "127.0.0.0/8", "10.0.0.1", "0.0.0.0/0", "1.2.3.4/24"]
            return (perms, "ip", self.rng.choice(addresses))
        if kind == 3:
            return (perms, "digest", self.rng.choice([":p", "a:b:", "u:p"]))
        return (perms, "digest", digest_id(self.rng.choice(USERS)))

    def version(self, right):
        return self.rng.choice([-1, -1, -1, right, right, right, right + 1, 0, -2, 2**31 - 1, -2**31])

    def node_version(self, path):
        node = self.model.nodes.get(path)
        return node.version if node else 0

    def watch(self, client):
        return client.watch_mode == "standard" and self.rng.random() < 0.6

    def _remember_watch(self, client, path):
        client.watched.append(path)
        if isinstance(path, str) and path not in ODD_PATHS:
            self.watched.append(path)

    # Requests, one method per kind.

    def _create_arguments(self):
        flags = self.rng.choice([0, 0, 0, 0, 0, 0, 1, 1, 1, 2, 3])
        path = self.new_path() if self.rng.random() < 0.75 else self.path(odd=5)
        if flags in (2, 3) and self.one_in(3) and isinstance(path, str):
            path = path.rsplit("/", 1)[0] + "/"  # A sequence number may be the whole name.
        return path, self.data(), self.acl(), flags

    def create(self, client, inside_multi=False):
        op = self.rng.choice([p.CREATE, p.CREATE, p.CREATE2, p.CREATE2, p.CREATE_CONTAINER, p.CREATE_TTL])
        path, data, acl, flags = self._create_arguments()
        if inside_multi and acl is None and not self.is_3_9:
            acl = []  # pinned: create without a list of ACLs in a multi.
        data = self._readable_quota(path, data)
        if inside_multi and path is None:
            path = "/a"  # pinned: multi with a null path.
        if self._is_quota_of_root(path):
            path = "/a"
        if op == p.CREATE_CONTAINER:
            flags = 4 if inside_multi else self.rng.choice([4, 4, 4, flags])
        elif op == p.CREATE_TTL:
            flags = self.rng.choice([5, 5, 6, flags if self.one_in(4) else 5])
        elif self.one_in(15):
            flags = self.rng.choice([4, 5, 6])
        if self.one_in(40):
            flags = self.rng.choice([-1, 7, 8, 100, -2**31, 2**31 - 1])
            if inside_multi and op == p.CREATE_CONTAINER:
                op = p.CREATE
        body = p.create_body(path, data, acl, flags)
        if op == p.CREATE_TTL:
            body += p.int64(self._ttl(flags))
        ephemeral = flags in (1, 3) and (inside_multi or op in (p.CREATE, p.CREATE2))
        return Request(op, body, f"path={path!r} flags={flags} acl={acl}", [("create", acl, ephemeral)])

    def _ttl(self, flags):
        ttl = self.rng.choice([10**9, 10**9, 1 << 39, 0xFFFFFFFFFF, 0x10000000000, 0, -1, -2**63])
        if flags not in (5, 6) and ttl < 0:
            return 0  # pinned: a negative TTL on a node without one.
        return ttl

    def _readable_quota(self, path, data):
        """pinned: limits and usage that are not numbers."""
        is_quota = isinstance(path, str) and path.endswith(("zookeeper_stats", "zookeeper_limits"))
        return self.rng.choice(QUOTA_TEXTS) if is_quota else data

    @staticmethod
    def _is_quota_of_root(path):
        return path == "/zookeeper/quota/zookeeper_limits"

    def delete(self, client):
        path = self.path()
        if isinstance(path, str) and self.model.has_children(path) and self.rng.random() < 0.7:
            path = self.path()
        version = self.version(self.node_version(path))
        return Request(p.DELETE, p.path_version_body(path, version), f"path={path!r} version={version}",
                       [("delete", path)])

    def set_data(self, client):
        path = self.path()
        data = self._readable_quota(path, self.data())
        version = self.version(self.node_version(path))
        size = None if data is None else len(data)
        return Request(p.SET_DATA, p.set_data_body(path, data, version),
                       f"path={path!r} size={size} version={version}", [("setData", path)])

    def set_acl(self, client):
        path, acl = self.path(), self.acl()
        if path in ("/", "/zookeeper", "/zookeeper/quota") and not self.one_in(10):
            path = self.new_path()
        node = self.model.nodes.get(path)
        version = self.version(node.aversion if node else 0)
        return Request(p.SET_ACL, p.set_acl_body(path, acl, version),
                       f"path={path!r} version={version} acl={acl}", [("setACL", path, acl)])

    def _read(self, client, op):
        path, watch = self.path(), self.watch(client)
        if watch:
            self._remember_watch(client, path)
        return Request(op, p.path_watch_body(path, watch), f"path={path!r} watch={watch}", path=path,
                       watch=watch)

    def exists(self, client):
        return self._read(client, p.EXISTS)

    def get_data(self, client):
        return self._read(client, p.GET_DATA)

    def get_children(self, client):
        return self._read(client, p.GET_CHILDREN)

    def get_children2(self, client):
        return self._read(client, p.GET_CHILDREN2)

    def _path_only(self, op):
        path = self.path(odd=8)
        return Request(op, p.buffer(path), f"path={path!r}")

    def get_acl(self, client):
        return self._path_only(p.GET_ACL)

    def sync(self, client):
        return self._path_only(p.SYNC)

    def get_ephemerals(self, client):
        return self._path_only(p.GET_EPHEMERALS)

    def get_all_children_number(self, client):
        return self._path_only(p.GET_ALL_CHILDREN_NUMBER)

    def ping(self, client):
        return Request(p.PING, xid=self.rng.choice([p.PING_XID, p.PING_XID, None]))

    def who_am_i(self, client):
        return Request(p.WHO_AM_I)

    def check(self, client):
        path = self.path(odd=20) or "/a"
        version = self.version(self.node_version(path))
        return Request(p.CHECK, p.path_version_body(path, version), f"path={path!r} version={version}")

    def multi(self, client):
        parts = []
        for _ in range(self.rng.choice([0, 1, 2, 2, 3, 3, 4, 6])):
            make = self.rng.choices([self.create, self.delete, self.set_data, self.check], [5, 2, 3, 2])[0]
            part = make(client, True) if make == self.create else make(client)
            if part.body[:4] == b"\xff\xff\xff\xff":
                continue  # pinned: multi with a null path.
            parts.append(part)
        body = p.multi_body([(part.op, part.body) for part in parts])
        broken = self.one_in(25)
        if broken:
            body = self._break_multi(parts, body)
        effects = [("multi", [part.effects[0] if part.effects else None for part in parts])]
        text = self._describe(parts) + (" BROKEN" if broken else "")
        return Request(p.MULTI, body, text, [] if broken else effects, sub_ops=parts)

    @staticmethod
    def _describe(parts):
        return "; ".join(f"{p.OP_NAMES[part.op]} {part.text}" for part in parts)

    def _break_multi(self, parts, body):
        operations = [(part.op, part.body) for part in parts]
        how = self.rng.randrange(6)
        if how == 0:
            return p.multi_body(operations, end=b"")
        if how == 1:
            return body[:self.rng.randrange(len(body))]
        if how == 2:
            wrong = self.rng.choice([0, 3, 6, 7, 9, 11, 12, 14, 16, 20, 22, 99, -1, -5, -11, 100])
            return p.multi_body([*operations, (wrong, p.buffer("/a") + p.int32(-1))])
        if how == 3:
            read_and_write = [(p.CREATE, p.create_body("/a")), (p.GET_DATA, p.path_watch_body("/a"))]
            return p.multi_body([*operations, *read_and_write])
        if how == 4:
            return p.multi_body([(p.MULTI, p.MULTI_END)])
        return struct.pack(">ibi", -1, 0, -1) + body

    def multi_read(self, client):
        parts = []
        for _ in range(self.rng.choice([0, 1, 2, 3, 5])):
            op = self.rng.choice([p.GET_DATA, p.GET_CHILDREN])
            path = self.path() or "/a"
            parts.append(Request(op, p.path_watch_body(path, self.one_in(2)), f"path={path!r}"))
        extra = []
        if self.one_in(15):
            wrong = self.rng.choice([p.EXISTS, p.GET_CHILDREN2, p.CREATE2, 99])
            extra = [(wrong, p.create_body("/a") if wrong == p.CREATE2 else p.path_watch_body("/a"))]
            if not parts:
                extra = [(99, b"")]
        body = p.multi_body([(part.op, part.body) for part in parts] + extra)
        text = self._describe(parts) + (" BROKEN" if extra else "")
        return Request(p.MULTI_READ, body, text)

    def _paths(self, most=4):
        return [self.path() or "/a" for _ in range(self.rng.randrange(most))]

    def set_watches(self, client):
        newest = max((node.mzxid for node in self.model.nodes.values()), default=0)
        zxid = self.rng.choice([0, newest, newest - 1, newest // 2, 2**60, -5])
        lists = [self._paths() if client.watch_mode == "standard" else [] for _ in range(3)]
        if self.one_in(4) or client.watch_mode != "standard":
            persistent = self._paths() if client.watch_mode == "persistent" else []
            recursive = self._paths() if client.watch_mode == "recursive" else []
            lists += [persistent, recursive]
        if self.one_in(20):
            lists[0] = self.rng.choice([None, [None]])  # Neither server can do anything with these.
        body = p.int64(zxid) + b"".join(p.vector(paths, p.buffer) for paths in lists)
        for path in sum(filter(None, lists), []):
            self._remember_watch(client, path)
        op = p.SET_WATCHES if len(lists) == 3 else p.SET_WATCHES2
        return Request(op, body, f"zxid={zxid} lists={lists}", xid=self.rng.choice([None, p.SET_WATCHES_XID]))

    def add_watch(self, client):
        modes = {"standard": [-1, 2, 7], "persistent": [0], "recursive": [1]}[client.watch_mode]
        if client.watch_mode == "standard" and not self.one_in(4):
            return self.exists(client)
        path, mode = self.path(), self.rng.choice(modes)
        if mode == 1 and isinstance(path, str) and self.one_in(2):
            path = path[:path.find("/", 1)] if path.count("/") > 1 else "/"  # High up it sees much.
        if path is None and mode in (0, 1):
            path = "/a"
        self._remember_watch(client, path)
        return Request(p.ADD_WATCH, p.buffer(path) + p.int32(mode), f"path={path!r} mode={mode}")

    def _watches(self, client, op):
        # With persistent watches only "any" (3) means the same in 3.8 and 3.9; without them all types do,
        # except for 4 and 5, which a rule explains.
        kinds = [1, 2, 3, 3, 0, -1, 6, 4, 5] if client.watch_mode == "standard" else [3]
        path, kind = self.path(), self.rng.choice(kinds)
        if client.watched and not self.one_in(3):
            path = self.rng.choice(client.watched[-6:])
        if kind in (4, 5) and path is None:
            path = "/a"
        return Request(op, p.buffer(path) + p.int32(kind), f"path={path!r} type={kind}", path=path)

    def check_watches(self, client):
        """3.8.0 answers OK for a watch of anybody at that path, so nobody else may have one (pinned). And
        while a recursive watch exists anywhere, it cannot check an invalid path."""
        request = self._watches(client, p.CHECK_WATCHES)
        others = any(request.path in other.watched for other in self.clients if other is not client)
        if not self.is_3_9 and (others or request.path in ODD_PATHS):
            request.op = p.REMOVE_WATCHES
        return request

    def remove_watches(self, client):
        return self._watches(client, p.REMOVE_WATCHES)

    def mangled(self, client):
        """A valid request cut short, with garbage behind it, or with one length field replaced."""
        for _ in range(20):
            request = self.next_request(client)
            if request.op in MANGLED_OPS:
                break
        how = self.rng.randrange(3)
        # pinned: 3.8.0 takes a zxid for a write that it cannot decode.
        if how == 0 or (request.op in MANGLED_WRITES and not self.is_3_9):
            return Request(request.op, request.body + b"garbage", request.text + " + trailing bytes",
                           request.effects, path=request.path, watch=request.watch)
        if how == 1 and request.body:
            at = self.rng.randrange(len(request.body))
            if request.op in (p.SET_WATCHES, p.SET_WATCHES2):
                at = min(at, 11)  # Cut before the lists: a cut inside would depend on events already sent.
            return Request(request.op, request.body[:at], request.text + f" cut at {at}")
        length = self.rng.choice([-2, -2**31, 2**31 - 1, 2**30, p.MAX_BUFFER * 2 + 1])
        start = 8 if request.op in (p.SET_WATCHES, p.SET_WATCHES2) else 0
        if start and length < -1:
            length = 2**30  # A negative count is an empty list, and shifts the rest.
        body = request.body[:start] + p.int32(length) + request.body[start + 4:]
        return Request(request.op, body, request.text + f" with length {length}")

    def reconfig(self, client):
        body = p.buffer(self.rng.choice([None, "server.1=127.0.0.1:1:2"])) + p.buffer(None) + p.buffer(None)
        body += p.int64(-1)
        return Request(p.RECONFIG, b"" if self.one_in(4) else body)

    def delete_container(self, client):
        """Ends the connection, whatever the path. pinned: what 3.8.0 does."""
        path = self.path(odd=3)
        return Request(p.DELETE_CONTAINER, p.buffer(path), f"path={path!r}", alone=True)

    def quota(self, client):
        base = "/zookeeper/quota"
        targets = [path for path in self.model.nodes
                   if re.fullmatch(r"(/[a-z0-9]+){1,2}", path) and not path.startswith("/zookeeper")]
        target = self.rng.choice(targets or ["/a"])
        parts = [base + target[:end] for end in range(1, len(target) + 1)
                 if end == len(target) or target[end] == "/"]
        missing = [path for path in parts if path not in self.model.nodes]
        leaf = parts[-1] + self.rng.choice(["/zookeeper_limits", "/zookeeper_stats"])
        if missing:
            return self._plain_create(missing[0], b"")
        if leaf not in self.model.nodes:
            return self._plain_create(leaf, self.rng.choice(QUOTA_TEXTS))
        if self.one_in(3):
            return Request(p.DELETE, p.path_version_body(leaf), f"path={leaf!r}", [("delete", leaf)])
        return Request(p.GET_DATA, p.path_watch_body(leaf), f"path={leaf!r}")

    def _plain_create(self, path, data):
        return Request(p.CREATE, p.create_body(path, data), f"path={path!r} data={data!r}",
                       [("create", p.OPEN_ACL, False)])

    def unknown_op(self, client):
        op = self.rng.choice(UNKNOWN_OPS)
        return Request(op, self.rng.randbytes(self.rng.randrange(12)), alone=True)

    def auth(self, client):
        good = self.rng.random() < 0.9
        if good:
            scheme = "digest"
            auth = self.rng.choice([*USERS, *USERS, b"super:admin", b"super:wrong", b"", b"nocolon", b":",
                                    b"a:b:c"])
        else:
            scheme = self.rng.choice([None, "", "world", "ip", "super", "sasl", "x509", "auth", "DIGEST"])
            auth = self.rng.choice([None, b"", b"x:y", b"anyone"])
        return Request(p.AUTH, p.auth_body(scheme, auth, self.rng.choice([0, 0, 7])), f"{scheme!r} {auth!r}",
                       [("auth", auth)] if scheme == "digest" and auth is not None else [], alone=True,
                       xid=self.rng.choice([p.AUTH_XID, None]))  # None: an ordinary one, as Go's client has it.
