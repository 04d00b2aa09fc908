# SPDX-License-Identifier: Apache-2.0
#
# The differences that a random history cannot contain: requests on which a Java server dies, answers nothing, or
# leaves the history that both servers share. Each is sent on purpose, and every server's behaviour is checked:
# drover's because it is a promise, Java's so that this list stays honest.

import re
import socket

import protocol as p
from servers import KINDS, four_letter_word, start_together

DIES = "the server dies"


def neutral_four_letter_word(port, word, names):
    """The answer without what belongs to one process: versions, counters, session ids, hash order."""
    text = re.sub("\ufffd+", "\ufffd", four_letter_word(port, word))
    text = re.sub(r"0x[0-9a-f]{9,}", lambda match: str(names.owner(int(match.group(), 16))), text)
    if word == "srvr":
        text = re.sub(r"(?m)^(Zookeeper version|Latency min/avg/max|Received|Sent): .*$", r"\1", text)
    if word == "wchs":  # Java counts connections whose watches have all fired, until they close.
        text = re.sub(r"^\d+ connections", "connections", text)
    return sorted(text.split("\n")) if word == "wchp" else text


class Client:
    """A session for one scenario; answers are (error name, body, number of events before the reply)."""

    def __init__(self, server, auth=None):
        self.connection = p.Connection(server.port, timeout=3)
        self.connection.handshake(timeout_ms=20000)
        self.xid = 0
        self.zxid = 0
        if auth:
            self.connection.call(p.AUTH_XID, p.AUTH, p.auth_body("digest", auth))

    def call(self, op, body=b""):
        self.xid += 1
        try:
            events, payload = self.connection.call(self.xid, op, body)
        except (socket.timeout, TimeoutError):
            return ("no reply", b"", 0)
        if payload is None:
            return ("closed", b"", len(events))
        _, self.zxid, err = p.reply_header(payload)
        return (p.ERROR_NAMES.get(err, err), payload[16:], len(events))

    def error(self, op, body=b""):
        return self.call(op, body)[0]

    def events(self, op, body=b""):
        return self.call(op, body)[2]


def top_level_check(server):
    return Client(server).error(p.CHECK, p.path_version_body("/zookeeper"))


def negative_ttl_without_ttl_flag(server):
    return Client(server).error(p.CREATE_TTL, p.create_ttl_body("/n", b"", p.OPEN_ACL, p.PERSISTENT, -1))


def quota_on_the_root(server):
    client = Client(server)
    client.error(p.CREATE, p.create_body("/zookeeper/quota/zookeeper_limits", b"count=1,bytes=1"))
    return Client(server).error(p.CREATE, p.create_body("/after_root_quota"))


def usage_that_is_no_number(server):
    client = Client(server)
    for path, data in (("/q", b""), ("/zookeeper/quota/q", b""),
                       ("/zookeeper/quota/q/zookeeper_limits", b"count=5,bytes=5"),
                       ("/zookeeper/quota/q/zookeeper_stats", b"count=0,bytes=0")):
        client.error(p.CREATE, p.create_body(path, data))
    client.error(p.SET_DATA, p.set_data_body("/zookeeper/quota/q/zookeeper_stats", b"junk"))
    client.error(p.CREATE, p.create_body("/q/x"))
    return Client(server).error(p.EXISTS, p.path_watch_body("/q/x"))


def quota_below_a_blank_name(server):
    """3.8.0 skips blank names when it looks for the quota of a path: "/ /s" counts for "/s"."""
    client = Client(server)
    for path, data in (("/s", b""), ("/zookeeper/quota/s", b""),
                       ("/zookeeper/quota/s/zookeeper_limits", b"count=9"),
                       ("/zookeeper/quota/s/zookeeper_stats", b""), ("/ ", b""), ("/ /s", b"4567")):
        client.error(p.CREATE, p.create_body(path, data))
    usage = client.call(p.GET_DATA, p.path_watch_body("/zookeeper/quota/s/zookeeper_stats"))[1]
    return p.Decoder(usage).buffer()


def limits_that_are_no_number(server):
    """Under enforceQuota."""
    client = Client(server)
    for path, data in (("/l", b""), ("/zookeeper/quota/l", b""),
                       ("/zookeeper/quota/l/zookeeper_limits", b"count=x"),
                       ("/zookeeper/quota/l/zookeeper_stats", b"count=0,bytes=0")):
        client.error(p.CREATE, p.create_body(path, data))
    return client.error(p.CREATE, p.create_body("/l/x"))


def _with_zxids_taken(server, op, body):
    client = Client(server)
    client.call(p.SYNC, p.buffer("/"))
    before = client.zxid
    error, answer, _ = client.call(op, body)
    return error, answer, client.zxid - before


def null_path_in_multi(server):
    return _with_zxids_taken(server, p.MULTI, p.multi_body([(p.DELETE, p.path_version_body(None))]))


def create_without_acl_in_multi(server):
    error, _, zxids = _with_zxids_taken(server, p.MULTI, p.multi_body([(p.CREATE2, p.create_body("/n", acl=None))]))
    return error, zxids


def write_that_cannot_be_decoded(server):
    answers = [_with_zxids_taken(server, op, b"junk") for op in
               (p.CREATE, p.CREATE2, p.CREATE_CONTAINER, p.CREATE_TTL, p.DELETE, p.SET_DATA, p.SET_ACL)]
    return {(error, zxids) for error, _, zxids in answers}


def watch_modes_on_one_path(server):
    client = Client(server)
    client.call(p.CREATE, p.create_body("/modes"))
    client.call(p.ADD_WATCH, p.buffer("/modes") + p.int32(0))
    client.call(p.GET_DATA, p.path_watch_body("/modes", True))
    return [client.events(p.SET_DATA, p.set_data_body("/modes", b"1")) for _ in range(3)]


def persistent_watcher_types(server):
    client = Client(server)
    client.call(p.ADD_WATCH, p.buffer("/types") + p.int32(0))
    answers = [client.error(p.CHECK_WATCHES, p.buffer("/types") + p.int32(kind)) for kind in (1, 2, 3, 4, 5)]
    return answers + [client.error(p.REMOVE_WATCHES, p.buffer("/types") + p.int32(4)) for _ in range(2)]


def checking_for_somebody_elses_watch(server):
    one, other = Client(server), Client(server)
    one.call(p.EXISTS, p.path_watch_body("/theirs", True))
    return other.error(p.CHECK_WATCHES, p.buffer("/theirs") + p.int32(3))


def refused_exists_leaves_no_watch(server):
    owner, stranger = Client(server, b"ann:apple"), Client(server)
    owner.call(p.CREATE, p.create_body("/private", b"", [(p.ALL, "auth", "")]))
    refused = stranger.error(p.EXISTS, p.path_watch_body("/private", True))
    owner.call(p.SET_ACL, p.set_acl_body("/private", p.OPEN_ACL))
    owner.call(p.SET_DATA, p.set_data_body("/private", b"x"))
    return refused, stranger.events(p.SYNC, p.buffer("/"))


def delete_container_of_an_empty_container(server):
    client = Client(server)
    client.call(p.CREATE_CONTAINER, p.create_body("/container", b"", p.OPEN_ACL, p.CONTAINER))
    answer = client.error(p.DELETE_CONTAINER, p.buffer("/container"))
    return answer, Client(server).error(p.EXISTS, p.path_watch_body("/container"))


def write_after_close_session(server):
    client = Client(server)
    client.connection.send(p.frame(p.int32(1) + p.int32(p.CLOSE_SESSION)) +
                           p.frame(p.int32(2) + p.int32(p.CREATE) + p.create_body("/too_late")))
    while client.connection.receive() is not None:
        pass
    return Client(server).error(p.EXISTS, p.path_watch_body("/too_late"))


def pipelined_reads_see_no_later_write(server):
    """One session's requests are executed in the order in which they were sent, also when pipelined."""
    client = Client(server)
    client.call(p.CREATE, p.create_body("/fifo"))
    rounds = range(20)
    client.connection.send(b"".join(
        p.frame(p.int32(2 * n) + p.int32(p.SET_DATA) + p.set_data_body("/fifo", b"%d" % n)) +
        p.frame(p.int32(2 * n + 1) + p.int32(p.GET_DATA) + p.path_watch_body("/fifo")) for n in rounds))
    answers = [client.connection.receive() for _ in range(2 * len(rounds))][1::2]
    return [p.Decoder(answer[16:]).buffer() for answer in answers] == [b"%d" % n for n in rounds]


def the_largest_frame_is_accepted_and_one_byte_more_is_not(server):
    answers = []
    for excess in (0, 1):
        client = Client(server)
        room = p.MAX_BUFFER + excess - 8 - len(p.create_body("/large", b""))
        answers.append(client.error(p.CREATE, p.create_body("/large", b"x" * room)))
    return answers


def sasl_without_configuration(server):
    client = Client(server)
    return client.call(p.SASL, p.buffer(b""))[:2], client.error(p.EXISTS, p.path_watch_body("/"))


def wrong_ensemble_name(server):
    """A client with the wrong ensemble name is told to try another server."""
    client = Client(server)
    answers = [client.error(p.AUTH, p.auth_body("ensemble", name)) for name in (b"here", b"", b"elsewhere")]
    return answers


def create_session_from_a_client(server):
    client = Client(server)
    client.connection.request(1, -10, p.int32(30000))
    client.connection.close()
    return Client(server).error(p.EXISTS, p.path_watch_body("/"))


# (scenario, what 3.8.0 does, what drover does, what 3.9 does if that is not what drover does). Those on which a
# server dies get one of their own.
PINS = [
    (top_level_check, "no reply", "UNIMPLEMENTED"),
    (negative_ttl_without_ttl_flag, DIES, "BADARGUMENTS", DIES),
    (quota_on_the_root, DIES, "OK", DIES),
    (usage_that_is_no_number, DIES, "OK", DIES),
    (quota_below_a_blank_name, b"count=2,bytes=4", b"count=1,bytes=0", b"count=2,bytes=4"),
    (limits_that_are_no_number, "MARSHALLINGERROR", "OK", "MARSHALLINGERROR"),
    (null_path_in_multi, ("MARSHALLINGERROR", p.MULTI_END, 0), ("MARSHALLINGERROR", b"", 1)),
    (create_without_acl_in_multi, ("OK", 1), ("MARSHALLINGERROR", 0)),
    (write_that_cannot_be_decoded, {("MARSHALLINGERROR", 1)}, {("MARSHALLINGERROR", 0)}),
    (watch_modes_on_one_path, [1, 0, 0], [1, 1, 1]),
    (persistent_watcher_types,
     ["OK", "OK", "OK", "MARSHALLINGERROR", "MARSHALLINGERROR", "MARSHALLINGERROR", "MARSHALLINGERROR"],
     ["NOWATCHER", "NOWATCHER", "OK", "OK", "NOWATCHER", "OK", "NOWATCHER"]),
    (checking_for_somebody_elses_watch, "OK", "NOWATCHER"),
    (refused_exists_leaves_no_watch, ("OK", 1), ("NOAUTH", 0)),
    (delete_container_of_an_empty_container, ("BADARGUMENTS", "OK"), ("closed", "OK")),
    (wrong_ensemble_name, ["OK", "OK", "closed"], ["OK", "OK", "closed"]),
    (write_after_close_session, "NONODE", "NONODE"),
    (pipelined_reads_see_no_later_write, True, True),
    (the_largest_frame_is_accepted_and_one_byte_more_is_not, ["OK", "closed"], ["OK", "closed"]),
    (create_session_from_a_client, "OK", "OK"),
    (sasl_without_configuration, (("OK", p.buffer(None)), "OK"), (("AUTHFAILED", p.buffer(None)), "closed"),
     (("OK", p.buffer(None)), "OK")),
]
# For all of them: what they look at needs it, and no other scenario does.
PROPERTIES = {
    "zookeeper.enforceQuota": "true",
    "zookeeper.authProvider.1": "org.apache.zookeeper.server.auth.EnsembleAuthenticationProvider",
    "zookeeper.ensembleAuthName": "here,there",
}


def _outcome(scenario, server):
    try:
        return scenario(server)
    except OSError as error:
        server.process.poll()
        return DIES if server.process.returncode is not None else f"{error!r}"


def _observe(kind, scenario, shared, expected):
    if expected != DIES and scenario is not top_level_check:
        return _outcome(scenario, shared)
    with kind() as server:
        outcome = _outcome(scenario, server)
        if expected != DIES or outcome == DIES:
            return outcome
        try:
            server.process.wait(timeout=10)  # It answers the connection's end before it is gone.
            return DIES
        except Exception:  # noqa: BLE001 - a server that lives is the finding
            return outcome


def _expected(kind, old, drover, new=None):
    if kind.release < (3, 9):
        return old
    return drover if kind.name == "drover" or new is None else new


def run_all(names):
    """Every scenario on each of the servers named."""
    passed = failed = 0
    kinds = [KINDS[name] for name in names]
    shared = start_together(*[kind(properties=PROPERTIES) for kind in kinds])
    for scenario, *expectations in PINS:
        for kind, server in zip(kinds, shared):
            expected = _expected(kind, *expectations)
            outcome = _observe(kind, scenario, server, expected)
            if outcome == expected:
                passed += 1
            else:
                failed += 1
                print(f"pinned: {scenario.__name__} on {kind.name}: expected {expected!r}, got {outcome!r}")
    for server in shared:
        server.remove()
    return passed, failed
