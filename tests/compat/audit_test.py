#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# The audit log beside Java's: the same requests to both servers, and the same lines, byte for byte, except for ids of
# sessions, the order of a connection's users (Java's is that of a hash set), and what Java does not escape.
#
#   audit_test.py [java|java39]

import re
import sys

import maven
import protocol as p
from servers import DroverServer, KINDS, start_together
from suite import check, check_equal, run

SKIPPED = 77
JAVA = sys.argv[1] if len(sys.argv) > 1 else "java"
AUDIT = {"zookeeper.audit.enable": "true"}
FILE_LINE = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} (INFO|ERROR) audit\.Slf4jAuditLogger: (.*)")
SECRET_ACL = [(p.ALL, "digest", "bob:x"), (p.READ | p.WRITE, "world", "anyone")]


class Audited:
    """A server with an audit log, and a client with several identities."""

    def __init__(self, kind):
        if kind is DroverServer:
            self.server = DroverServer(properties=AUDIT)
            self.server.config["log.dir"] = self.server.base
        else:
            self.server = kind(properties=AUDIT)
        self.xid = 0

    def connect(self):
        connection = p.Connection(self.server.port)
        check(connection.handshake() is not None, "no session")
        return connection

    def call(self, connection, op, body=b""):
        self.xid += 1
        _, payload = connection.call(self.xid, op, body)
        return p.reply_header(payload)[2]

    def lines(self):
        """(is an error, line) for each line of the audit log."""
        if isinstance(self.server, DroverServer):
            text = (self.server.base / "zookeeper_audit.log").read_text()
            found = [FILE_LINE.fullmatch(line) for line in text.splitlines()]
            check(all(found), f"not in Java's format: {text}")
            return [(match[1] == "ERROR", match[2]) for match in found]
        text = self.server.log_file.read_text()
        return [(match[1] == "ERROR", match[2])
                for match in re.finditer(r"(INFO|ERROR) org\.apache\.zookeeper\.audit\.Slf4jAuditLogger - (.*)", text)]


def normalised(lines):
    sessions = {}

    def session(match):
        return "session=S" + str(sessions.setdefault(match[1], len(sessions)))

    def users(match):
        return "user=" + ",".join(sorted(match[1].split(",")))

    return [(error, re.sub(r"user=([^\t]*)", users, re.sub(r"session=(0x[0-9a-f]+)", session, line)))
            for error, line in lines]


def in_order(lines):
    """The nodes of a session that ends are deleted in the order of a hash set."""
    result, deletions = [], []
    for line in lines:
        if "ephemeralZNodeDeletion" in line[1]:
            deletions.append(line)
            continue
        result += sorted(deletions) + [line]
        deletions = []
    return result + sorted(deletions)


def requests(path):
    """(op, body) of successes and failures of every operation that is audited, and of some that are not."""
    multi = [(p.CREATE, p.create_body(path + "/m")),
             (p.CREATE, p.create_body(path + "/s-", flags=p.SEQUENTIAL)),
             (p.CREATE2, p.create_body(path + "/m2", flags=p.EPHEMERAL)),
             (p.CREATE_CONTAINER, p.create_body(path + "/mc", flags=p.CONTAINER)),
             (p.CREATE_TTL, p.create_ttl_body(path + "/mt", b"", p.OPEN_ACL, p.TTL, 60000)),
             (p.CHECK, p.path_version_body(path + "/m")),
             (p.SET_DATA, p.set_data_body(path + "/m", b"1")),
             (p.DELETE, p.path_version_body(path + "/m"))]
    return [
        (p.CREATE, p.create_body(path)),
        (p.CREATE, p.create_body(path)),
        (p.CREATE, p.create_body(path + "/no/parent")),
        (p.CREATE2, p.create_body(path + "/2", flags=p.SEQUENTIAL)),
        (p.CREATE, p.create_body(path + "/e", flags=p.EPHEMERAL)),
        (p.CREATE, p.create_body(path + "/es-", flags=p.EPHEMERAL_SEQUENTIAL)),
        (p.CREATE_CONTAINER, p.create_body(path + "/c", flags=p.CONTAINER)),
        (p.CREATE_TTL, p.create_ttl_body(path + "/t", b"", p.OPEN_ACL, p.TTL, 60000)),
        (p.CREATE_TTL, p.create_ttl_body(path + "/ts", b"", p.OPEN_ACL, p.TTL_SEQUENTIAL, 60000)),
        (p.CREATE, p.create_body(path + "/badflags", flags=99)),
        (p.CREATE, p.create_body("")),
        (p.CREATE, p.create_body(path + "//")),
        (p.CREATE, p.create_body(path + "/acl", acl=[])),
        (p.SET_DATA, p.set_data_body(path, b"x")),
        (p.SET_DATA, p.set_data_body(path, b"x", 77)),
        (p.SET_DATA, p.set_data_body(path + "/none", b"x")),
        (p.GET_DATA, p.path_watch_body(path)),
        (p.GET_ACL, p.buffer(path)),
        (p.SYNC, p.buffer(path)),
        (p.SET_ACL, p.set_acl_body(path + "/c", SECRET_ACL)),
        (p.SET_ACL, p.set_acl_body(path + "/none", SECRET_ACL)),
        (p.SET_ACL, p.set_acl_body(path + "/c", [])),
        (p.CREATE, p.create_body(path + "/ü=, ñ")),
        (p.DELETE, p.path_version_body(path + "/ü=, ñ")),
        (p.DELETE, p.path_version_body(path)),
        (p.DELETE, p.path_version_body(path + "/none")),
        (p.MULTI, p.multi_body(multi)),
        (p.MULTI, p.multi_body([(p.CREATE, p.create_body(path + "/f")), (p.DELETE, p.path_version_body("/none"))])),
        (p.MULTI, p.multi_body([(p.CHECK, p.path_version_body(path))])),
        (p.MULTI, p.multi_body([])),
        (p.CREATE, b"\x00\x00"),
        (p.RECONFIG, p.buffer("server.9=x:1:2") + p.buffer(None) + p.buffer(None) + p.int64(-1)),
    ]


def story(audited):
    first = audited.connect()
    second = audited.connect()
    codes = []
    for scheme, auth in (("digest", "bob:secret"), ("digest", "eve:secret")):
        first.request(p.AUTH_XID, p.AUTH, p.auth_body(scheme, auth))
        first.receive()
    for connection, path in ((first, "/a"), (second, "/b")):
        codes += [audited.call(connection, op, body) for op, body in requests(path)]
    for connection in (first, second):
        codes.append(audited.call(connection, p.CLOSE_SESSION))
    return codes


def the_lines_are_those_of_java():
    java, drover = Audited(KINDS[JAVA]), Audited(DroverServer)
    start_together(java.server, drover.server)
    try:
        check_equal(story(drover), story(java), "error codes")
        for each in (java, drover):
            each.server.stop()
        ours, theirs = in_order(normalised(drover.lines())), in_order(normalised(java.lines()))
        if java.server.release < (3, 9):  # did not audit createTTL, nor what it could not read
            unread = "operation=create\tznode_type=persistent\tresult=failure"
            ours = [line for line in ours if "with_ttl" not in line[1] and not line[1].endswith(unread)]
        check(len(theirs) > 60, f"only {len(theirs)} lines")
        for at, (our, their) in enumerate(zip(ours, theirs)):
            check_equal(our, their, f"line {at}")
        check_equal(len(ours), len(theirs), "number of lines")
    finally:
        for each in (java, drover):
            each.server.remove()


def hostile_names_do_not_end_a_line():
    """Java writes them as they are: one request, and a line that the client has made up."""
    drover = Audited(DroverServer)
    drover.server.start()
    try:
        client = drover.connect()
        forged = "/a\n2026-01-01 00:00:00,000 INFO audit.Slf4jAuditLogger: user=root\toperation=serverStop"
        check(drover.call(client, p.CREATE, p.create_body(forged)) != 0, "such a path is invalid")
        (_, _), (failure, line) = drover.lines()
        check(failure and line.count("\t") == 6, line)
        check(r"/a\n2026-01-01" in line, line)
    finally:
        drover.server.remove()


if __name__ == "__main__":
    if JAVA == "java39":
        try:
            maven.zookeeper_jars()
        except maven.Unreachable as unreachable:
            print(f"audit: {unreachable}")
            sys.exit(SKIPPED)
    sys.exit(run("audit", [the_lines_are_those_of_java, hostile_names_do_not_end_a_line]))
