# SPDX-License-Identifier: Apache-2.0
#
# When are two replies equal? Bytes are compared after three things are made neutral: session ids, times, and
# the order of lists that ZooKeeper keeps in hash sets. Beyond that the table RULES names each difference:
# of 3.8.0, which is what Debian has, to 3.9, which drover follows; and of every release to drover. A rule is as
# narrow as its reason, counts how often it was needed, and is explained to users in docs/compatibility.md.

import dataclasses
import re
import struct
import time

import protocol as p


@dataclasses.dataclass
class Rule:
    name: str
    reason: str
    until_3_9: bool = False  # of 3.8.0 only; otherwise of every release to drover
    used: int = 0


RULES = {rule.name: rule for rule in [
    Rule("event-zxid",
         "3.9 puts the zxid of the transaction into a watch event, 3.8.0 always -1 (ZOOKEEPER-4655)",
         until_3_9=True),
    Rule("exists-needs-read-permission",
         "3.8.4 and 3.9.2 refuse exists on a node that the client may not read (ZOOKEEPER-2590)",
         until_3_9=True),
    Rule("create2-in-multi",
         "3.8.2 and 3.9.0 answer a create2 inside a multi with type 15 and a Stat, 3.8.0 with type 1 "
         "(ZOOKEEPER-4026)", until_3_9=True),
    Rule("multi-create-flags",
         "3.9 rejects a multi with an impossible create flag as undecodable, 3.8.0 one element of it",
         until_3_9=True),
    Rule("watcher-types-4-and-5",
         "3.9 knows the watcher types Persistent and PersistentRecursive, 3.8.0 cannot decode them "
         "(ZOOKEEPER-4472)", until_3_9=True),
    Rule("catch-up-needs-read-permission",
         "3.9.6 tells the events that setWatches missed only to who may read the node, 3.8.0 to everybody",
         until_3_9=True),
    Rule("wrong-password-disconnects-nobody",
         "3.8.0 closes a session's connection for anybody who names its id; drover asks for the password"),
    Rule("utf-8-echo",
         "Java writes code points above U+FFFF as two surrogates and counts malformed bytes in a way of its "
         "own; drover writes plain UTF-8"),
    Rule("acl-order",
         "`auth` expands to a hash set of identities, so the order of those ACL entries is open"),
]}


def use(name):
    RULES[name].used += 1


class SessionNames:
    """Maps one server's session ids to names common to both servers."""

    def __init__(self):
        self.names = {}

    def learn(self, session_id, name):
        self.names[session_id] = name

    def owner(self, session_id):
        return 0 if session_id == 0 else self.names.get(session_id, f"unknown {session_id:#x}")


def _time(milliseconds):
    """Times differ between two servers; that they are times of this run does not."""
    if milliseconds == 0:
        return "never"
    return "recently" if abs(milliseconds / 1000 - time.time()) < 600 else f"at {milliseconds}"


def plain_text(value):
    """Equal for strings that differ only in how surrogates and malformed bytes are written."""
    if value is None or value.isascii():
        return value
    text = value.decode("utf-8", "surrogatepass" if b"\xed" in value else "replace")
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return re.sub("\ufffd+", "\ufffd", text).encode()


class ReplyReader:
    """Turns a reply into a tuple that is equal for equal servers."""

    def __init__(self, names):
        self.names = names

    def read(self, op, payload):
        if payload is None:
            return ("connection closed",)
        if len(payload) < 16:
            return ("short reply", payload)
        xid, zxid, err = p.reply_header(payload)
        decoder = p.Decoder(payload)
        decoder.at = 16
        header = (xid, zxid, p.ERROR_NAMES.get(err, err))
        try:
            body = self._body(op, decoder) if err == 0 else ()
        except (struct.error, IndexError):
            return (*header, "undecodable body", payload[16:])
        return (*header, *body, decoder.rest())

    def _body(self, op, d):
        if op in (p.CREATE, p.SYNC):
            return (d.buffer(),)
        if op in (p.CREATE2, p.CREATE_CONTAINER, p.CREATE_TTL):
            return (d.buffer(), self._stat(d))
        if op in (p.EXISTS, p.SET_DATA, p.SET_ACL):
            return (self._stat(d),)
        if op == p.GET_DATA:
            return (d.buffer(), self._stat(d))
        if op == p.GET_ACL:
            return (("acl", tuple(d.vector(d.acl))), self._stat(d))
        if op in (p.GET_CHILDREN, p.GET_EPHEMERALS):
            return (tuple(sorted(d.vector(d.buffer))),)
        if op == p.GET_CHILDREN2:
            return (tuple(sorted(d.vector(d.buffer))), self._stat(d))
        if op == p.WHO_AM_I:
            return (tuple(sorted(d.vector(lambda: (d.buffer(), d.buffer())))),)
        if op in (p.MULTI, p.MULTI_READ):
            return (("results", tuple(self._results(d))),)
        return ()

    def _results(self, d):
        while True:
            kind, done, err = d.int32(), d.boolean(), d.int32()
            if done:
                yield ("end", kind, err)
                return
            if kind == -1:
                yield ("error", p.ERROR_NAMES.get(err, err), d.int32())
            else:
                yield (p.OP_NAMES.get(kind, kind), err, *self._body(kind, d))

    def _stat(self, d):
        stat = d.stat()
        stat.ctime, stat.mtime = _time(stat.ctime), _time(stat.mtime)
        stat.ephemeralOwner = self.names.owner(stat.ephemeralOwner)
        return ("stat", *zip(stat.NAMES, stat.values()))


@dataclasses.dataclass
class Event:
    xid: int
    zxid: int
    err: int
    kind: int
    state: int
    path: bytes
    rest: bytes = b""

    @staticmethod
    def read(payload):
        try:
            xid, zxid, err = p.reply_header(payload)
            d = p.Decoder(payload)
            d.at = 16
            return Event(xid, zxid, err, d.int32(), d.int32(), d.buffer(), d.rest())
        except (struct.error, IndexError):
            return Event(0, 0, 0, 0, 0, b"undecodable", payload)

    def is_one(self):
        return self.kind in p.EVENT_NAMES and self.state == 3 and not self.rest

    def __repr__(self):
        name = p.EVENT_NAMES.get(self.kind, self.kind)
        return f"event {name} {self.path!r} zxid={self.zxid} state={self.state}" + (
            f" err={self.err} rest={self.rest!r}" if self.err or self.rest else "")


class Differences:
    """The rules that hold between two servers. The first is Java's."""

    def __init__(self, java, other):
        newer = java.release < other.release
        foreign = other.name == "drover" and java.name != "drover"
        self.rules = {rule.name for rule in RULES.values() if (newer if rule.until_3_9 else foreign)}

    def has(self, name):
        return name in self.rules

    def explain_reply(self, request, java, other):
        """The answer of the second server that matches the answer `java` of the first. Returns `java` if no rule
        applies, so that any further difference stays a difference."""
        if len(java) < 4 or len(other) < 4:
            return java
        for name, rule in REPLY_RULES.items():
            expected = rule(request, java, other) if self.has(name) else None
            if expected is not None and expected != java:
                use(name)
                return expected
        return java

    def explain_events(self, java_events, other_events, possible):
        """The events that the second server must send where the first sent `java_events`. `possible` are the
        events that the writes since the last comparison could cause, in order."""
        expected = java_events
        if self.has("event-zxid"):
            expected = _with_zxids(java_events, possible)
        if self.has("utf-8-echo"):
            same = [_same_text(event, other) for event, other in zip(expected, other_events)]
            expected = same + expected[len(other_events):]
        return expected


def _create2_in_multi(request, java, other):
    if request.op != p.MULTI or java[2] != "OK":
        return None
    results = list(java[3][1])
    answers = other[3][1] if other[2] == "OK" else ()
    for index, part in enumerate(request.sub_ops or []):
        if part.op == p.CREATE2 and results[index][0] == "create":
            results[index] = ("create2", *results[index][1:], "and a Stat")
            answer = answers[index] if index < len(answers) else ()
            # The Stat itself has no counterpart; a later read of the node compares it.
            if answer[:3] == results[index][:3] and answer[3][1] == ("czxid", java[1]):
                results[index] = answer
    return (*java[:3], ("results", tuple(results)), *java[4:])


def _multi_create_flags(request, java, other):
    def invalid(part):
        # A TTL mode is as wrong as an unknown one for an op without a TTL.
        return part.op in (p.CREATE, p.CREATE2, p.CREATE_CONTAINER) and not (
            0 <= struct.unpack(">i", part.body[-4:])[0] <= 4)

    if request.op == p.MULTI and any(map(invalid, request.sub_ops or [])) and java[2] == "OK":
        return (java[0], java[1], "MARSHALLINGERROR", b"")
    return None


def _watcher_types(request, java, other):
    kind = struct.unpack(">i", request.body[-4:])[0] if len(request.body) >= 4 else 0
    if request.op in (p.CHECK_WATCHES, p.REMOVE_WATCHES) and kind in (4, 5) and java[2] == "MARSHALLINGERROR":
        return (java[0], java[1], "NOWATCHER", b"")
    return None


def _utf_8_echo(request, java, other):
    if request.op == p.SYNC and java[2] == "OK" and plain_text(java[3]) == plain_text(other[3]):
        return (*java[:3], other[3], *java[4:])
    return None


def _acl_order(request, java, other):
    if request.op != p.GET_ACL or java[2] != "OK" or other[2] != "OK":
        return None
    mine, theirs = java[3][1], other[3][1]
    if sum(entry[1] == "digest" for entry in mine) >= 2 and sorted(mine) == sorted(theirs):
        return (*java[:3], ("acl", theirs), *java[4:])
    return None


REPLY_RULES = {
    "multi-create-flags": _multi_create_flags, "create2-in-multi": _create2_in_multi,
    "watcher-types-4-and-5": _watcher_types, "utf-8-echo": _utf_8_echo, "acl-order": _acl_order,
}


def _with_zxids(java_events, possible):
    expected = []
    at = 0
    remaining = list(possible)
    for event in java_events:
        cause = _match(event, remaining, at)
        if cause is None:
            expected.append(event)  # A catch-up event of setWatches: there is no transaction.
            continue
        found = remaining[cause]
        if found.unordered:
            remaining[cause] = dataclasses.replace(found, kind=0)
        else:
            at = cause + 1
        use("event-zxid")
        expected.append(dataclasses.replace(event, zxid=found.zxid))
    return expected


def _same_text(event, other):
    if event.path != other.path and plain_text(event.path) == plain_text(other.path):
        use("utf-8-echo")
        return dataclasses.replace(event, path=other.path)
    return event


def _match(event, possible, at):
    path = event.path.decode("utf-8", "surrogateescape") if event.path is not None else None
    for index in range(len(possible)):
        candidate = possible[index]
        if (candidate.unordered or index >= at) and candidate.kind == event.kind and candidate.path == path:
            return index
    return None
