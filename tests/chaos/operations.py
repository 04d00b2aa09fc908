# SPDX-License-Identifier: Apache-2.0
#
# The records of a history: what a client requested, when, and what it got.

from harness import p

PENDING = None  # `err` of a request that never got an answer
SESSION_MOVED = -118
REFUSED = -1    # SystemError: a server whose disk is full does not even propose what would grow

DATA_CHANGED, CREATED, DELETED, CHILDREN_CHANGED = 3, 1, 2, 4


class Operation:
    """One request. `returned`, `zxid`, `err` and `result` are set when its answer comes; `place` is the
    answer's position in what its connection received: the order of answers and events is a promise too."""

    __slots__ = ("session", "connection", "xid", "kind", "path", "data", "version", "flags", "watch", "parts",
                 "change", "called", "returned", "zxid", "err", "result", "place")

    def __init__(self, kind, path="", data=b"", version=-1, flags=p.PERSISTENT, watch=False, parts=(), change=None):
        self.kind, self.path, self.data, self.version = kind, path, data, version
        self.flags, self.watch, self.parts, self.change = flags, watch, parts, change
        self.session = self.connection = self.xid = self.called = None
        self.returned = self.zxid = self.err = self.result = self.place = None

    WRITES = frozenset(("create", "set", "delete", "multi", "reconfig"))
    OPS = {"create": p.CREATE2, "set": p.SET_DATA, "delete": p.DELETE, "multi": p.MULTI, "get": p.GET_DATA,
           "exists": p.EXISTS, "children": p.GET_CHILDREN2, "sync": p.SYNC, "check": p.CHECK,
           "reconfig": p.RECONFIG}

    @property
    def is_write(self):
        return self.kind in self.WRITES

    @property
    def refused(self):
        parts = self.result or () if self.kind == "multi" else ()
        return self.err == REFUSED or any(part[0] == REFUSED for part in parts)

    @property
    def was_decided(self):
        """True if the answer is that of a transaction."""
        return self.is_write and self.err is not PENDING and not self.refused

    @property
    def op(self):
        return self.OPS[self.kind]

    def body(self):
        if self.kind == "create":
            return p.create_body(self.path, self.data, flags=self.flags)
        if self.kind == "set":
            return p.set_data_body(self.path, self.data, self.version)
        if self.kind in ("delete", "check"):
            return p.path_version_body(self.path, self.version)
        if self.kind == "multi":
            # A create in a multi is answered without a Stat, whichever of the two it is.
            return p.multi_body([(p.CREATE if part.kind == "create" else part.op, part.body())
                                 for part in self.parts])
        if self.kind == "sync":
            return p.buffer(self.path)
        if self.kind == "reconfig":
            return b"".join(map(p.buffer, self.change)) + p.int64(self.version)
        return p.path_watch_body(self.path, self.watch)

    def read_answer(self, payload):
        _, self.zxid, self.err = p.reply_header(payload)
        if self.err != 0:
            return
        answer = p.Decoder(payload)
        answer.at = 16
        if self.kind == "create":
            self.result = (answer.string(), tuple(answer.stat().values()))
        elif self.kind in ("set", "exists"):
            self.result = tuple(answer.stat().values())
        elif self.kind in ("get", "reconfig"):
            self.result = (answer.buffer(), tuple(answer.stat().values()))
        elif self.kind == "children":
            self.result = (frozenset(answer.vector(answer.string)), tuple(answer.stat().values()))
        elif self.kind == "multi":
            self.result = tuple(_read_part(answer) for _ in self.parts)

    def __repr__(self):
        request = " ".join(str(part) for part in (self.kind, self.path, self.data[:40], self.version,
                                                  "watch" if self.watch else "", *self.parts, self.change) if part)
        if self.session is None:
            return request
        zxid = None if self.zxid is None else hex(self.zxid)
        return f"<session {self.session:#x} xid {self.xid}: {request} -> {self.err} {self.result} at {zxid}>"


def _read_part(answer):
    """(error, path or None, Stat or None) of one part of a multi."""
    kind, _done, err = answer.int32(), answer.boolean(), answer.int32()
    if kind == -1:
        return (answer.int32(), None, None)
    path = answer.string() if kind in (p.CREATE, p.CREATE2) else None
    stat = tuple(answer.stat().values()) if kind in (p.CREATE2, p.SET_DATA) else None
    return (err, path, stat)


class Event:
    """A watch that fired."""

    __slots__ = ("connection", "place", "zxid", "type", "path")

    def __init__(self, connection, place, payload):
        self.connection, self.place = connection, place
        _, self.zxid, _ = p.reply_header(payload)
        decoder = p.Decoder(payload)
        decoder.at = 16
        self.type, _state, self.path = decoder.int32(), decoder.int32(), decoder.string()

    def __repr__(self):
        return f"<{p.EVENT_NAMES[self.type]} {self.path} at {self.zxid:#x} on connection {self.connection}>"


class History:
    """Everything that all clients did and saw."""

    def __init__(self, operations=(), events=()):
        self.operations = list(operations)
        self.events = list(events)
