#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
#
# The same requests to an ensemble of Apache ZooKeeper 3.8.0, of 3.9 (maven.py) and of drover, on the same ports:
# every wrong `reconfig` that we could think of, right ones, and everything else that clients do with
# /zookeeper/config. The answers are compared: errors, the text of the members, every field of Stat, watch
# events. KNOWN lists the differences, as narrow as their reasons.
#
#   reconfig_errors_test.py --only TEXT
#   reconfig_errors_test.py --show          also prints the answers

import argparse
import functools
import re
import sys

from ensemble import DROVER, JAVA, JAVA39, Member  # First: it makes tests/durability importable.
from harness import check, check_equal, p, wait_until
import maven
from members import CONFIG_NODE, Members, line_of, reconfig_body, spec_of
from rules import Event, ReplyReader, SessionNames
from servers import SUPER_AUTH
from suite import run

SESSION_MS = 60000
USER_AUTH = b"someone:secret"
USER_DIGEST = "someone:1bEEvdxVw2VthaBGHrH2e9EwrXU="
LEADER, FOLLOWER, WATCHER, OBSERVES = 3, 2, 1, 4
LEADER_OF_TWO = 2

# Requests that Java answers in another way: which releases, and why.
SECURE = "drover follows 3.10, which knows a secure client port in the line of a server (ZOOKEEPER-4276)"
KNOWN = {
    "right: only a secure client port": ((JAVA, JAVA39), SECURE),
    "right: both client ports": ((JAVA, JAVA39), SECURE),
    "nobody may ask if it exists": ((JAVA,), "3.8.0 lets everybody (ZOOKEEPER-2590)"),
}

show = False


class Asked(ReplyReader):
    """A reply of `reconfig` has the members and a Stat, as one of getData. Java writes the lines in the order of its
    hash map, which is not that of the ids if an id is not less than the size of its table."""

    def _body(self, op, d):
        body = super()._body(p.GET_DATA if op == p.RECONFIG else op, d)
        if op in (p.RECONFIG, p.GET_DATA):
            return (sorted(body[0].split(b"\n")), *body[1:])
        return body


class Script:
    """Asks one ensemble, and writes down what it answers."""

    def __init__(self, ensemble):
        self.ensemble = ensemble
        self.answers = {}
        self.reader = Asked(SessionNames())
        self.connections, self.xids = {}, {}

    def connection(self, sid, auth=None):
        if (sid, auth) not in self.connections:
            connection = p.Connection(self.ensemble[sid].port, timeout=60)
            check(connection.handshake(timeout_ms=SESSION_MS) and connection.timeout_ms, f"a session at {sid}")
            if auth:
                connection.call(p.AUTH_XID, p.AUTH, p.auth_body("digest", auth))
            self.connections[sid, auth] = connection
        return self.connections[sid, auth]

    def xid(self, connection):
        self.xids[connection] = self.xids.get(connection, 0) + 1
        return self.xids[connection]

    def note(self, what, answer):
        check(what not in self.answers, f"{what!r} is asked twice")
        self.answers[what] = answer

    def ask(self, what, op, body, at=LEADER, auth=SUPER_AUTH):
        connection = self.connection(at, auth)
        _, answer = connection.call(self.xid(connection), op, body)
        self.note(what, self.reader.read(op, answer))

    def reconfig(self, what, at=LEADER, auth=SUPER_AUTH, **change):
        self.ask(what, p.RECONFIG, reconfig_body(**change), at, auth)

    def read(self, what, at=LEADER, auth=None, op=p.GET_DATA):
        """At a server that has seen everything."""
        connection = self.connection(at, auth)
        connection.call(self.xid(connection), p.SYNC, p.buffer("/"))
        self.ask(what, op, p.buffer(CONFIG_NODE) if op == p.GET_ACL else p.path_watch_body(CONFIG_NODE), at, auth)

    def watch(self, at, op):
        connection = self.connection(at, None)
        connection.call(self.xid(connection), op, p.path_watch_body(CONFIG_NODE, True))

    def events(self, what, at):
        """The events since the last request of this session, without zxids: 3.8.0 sends none (ZOOKEEPER-4655), and
        a follower of 3.9 sends the last one that it happens to have applied before."""
        connection = self.connection(at, None)
        found, _ = connection.call(self.xid(connection), p.SYNC, p.buffer("/"))
        more, _ = connection.call(self.xid(connection), p.EXISTS, p.path_watch_body("/"))
        events = [Event.read(event) for event in found + more]
        self.note(what, [(event.kind, event.state, event.path) for event in events])

    def version(self):
        """The version of the present membership."""
        connection = self.connection(LEADER, SUPER_AUTH)
        _, answer = connection.call(self.xid(connection), p.GET_DATA, p.path_watch_body(CONFIG_NODE))
        decoder = p.Decoder(answer)
        decoder.at = 16
        return int(decoder.buffer().decode().rpartition("version=")[2], 16)

    def close(self):
        for connection in self.connections.values():
            connection.close()


FIVE = "server.5=127.0.0.9:2888:3888"
FIVE_OBSERVES = f"{FIVE}:observer;127.0.0.9:2181"
SIX_OBSERVES = "server.6=127.0.0.9:2889:3889:observer;127.0.0.9:2182"
PUBLIC = "192.0.2.5"  # of a network that does not exist; only in requests that are refused


def wrong_requests(full):
    """Invalid requests; each is refused or changes nothing. `full` are the members."""
    version_too = f"{full},version=5"
    return {
        # Leaving.
        "one that leaves is no number": {"leaving": "x"},
        "one that leaves is too large a number": {"leaving": "99999999999999999999"},
        "one that leaves is a name": {"leaving": "server.7"},
        "everybody leaves": {"leaving": "1,2,3,4"},
        "everybody who votes leaves": {"leaving": "1,2,3"},
        "one that leaves is no number, behind one that is known": {"leaving": "1,x"},
        # Joining.
        "joins without a client port": {"joining": f"{FIVE}:observer"},
        "joins with an empty client port": {"joining": f"{FIVE}:observer;"},
        "joins without an election port": {"joining": "server.5=127.0.0.9:2888;2181"},
        "joins without ports": {"joining": "server.5=127.0.0.9;2181"},
        "joins without an address": {"joining": "server.5=;2181"},
        "joins with nothing": {"joining": "server.5="},
        "joins in an unknown role": {"joining": f"{FIVE}:learner;2181"},
        "joins with five parts": {"joining": f"{FIVE}:observer:x;2181"},
        "joins without an id": {"joining": "server.=127.0.0.9:2888:3888:observer;2181"},
        "joins with an id that is no number": {"joining": "server.x=127.0.0.9:2888:3888;2181"},
        "joins with an id that is too large": {"joining": f"server.99999999999999999999{FIVE[8:]};2181"},
        "joins with two =": {"joining": f"{FIVE_OBSERVES}=x"},
        "joins without =": {"joining": "server.5"},
        "joins as a word": {"joining": "nonsense"},
        "joins with blanks": {"joining": "some thing"},
        "joins with a port that is too large": {"joining": "server.5=127.0.0.9:70000:3888;2181"},
        "joins with an election port that is too large": {"joining": "server.5=127.0.0.9:2888:70000;2181"},
        "joins with a client port that is too large": {"joining": f"{FIVE}:observer;70000"},
        "joins with a negative port": {"joining": "server.5=127.0.0.9:-1:3888;2181"},
        "joins with a port that is no number": {"joining": "server.5=127.0.0.9:a:3888;2181"},
        "joins with a port that is no 32-bit number": {"joining": "server.5=127.0.0.9:4294967297:3888;2181"},
        "joins with a client port that is no number": {"joining": f"{FIVE}:observer;abc"},
        "joins with a client port that is no 32-bit number": {"joining": f"{FIVE}:observer;4294967297"},
        "joins with an empty port": {"joining": "server.5=127.0.0.9::3888;2181"},
        "joins with equal ports": {"joining": "server.5=127.0.0.9:2888:2888;2181"},
        "joins with a client address of three parts": {"joining": f"{FIVE}:observer;a:1:2"},
        "joins with a client host only": {"joining": f"{FIVE}:observer;127.0.0.1:"},
        "joins with several addresses": {"joining": f"{FIVE}|127.0.0.8:2888:3888;2181"},
        "joins with a bare IPv6 address": {"joining": "server.5=::1:2888:3888;2181"},
        "joins with half a bracket": {"joining": "server.5=[::1:2888:3888;2181"},
        "joins with brackets and no port": {"joining": "server.5=[::1];2181"},
        "joins behind a newline": {"joining": f"{FIVE_OBSERVES}\n{FIVE_OBSERVES}"},
        "a group joins": {"joining": "group.1=1:2:3"},
        "a version joins": {"joining": "version=5"},
        "a second one joins that is wrong": {"joining": f"{FIVE_OBSERVES},server.6"},
        "leaves wrongly, joins rightly": {"joining": FIVE_OBSERVES, "leaving": "x"},
        "leaves rightly, joins wrongly": {"joining": "server.5", "leaving": "4"},
        "two join with one address": {
            "joining": f"server.5={PUBLIC}:2888:3889:observer;2181,server.6={PUBLIC}:2888:3888:observer;2182"},
        "client port of one is election port of another": {
            "joining": f"server.5={PUBLIC}:2887:3889:observer;{PUBLIC}:3888,"
                       f"server.6={PUBLIC}:2888:3888:observer;2182"},
        "secure client port of one is client port of another": {
            "joining": f"server.5={PUBLIC}:1:2:observer;3;{PUBLIC}:4,server.6={PUBLIC}:5:6:observer;{PUBLIC}:4"},
        # All members.
        "nobody": {"members": ""},
        "only a blank": {"members": " "},
        "only a comment": {"members": "#"},
        "only a comma": {"members": ","},
        "only an observer": {"members": FIVE_OBSERVES},
        "all, and a word": {"members": f"{full},nonsense"},
        "all, and an unknown key": {"members": f"{full},foo=1"},
        "all, and an empty server": {"members": f"{full},server.5="},
        "all, and an id that is no number": {"members": f"{full},server.x=127.0.0.9:1:2"},
        "all, and a port that is no number": {"members": f"{full},server.5=127.0.0.9:a:2"},
        "all, and a port that is too large": {"members": f"{full},server.5=127.0.0.9:70000:2"},
        "all, and a blank before ;": {"members": f"{full},{FIVE}:observer ; x"},
        "all, and a version that is no number": {"members": f"{full},version=zz"},
        "all, and several addresses": {"members": f"{full},{FIVE}|127.0.0.8:2888:3888:observer;2181"},
        "all, and half a \\u": {"members": f"{full},\\u00"},
        # Groups.
        "weights without groups": {"members": f"{full},weight.1=2"},
        "a voter in no group": {"members": f"{full},group.1=1:2"},
        "a voter in two groups": {"members": f"{full},group.1=1:2:3,group.2=3"},
        "a member of a group is no number": {"members": f"{full},group.1=1:2:x"},
        "an empty group": {"members": f"{full},group.1=1:2:3,group.2="},
        "an unknown server in a group": {"members": f"{full},group.1=1:2:3:7"},
        "an observer in a group": {"members": f"{full},group.1=1:2:3:4"},
        "a group that is no number": {"members": f"{full},group.x=3:1:2"},
        "a weight that is no number": {"members": f"{full},group.1=3:1:2,weight.1=x"},
        # A quorum.
        "more join than are there": {"joining": ",".join(
            f"server.{sid}=127.0.0.9:{sid}888:{sid}889;{sid}181" for sid in (5, 6, 7))},
        "others than are there": {"members": f"{FIVE};2181"},
        # Versions.
        "another version": {"leaving": "4", "version": 1},
        "version 0": {"leaving": "4", "version": 0},
        "version -2": {"leaving": "4", "version": -2},
        # Two mistakes: the order of the checks.
        "another version, and a word joins": {"joining": "nonsense", "version": 1},
        "another version, and no quorum": {"members": f"{FIVE};2181", "version": 1},
        "a word joins, and others that make no quorum": {
            "joining": f"{FIVE};2181,server.6=127.0.0.9:1:2;3,server.7=127.0.0.9:4:5;6,nonsense"},
        "another version, and all": {"members": version_too, "version": 7},
    }


def right_requests(ensemble, full):
    """Each is made, one after the other."""
    three = ensemble[LEADER]
    return {
        "nothing at all": {},
        "empty strings": {"joining": "", "leaving": ""},
        "only commas": {"joining": ",,", "leaving": " , "},
        "an unknown one leaves": {"leaving": "77"},
        "a negative id leaves": {"leaving": "-5"},
        "one joins that is there": {"joining": line_of(three)},
        "one joins and leaves": {"joining": FIVE_OBSERVES, "leaving": "5"},
        "one leaves that joined": {"leaving": "5"},
        "one leaves with a plus sign and blanks": {"leaving": " +5 ,"},
        "an observer joins in capitals": {"joining": f"{FIVE}:OBSERVER;127.0.0.9:2181"},
        "it joins again with other ports": {"joining": "server.5=127.0.0.9:1888:1889:observer;1890"},
        "blanks around =": {"joining": f"server.5 = {FIVE[9:]}:observer;2181"},
        "a role with blanks": {"joining": f"{FIVE}: observer ;2181"},
        "two = in a row": {"joining": f"server.5=={FIVE[9:]}:observer;2181"},
        "only an id": {"joining": f"5={FIVE[9:]}:observer;2181"},
        "another word": {"joining": f"a.b.5={FIVE[9:]}:observer;2181"},
        "port 0": {"joining": "server.5=127.0.0.9:0:3888:observer;2181"},
        "client port is quorum port": {"joining": f"{FIVE}:observer;127.0.0.9:2888"},
        "an IPv6 address": {"joining": "server.5=[::1]:2888:3888:observer;[::]:2181"},
        "a name": {"joining": "server.5=localhost:2888:3888:observer;localhost:2181"},
        "only a secure client port": {"joining": f"{FIVE}:observer;;2281"},
        "both client ports": {"joining": f"{FIVE}:observer;2181;127.0.0.9:2281"},
        "loopback addresses are not compared": {"joining": f"{FIVE_OBSERVES},server.6{FIVE_OBSERVES[8:]}"},
        "a role with a colon behind it": {"joining": f"{FIVE}:observer:;2181"},
        "a client port with a colon behind it": {"joining": f"{FIVE}:observer;127.0.0.9:2181:"},
        "a client port with semicolons behind it": {"joining": f"{FIVE_OBSERVES};;"},
        "an empty role": {"joining": f"{FIVE}:;2181"},
        "one id twice": {"joining": f"{FIVE_OBSERVES},server.5=127.0.0.9:1:2:observer;3"},
        "a voter joins": {"joining": f"{FIVE};2181", "leaving": "6"},
        "it becomes an observer": {"joining": FIVE_OBSERVES},
        "all": {"members": full},
        "all, with newlines": {"members": full.replace(",", "\n")},
        "all, with carriage returns": {"members": full.replace(",", "\r\n")},
        "all, with a comment": {"members": f"#x\n{full}"},
        "all, with a version": {"members": f"{full},version=5"},
        "all, and without a client port": {"members": f"{full},{FIVE}:observer"},
        "all, and a colon instead of =": {"members": f"{full},{FIVE_OBSERVES.replace('=', ':')}"},
        "all, and one id twice": {"members": f"{full},{FIVE_OBSERVES},server.5=127.0.0.9:1:2:observer;3"},
        "all, and equal addresses": {"members": f"{full},{FIVE_OBSERVES},server.6{FIVE_OBSERVES[8:]}"},
        "the others are ignored": {"joining": "nonsense", "leaving": "x", "members": full},
    }


def in_groups(script, full):
    """Hierarchical quorums: only as a whole."""
    for what, groups in {
            "groups": "group.1=1:2:3",
            "groups and weights": "group.2=3:1,group.1=2,weight.3=2,weight.1=1,weight.2=5",
            "a weight of 0": "group.1=1:2:3,weight.1=0",
            "an observer in a group with a weight": "group.1=1:2:3:4,weight.4=1",
            "a weight of nobody": "group.1=1:2:3,weight.7=5"}.items():
        script.reconfig(what, members=f"{full},{groups}")
        script.read(f"{what}, as read", at=FOLLOWER)
    for what, change in {"nothing at all": {}, "an unknown one leaves": {"leaving": "77"},
                         "leaves wrongly": {"leaving": "x"}, "one joins": {"joining": FIVE_OBSERVES},
                         "another version": {"leaving": "4", "version": 1}}.items():
        script.reconfig(f"with groups: {what}", **change)
    script.reconfig("no quorum by weight", members=f"{full},{FIVE};2181,group.1=1:2:3:5,weight.5=9")
    script.reconfig("no groups any more", members=full)


def bodies(whole):
    """Requests that cannot be decoded. A Java leader has no zxid for them, uses the last one again, and never answers;
    a standalone Java server answers."""
    return {"empty": b"", "cut off": whole[:-1], "cut off in a string": whole[:6],
            "with a negative length": p.int32(-7) + whole[4:],
            "with a length that is too large": p.int32(1 << 30) + whole[4:]}


def odd_bodies(script):
    whole = reconfig_body(leaving="77")
    script.ask("more behind it", p.RECONFIG, whole + b"more")
    script.ask("text that is no UTF-8", p.RECONFIG, p.buffer(b"\xff\xfe") + whole[4:])


def without_permission(script, full):
    for what, auth in {"nobody": None, "someone": USER_AUTH}.items():
        for at in (LEADER, FOLLOWER, OBSERVES):
            script.reconfig(f"{what} may not, at {at}", at, auth, leaving="77")
        script.reconfig(f"{what} asks with another version", auth=auth, leaving="4", version=1)
        script.reconfig(f"{what} asks for nonsense", auth=auth, joining="nonsense")
        script.reconfig(f"{what} asks for no quorum", auth=auth, members=f"{FIVE};2181")
        script.reconfig(f"{what} asks for all", auth=auth, members=full)


def config_node(script):
    """All other operations on the node."""
    for who, auth in {"nobody": None, "super": SUPER_AUTH}.items():
        for at in (LEADER, FOLLOWER, OBSERVES):
            def ask(what, op, body, at=at, auth=auth, who=who):
                script.ask(f"{who} at {at}: {what}", op, body, at, auth)

            script.read(f"{who} at {at}: getData", at, auth)
            script.read(f"{who} at {at}: exists", at, auth, p.EXISTS)
            script.read(f"{who} at {at}: getChildren2", at, auth, p.GET_CHILDREN2)
            script.read(f"{who} at {at}: getACL", at, auth, p.GET_ACL)
            ask("setData with another version", p.SET_DATA, p.set_data_body(CONFIG_NODE, b"x", 5))
            ask("setData", p.SET_DATA, p.set_data_body(CONFIG_NODE, b"not the members"))
            ask("setData once more", p.SET_DATA, p.set_data_body(CONFIG_NODE, b"nor these"))
            ask("delete", p.DELETE, p.path_version_body(CONFIG_NODE))
            ask("create", p.CREATE, p.create_body(CONFIG_NODE))
            ask("create below", p.CREATE2, p.create_body(f"{CONFIG_NODE}/below"))
            ask("delete below", p.DELETE, p.path_version_body(f"{CONFIG_NODE}/below"))
            ask("multi", p.MULTI, p.multi_body([(p.CHECK, p.path_version_body(CONFIG_NODE, 0)),
                                                (p.SET_DATA, p.set_data_body(CONFIG_NODE, b"by multi"))]))
            ask("setACL with another version", p.SET_ACL, p.set_acl_body(CONFIG_NODE, p.OPEN_ACL, 5))
            script.read(f"{who} at {at}: getData again", at, auth)
    script.reconfig("reconfig repairs it", leaving="77")
    for at in (LEADER, FOLLOWER, OBSERVES):
        script.read(f"it is repaired at {at}", at)
    script.ask("setACL for someone", p.SET_ACL, p.set_acl_body(
        CONFIG_NODE, [(p.READ | p.WRITE, "digest", USER_DIGEST), (p.READ, "world", "anyone")]))
    script.read("getACL of it", FOLLOWER, op=p.GET_ACL)
    script.reconfig("someone may now", FOLLOWER, USER_AUTH, leaving="77")
    script.reconfig("nobody still may not", FOLLOWER, None, leaving="77")
    script.ask("setACL for nobody", p.SET_ACL, p.set_acl_body(CONFIG_NODE, [(p.READ, "digest", USER_DIGEST)]))
    script.read("nobody may read", FOLLOWER)
    script.read("nobody may ask if it exists", FOLLOWER, op=p.EXISTS)
    script.ask("setACL as it was", p.SET_ACL, p.set_acl_body(CONFIG_NODE, [(p.READ, "world", "anyone")]))


def watches(script):
    for at in (LEADER, FOLLOWER, WATCHER, OBSERVES):
        script.watch(at, p.GET_DATA if at != WATCHER else p.EXISTS)
    script.reconfig("a change that is watched", joining=FIVE_OBSERVES)
    for at in (LEADER, FOLLOWER, WATCHER, OBSERVES):
        script.events(f"events at {at}", at)
    for at in (LEADER, FOLLOWER):
        script.watch(at, p.GET_DATA)
    script.reconfig("a request that fails", joining="nonsense")
    for at in (LEADER, FOLLOWER):
        script.events(f"no events at {at}", at)
    script.reconfig("a change that changes nothing", leaving="77")
    for at in (LEADER, FOLLOWER):
        script.events(f"more events at {at}", at)


def judged_requests(member):
    """How many requests Java's leader has judged."""
    return int(re.search(r"^zk_cnt_prep_process_time\t(\d+)$", member.word("mntr"), re.MULTILINE).group(1))


def in_progress(script):
    """A change that cannot be committed, and others behind it on the same connection."""
    ensemble, connection = script.ensemble, script.connection(LEADER, SUPER_AUTH)
    paused = [ensemble[sid] for sid in (1, 2)]
    requests = {"in progress: the first": {"joining": SIX_OBSERVES},
                "in progress: the second": {"leaving": "6"},
                "in progress: another version": {"leaving": "6", "version": 1},
                "in progress: nonsense": {"joining": "nonsense"},
                "in progress: no quorum": {"members": f"{FIVE};2181"}}
    for member in paused:
        member.pause()
    leader = ensemble[LEADER]
    judged = judged_requests(leader)
    connection.send(b"".join(
        p.frame(p.int32(xid) + p.int32(p.RECONFIG) + reconfig_body(**change))
        for xid, change in ((script.xid(connection), change) for change in requests.values())))
    proposed = leader.base / "zoo.cfg.dynamic.next"
    wait_until(proposed.exists, "the members are proposed", 20)
    # Otherwise Java may commit the first before it has judged the last. Drover judges all that it received at once.
    wait_until(lambda: leader.kind == DROVER or judged_requests(leader) >= judged + len(requests),
               "all requests are judged", 20)
    for member in paused:
        member.unpause()
    for what in requests:
        script.note(what, script.reader.read(p.RECONFIG, connection.receive()))
    ensemble.settle()
    script.reconfig("after it", leaving="6")


def everything(script):
    ensemble = script.ensemble
    full = ",".join(map(line_of, ensemble))
    script.read("the members at first")
    script.read("the members at first, at a follower", FOLLOWER)
    script.read("the members at first, at an observer", OBSERVES)
    without_permission(script, full)
    wrong = wrong_requests(full)
    for what, change in wrong.items():
        script.reconfig(f"wrong: {what}", **change)
    for number, (what, change) in enumerate(wrong.items()):
        if number % 8 == 0:
            script.reconfig(f"wrong, at a follower: {what}", FOLLOWER, **change)
            script.reconfig(f"wrong, at an observer: {what}", OBSERVES, **change)
    odd_bodies(script)
    script.read("nothing has changed")
    script.reconfig("the present version", leaving="77", version=script.version())
    for number, (what, change) in enumerate(right_requests(ensemble, full).items()):
        script.reconfig(f"right: {what}", (LEADER, FOLLOWER, OBSERVES)[number % 3], **change)
    script.read("after the right ones, at a follower", FOLLOWER)
    in_groups(script, full)
    watches(script)
    in_progress(script)
    config_node(script)


def with_two_voters_and_standalone(script):
    """standaloneEnabled, and skipACL."""
    two = ",".join(map(line_of, script.ensemble))
    one = line_of(script.ensemble[2])
    changes = {
        "one leaves": {"leaving": "1"}, "both leave": {"leaving": "1,2"}, "only one": {"members": one},
        "nobody": {"members": ""}, "a comment": {"members": "#"},
        "one and an observer": {"members": f"{one},{FIVE_OBSERVES}"}, "only an observer": {"members": FIVE_OBSERVES},
        "one becomes an observer": {"joining": f"server.1={spec_of(script.ensemble[1])}".replace(
            "participant", "observer")},
        "an observer joins": {"joining": FIVE_OBSERVES}, "another version": {"leaving": "5", "version": 1},
        "it leaves": {"leaving": "5"}, "both": {"members": two},
    }
    for what, change in changes.items():
        script.reconfig(what, LEADER_OF_TWO, None, **change)
    script.read("at last", 1)
    script.ask("setData without permission", p.SET_DATA, p.set_data_body(CONFIG_NODE, b"x"), 1, None)
    script.reconfig("after setData", 1, None, leaving="77")


def refused(script):
    """Requests to a server that refuses every reconfiguration."""
    for who, auth in {"nobody": None, "super": SUPER_AUTH}.items():
        for what, change in {"nothing at all": {}, "one leaves": {"leaving": "1"}, "nonsense": {"joining": "x"},
                             "another version": {"version": 77}, "all": {"members": ""}}.items():
            script.reconfig(f"{who}: {what}", 1, auth, **change)
    script.ask("more behind it", p.RECONFIG, reconfig_body(leaving="77") + b"more", 1)
    script.read("the node", 1)
    script.read("whether the node exists", 1, op=p.EXISTS)
    script.ask("getACL", p.GET_ACL, p.buffer(CONFIG_NODE), 1, None)
    script.ask("setData without permission", p.SET_DATA, p.set_data_body(CONFIG_NODE, b"x"), 1, None)
    script.ask("setData", p.SET_DATA, p.set_data_body(CONFIG_NODE, b"x"), 1)
    script.ask("delete", p.DELETE, p.path_version_body(CONFIG_NODE), 1)
    script.read("the node afterwards", 1)


def refused_by_a_standalone_server(script):
    for what, body in bodies(reconfig_body(leaving="77")).items():
        script.ask(f"a body {what}", p.RECONFIG, body, 1)
    refused(script)


# --- the ensembles ---

class StandaloneServer:
    """The interface of Members that a script needs, with one server that replicates nothing."""

    def __init__(self, config):
        self.member = Member(1, DROVER, config=config)

    def __getitem__(self, _):
        return self.member

    def restart(self, kind):
        self.member.stop()
        if self.member.files.exists():
            self.member.wipe()
        self.member.become(kind)
        self.member.launch()
        wait_until(lambda: self.member.mode() == "standalone", f"{self.member} serves", 60)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.member.remove()


def answers_of(ensemble, story):
    script = Script(ensemble)
    try:
        story(script)
    finally:
        script.close()
    return script.answers


@functools.lru_cache(maxsize=None)
def releases():
    """The Java releases that are available."""
    try:
        maven.zookeeper_jars()
        return [JAVA39, JAVA]
    except maven.Unreachable as reason:
        print(f"reconfig_errors: SKIPPED: comparison with Apache ZooKeeper {maven.RELEASE}: {reason}", flush=True)
        return [JAVA]


def compare(ensemble, restart, story):
    found = {}
    for kind in [*releases(), DROVER]:
        restart(kind)
        found[kind] = answers_of(ensemble, story)
    lines = []
    for kind in releases():
        check(found[kind].keys() == found[DROVER].keys(), "everybody is asked the same")
        for what, theirs in found[kind].items():
            ours = found[DROVER][what]
            known_of, _ = KNOWN.get(what, ((), None))
            if (theirs != ours) != (kind in known_of):
                lines.append(f"{what}:\n    {kind:7} {theirs}\n    {DROVER:7} {ours}")
    if show:
        for what, answer in found[DROVER].items():
            print(f"  {what}: {answer}")
    print(f"reconfig_errors: {len(found[DROVER])} answers of each", flush=True)
    check(not lines, f"{len(lines)} differences:\n  " + "\n  ".join(lines))


def every_request_gets_the_answer_of_java():
    with Members([DROVER] * 4, observers=(4,), properties={"zookeeper.skipACL": "no"}) as ensemble:
        compare(ensemble, lambda kind: ensemble.start_again_as(kind, LEADER), everything)


def standalone_enabled_needs_two_voters_as_in_java():
    with Members([DROVER] * 2, config={"standaloneEnabled": "true"}) as ensemble:
        compare(ensemble, lambda kind: ensemble.start_again_as(kind, LEADER_OF_TWO), with_two_voters_and_standalone)


def without_reconfig_enabled_the_answers_are_those_of_java():
    with Members([DROVER] * 2, config={"reconfigEnabled": "false"},
                 properties={"zookeeper.skipACL": "no"}) as ensemble:
        compare(ensemble, lambda kind: ensemble.start_again_as(kind, LEADER_OF_TWO), refused)


def a_standalone_server_answers_as_java_does():
    with StandaloneServer({"reconfigEnabled": "true"}) as server:
        compare(server, server.restart, refused_by_a_standalone_server)


def a_standalone_server_without_reconfig_enabled_answers_as_java_does():
    with StandaloneServer({"reconfigEnabled": "false"}) as server:
        compare(server, server.restart, refused_by_a_standalone_server)


def an_ensemble_answers_what_it_cannot_decode():
    with Members([DROVER]) as ensemble:
        ensemble.start()
        script = Script(ensemble)
        for what, body in bodies(reconfig_body(leaving="77")).items():
            script.ask(what, p.RECONFIG, body, 1)
            check_equal(script.answers[what][2], "MARSHALLINGERROR", what)
        script.reconfig("a right one", 1, leaving="77")
        check_equal(script.answers["a right one"][2], "OK", "a right one")
        script.close()


CASES = [every_request_gets_the_answer_of_java, standalone_enabled_needs_two_voters_as_in_java,
         without_reconfig_enabled_the_answers_are_those_of_java, a_standalone_server_answers_as_java_does,
         a_standalone_server_without_reconfig_enabled_answers_as_java_does,
         an_ensemble_answers_what_it_cannot_decode]


def main():
    global show
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", help="run the cases whose name contains this")
    parser.add_argument("--show", action="store_true", help="print drover's answers")
    arguments = parser.parse_args()
    show = arguments.show
    return run("reconfig_errors", CASES, arguments.only)


if __name__ == "__main__":
    sys.exit(main())
