# SPDX-License-Identifier: Apache-2.0
#
# A raw encoder of ZooKeeper's client protocol: tests can send any bytes, valid or not, which a client library
# would forbid. Written from the protocol's description, not from drover's sources,
# because a mistake shared by server and test would be invisible.

import contextlib
import socket
import struct

# Op codes.
CREATE, DELETE, EXISTS, GET_DATA, SET_DATA, GET_ACL, SET_ACL = 1, 2, 3, 4, 5, 6, 7
GET_CHILDREN, SYNC, PING, GET_CHILDREN2, CHECK, MULTI, CREATE2 = 8, 9, 11, 12, 13, 14, 15
RECONFIG, CHECK_WATCHES, REMOVE_WATCHES, CREATE_CONTAINER = 16, 17, 18, 19
DELETE_CONTAINER, CREATE_TTL, MULTI_READ = 20, 21, 22
AUTH, SET_WATCHES, SASL, GET_EPHEMERALS, GET_ALL_CHILDREN_NUMBER = 100, 101, 102, 103, 104
SET_WATCHES2, ADD_WATCH, WHO_AM_I, CLOSE_SESSION = 105, 106, 107, -11

OP_NAMES = {
    CREATE: "create", DELETE: "delete", EXISTS: "exists", GET_DATA: "getData", SET_DATA: "setData",
    GET_ACL: "getACL", SET_ACL: "setACL", GET_CHILDREN: "getChildren", SYNC: "sync", PING: "ping",
    GET_CHILDREN2: "getChildren2", CHECK: "check", MULTI: "multi", CREATE2: "create2", RECONFIG: "reconfig",
    CHECK_WATCHES: "checkWatches", REMOVE_WATCHES: "removeWatches", CREATE_CONTAINER: "createContainer",
    DELETE_CONTAINER: "deleteContainer", CREATE_TTL: "createTTL", MULTI_READ: "multiRead", AUTH: "auth",
    SET_WATCHES: "setWatches", SASL: "sasl", GET_EPHEMERALS: "getEphemerals",
    GET_ALL_CHILDREN_NUMBER: "getAllChildrenNumber", SET_WATCHES2: "setWatches2", ADD_WATCH: "addWatch",
    WHO_AM_I: "whoAmI", CLOSE_SESSION: "closeSession",
}

ERROR_NAMES = {
    0: "OK", -1: "SYSTEMERROR", -2: "RUNTIMEINCONSISTENCY", -5: "MARSHALLINGERROR", -6: "UNIMPLEMENTED",
    -8: "BADARGUMENTS", -101: "NONODE", -102: "NOAUTH", -103: "BADVERSION", -108: "NOCHILDRENFOREPHEMERALS",
    -110: "NODEEXISTS", -111: "NOTEMPTY", -112: "SESSIONEXPIRED", -114: "INVALIDACL", -115: "AUTHFAILED",
    -118: "SESSIONMOVED", -119: "NOTREADONLY", -121: "NOWATCHER", -123: "RECONFIGDISABLED",
    -124: "SESSIONCLOSEDREQUIRESASLAUTH", -125: "QUOTAEXCEEDED", -127: "THROTTLEDOP",
}

EVENT_XID, PING_XID, AUTH_XID, SET_WATCHES_XID = -1, -2, -4, -8
EVENT_NAMES = {1: "NodeCreated", 2: "NodeDeleted", 3: "NodeDataChanged", 4: "NodeChildrenChanged"}

PERSISTENT, EPHEMERAL, SEQUENTIAL, EPHEMERAL_SEQUENTIAL, CONTAINER, TTL, TTL_SEQUENTIAL = range(7)
READ, WRITE, CREATE_PERM, DELETE_PERM, ADMIN, ALL = 1, 2, 4, 8, 16, 31
OPEN_ACL = [(ALL, "world", "anyone")]
MULTI_END = struct.pack(">ibi", -1, 1, -1)
MAX_BUFFER = 0xFFFFF


def int32(value):
    return struct.pack(">i", value)


def int64(value):
    return struct.pack(">q", value)


def boolean(value):
    return b"\x01" if value else b"\x00"


def buffer(value):
    """A string or byte buffer; None is the null that jute tells apart from the empty one."""
    if value is None:
        return b"\xff\xff\xff\xff"
    if isinstance(value, str):
        value = value.encode("utf-8", "surrogatepass")
    return struct.pack(">i", len(value)) + value


def vector(values, encode):
    if values is None:
        return b"\xff\xff\xff\xff"
    return struct.pack(">i", len(values)) + b"".join(map(encode, values))


def acl_vector(acl):
    return vector(acl, lambda entry: int32(entry[0]) + buffer(entry[1]) + buffer(entry[2]))


def create_body(path, data=b"", acl=OPEN_ACL, flags=PERSISTENT):
    return buffer(path) + buffer(data) + acl_vector(acl) + int32(flags)


def create_ttl_body(path, data, acl, flags, ttl):
    return create_body(path, data, acl, flags) + int64(ttl)


def path_version_body(path, version=-1):
    return buffer(path) + int32(version)


def path_watch_body(path, watch=False):
    return buffer(path) + boolean(watch)


def set_data_body(path, data, version=-1):
    return buffer(path) + buffer(data) + int32(version)


def set_acl_body(path, acl, version=-1):
    return buffer(path) + acl_vector(acl) + int32(version)


def multi_body(operations, end=MULTI_END):
    """`operations` are (type, body) pairs."""
    return b"".join(struct.pack(">ibi", kind, 0, -1) + body for kind, body in operations) + end


def set_watches_body(zxid, data=(), exist=(), child=(), persistent=None, recursive=None):
    lists = [data, exist, child] + ([persistent, recursive] if persistent is not None else [])
    return int64(zxid) + b"".join(vector(paths, buffer) for paths in lists)


def auth_body(scheme, auth, kind=0):
    return int32(kind) + buffer(scheme) + buffer(auth)


def connect_request(session_id=0, password=b"\0" * 16, timeout_ms=30000, last_zxid=0, read_only=False,
                    old_client=False, version=0):
    record = struct.pack(">iqiq", version, last_zxid, timeout_ms, session_id) + buffer(password)
    return record if old_client else record + boolean(read_only)


def frame(payload):
    return struct.pack(">i", len(payload)) + payload


class Decoder:
    """Reads jute values from the front of `data`; raises struct.error or IndexError when it ends early."""

    def __init__(self, data):
        self.data = data
        self.at = 0

    def _take(self, layout, size):
        value = struct.unpack_from(layout, self.data, self.at)[0]
        self.at += size
        return value

    def int32(self):
        return self._take(">i", 4)

    def int64(self):
        return self._take(">q", 8)

    def boolean(self):
        return self._take(">b", 1) != 0

    def buffer(self):
        length = self.int32()
        if length < 0:
            return None
        if self.at + length > len(self.data):
            raise IndexError("buffer runs past the end")
        value = self.data[self.at:self.at + length]
        self.at += length
        return value

    def string(self):
        value = self.buffer()
        return None if value is None else value.decode("utf-8", "surrogateescape")

    def vector(self, decode):
        return [decode() for _ in range(max(self.int32(), 0))]

    def stat(self):
        return Stat(*self._stat_fields())

    def _stat_fields(self):
        fields = STAT_LAYOUT.unpack_from(self.data, self.at)
        self.at += STAT_LAYOUT.size
        return fields

    def acl(self):
        return (self.int32(), self.string(), self.string())

    def rest(self):
        return self.data[self.at:]

    def at_end(self):
        return self.at == len(self.data)


STAT_LAYOUT = struct.Struct(">qqqqiiiqiiq")


class Stat:
    NAMES = ("czxid", "mzxid", "ctime", "mtime", "version", "cversion", "aversion", "ephemeralOwner",
             "dataLength", "numChildren", "pzxid")
    __slots__ = NAMES

    def __init__(self, *fields):
        for name, value in zip(self.NAMES, fields):
            setattr(self, name, value)

    def values(self):
        return [getattr(self, name) for name in self.NAMES]

    def __repr__(self):
        return "Stat(" + " ".join(f"{name}={getattr(self, name)}" for name in self.NAMES) + ")"


class Connection:
    """One TCP connection. `handshake` makes it a session; before that anything may be sent."""

    def __init__(self, port, timeout=15.0):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.pending = bytearray()
        self.session_id = 0
        self.password = b"\0" * 16
        self.timeout_ms = 0
        self.closed = False

    def handshake(self, **fields):
        return self.greet(frame(connect_request(**fields)))

    def greet(self, request):
        """Returns the ConnectResponse's payload, or None if the server closed instead."""
        self.send(request)
        answer = self.receive()
        if answer is not None:
            decoder = Decoder(answer)
            decoder.int32()
            self.timeout_ms = decoder.int32()
            self.session_id = decoder.int64()
            self.password = decoder.buffer()
        return answer

    def send(self, data):
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.socket.sendall(data)

    def request(self, xid, op, body=b""):
        self.send(frame(struct.pack(">ii", xid, op) + body))

    def receive(self):
        """The next frame's payload; None when the server has closed the connection."""
        while True:
            if len(self.pending) >= 4:
                length = int.from_bytes(self.pending[:4], "big")
                if len(self.pending) >= 4 + length:
                    payload = bytes(self.pending[4:4 + length])
                    del self.pending[:4 + length]
                    return payload
            try:
                chunk = self.socket.recv(262144)
            except ConnectionResetError:
                chunk = b""
            if not chunk:
                self.closed = True
                return None
            self.pending += chunk

    def call(self, xid, op, body=b""):
        """Sends one request, returns (events before the reply, reply payload or None)."""
        self.request(xid, op, body)
        events = []
        while True:
            payload = self.receive()
            if payload is not None and payload[:4] == b"\xff\xff\xff\xff" and xid != EVENT_XID:
                events.append(payload)
                continue
            return events, payload

    def close(self):
        with contextlib.suppress(OSError):
            self.socket.close()
        self.closed = True


def reply_header(payload):
    return struct.unpack_from(">iqi", payload)
