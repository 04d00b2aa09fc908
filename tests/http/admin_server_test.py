#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Runs every command of the AdminServer on Java 3.8.0 and on drover in the same state. The text must be equal,
# except for values of one process such as its pid.

import base64
import gzip
import hashlib
import json
import re
import struct
import sys
import threading
import zlib

from http_servers import SUPER, ask, wait_for_http, with_http
import protocol as p
from harness import wait_until
from servers import four_letter_word, start_together
from suite import check, check_equal, run

java, drover = (with_http(kind, {"admin.rateLimiterIntervalInMS": 0}) for kind in ("java", "drover"))
sessions = {}

# Newer than 3.8: only ours has them.
NEW_COMMANDS = {"restore", "shed_connections", "snapshot"}
NEW_METRICS = {"snapshot_error_count", "snapshot_rate_limited_count", "restore_error_count", "restore_rate_limited_count",
               *(f"{part}_restore_time" for part in ("avg", "min", "max", "cnt", "sum"))}
# Numbers of one process: times, sizes, what has happened so far.
PROCESS_KEYS = """
    uptime avg_latency max_latency min_latency last_latency packets_sent packets_received established
    last_response_time data_dir_size log_dir_size datadir_size logdir_size timestamp version
    last_buffer_size min_buffer_size max_buffer_size
""".split()


def prepare(server):
    wait_for_http(server.http_port)
    session = p.Connection(server.port)
    session.handshake(timeout_ms=30000)
    session.call(1, p.CREATE, p.create_body("/a", b"data"))
    session.call(2, p.CREATE, p.create_body('/a/"<é>\\', b"data", flags=p.EPHEMERAL))
    session.call(3, p.CREATE, p.create_body("/a/e2", b"data", flags=p.EPHEMERAL))
    session.call(4, p.GET_DATA, p.path_watch_body("/a", True))
    sessions[server] = session


def neutral(server, text):
    session = sessions[server]
    text = text.replace(str(session.session_id), "SESSION")
    text = text.replace(f":{session.socket.getsockname()[1]}", ":CLIENT")
    text = text.replace(str(server.base), "BASE").replace(f"{server.port}", "PORT")
    text = text.replace(f"{server.http_port}", "HTTP")
    for key in PROCESS_KEYS:
        text = re.sub(rf'("{key}" : )[^,\n]*(,[^"\n]*")?', r"\1*", text)
    return re.sub(r'"\d{4,}" : \[', '"TIME" : [', text)


def get(server, path, **options):
    return ask(server.http_port, path, **options)


def same(path):
    theirs, ours = get(java, path), get(drover, path)
    check_equal(ours.status, theirs.status, f"status of {path}")
    check_equal(ours.headers.get("content-type"), theirs.headers.get("content-type"), f"type of {path}")
    check_equal(neutral(drover, ours.text), neutral(java, theirs.text), path)


def fields(server, path):
    return json.loads(get(server, path).text)


def the_page_links_to_every_command_of_java_and_the_newer_ones():
    links = {server: get(server, "/commands").text for server in (java, drover)}
    kept = "".join(re.sub(rf'<a href="/commands/({"|".join(NEW_COMMANDS)})">\1</a>\n<br/>\n', "", links[drover]))
    check_equal(kept, links[java])
    check_equal(get(drover, "/commands/").text, links[drover])
    for name in NEW_COMMANDS:
        check(f'<a href="/commands/{name}">{name}</a>' in links[drover], name)


def commands_print_the_same_text():
    for name in """conf config configuration cons connections gtmk get_trace_mask hash is_read_only isro
                   last_snapshot lsnp lead leader observers obsr ruok voting_view
                   watches wchc watches_by_path wchp watch_summary wchs zabstate dirs dump
                   initial_configuration icfg nope conf/ conf/x %20 %22""".split():
        same(f"/commands/{name}")


def statistics_have_the_same_fields():
    # Java lists those of server_stats in the order in which its JVM happens to find them.
    for name in "server_stats srvr stats stat".split():
        ours, theirs = (json.loads(re.sub(r" : \*", ' : "*"', neutral(server, get(server, f"/commands/{name}").text)))
                        for server in (drover, java))
        check_equal(list(ours), list(theirs), name)
        check_equal(ours, theirs, name)


def the_digests_print_the_same_text():
    for number in range(1, 260):
        for server in (java, drover):
            sessions[server].call(100 + number, p.SET_DATA, p.set_data_body("/a", b"%d" % number))
    ours, theirs = (fields(server, "/commands/hash")["digests"] for server in (drover, java))
    check(len(theirs) == 2, theirs)
    # The digest is of mtime too, so only the form can be compared.
    check_equal([list(d) for d in ours], [list(d) for d in theirs])
    check_equal([d["zxid"] for d in ours], [d["zxid"] for d in theirs])


def the_environment_has_the_same_keys():
    check_equal(list(fields(drover, "/commands/env")), list(fields(java, "/commands/env")))


def the_monitor_command_matches_mntr_and_java():
    ours, theirs = fields(drover, "/commands/monitor"), fields(java, "/commands/mntr")
    mntr = [line.split("\t")[0].removeprefix("zk_") for line in
            four_letter_word(drover.port, "mntr").splitlines()]
    check_equal([*mntr, "command", "error"], list(ours))
    own = set(ours) - set(theirs)
    own = {name for name in own if not name.startswith("client_")}  # limits that Java does not have either
    check_equal(own, {"disk_full_refusals", *NEW_METRICS}, "metrics that Java does not have")
    for key in "znode_count watch_count ephemerals_count global_sessions server_state".split():
        check_equal(ours[key], theirs[key], key)


def system_properties_show_no_secret():
    ours = fields(drover, "/commands/system_properties")
    theirs = fields(java, "/commands/sysp")
    check_equal(set(ours) - set(theirs) - {"command", "error"},
                {"os.memory.free", "os.memory.max", "os.memory.total"})
    check("superDigest" not in str(ours), ours)


def commands_that_change_something_need_authentication():
    for name in "crst srst orst stmk?traceMask=5".split():
        check_equal(get(drover, f"/commands/{name}").status, 401, name)
        check_equal(get(drover, f"/commands/{name}", headers={"Authorization": "digest super:wrong"}).status, 403,
                    f"{name} of an invented user, who may do everything on an open root as the world may")
        theirs = get(java, f"/commands/{name}")
        check_equal(neutral(drover, get(drover, f"/commands/{name}", headers=SUPER).text),
                    neutral(java, theirs.text), name)
    for path in ("/commands/stmk", "/commands/stmk?traceMask=x"):
        check_equal(get(drover, path, headers=SUPER).text, get(java, path).text, path)
    same("/commands/gtmk")


def resets_reset():
    get(drover, "/commands/srst", headers=SUPER)
    get(drover, "/commands/crst", headers=SUPER)
    stats = fields(drover, "/commands/stats")
    check_equal(stats["server_stats"]["packets_received"], 0)
    check_equal(stats["connections"][0]["packets_received"], 0)


OWNER = {"Authorization": "digest root:pw"}
OWNER_ID = "root:" + base64.b64encode(hashlib.sha1(b"root:pw").digest()).decode()
INVENTED = {"Authorization": "digest bob:pw"}


def statuses(*headers):
    return [get(drover, "/commands/srst", headers=h).status for h in headers]


def only_identities_in_the_root_acl_are_allowed():
    session = sessions[drover]

    def set_root(xid, *acl):
        _, reply = session.call(xid, p.SET_ACL, p.set_acl_body("/", list(acl)))
        check_equal(p.reply_header(reply)[2], 0, "setAcl /")
    session.call(-4, p.AUTH, p.auth_body("digest", b"super:admin"))
    try:
        set_root(600, (p.ALL, "digest", OWNER_ID), (p.READ, "world", "anyone"))
        check_equal(statuses(OWNER, INVENTED, SUPER), [200, 403, 200])
        set_root(601, (p.ALL, "digest", OWNER_ID), (p.ALL & ~p.ADMIN, "world", "anyone"))
        check_equal(statuses(OWNER, INVENTED, SUPER), [200, 403, 200], "clients may still create nodes")
        set_root(602, (p.ALL & ~p.DELETE_PERM, "digest", OWNER_ID), (p.ALL & ~p.ADMIN, "world", "anyone"))
        check_equal(statuses(OWNER), [403], "permissions of world do not add up with others")
        # Anyone could have added themselves here.
        set_root(603, (p.ALL, "digest", OWNER_ID), (p.ALL, "world", "anyone"))
        check_equal(statuses(OWNER, INVENTED, SUPER), [403, 403, 200])
        set_root(604, (p.ALL, "ip", "127.0.0.0/8"))
        check_equal(statuses({"Authorization": "ip x"}, INVENTED), [200, 403], "an address must be claimed")
    finally:
        set_root(605, (p.ALL, "world", "anyone"))


def a_snapshot_can_be_taken_and_started_from():
    answer = get(drover, "/commands/snapshot?streaming=true", headers=SUPER)
    check_equal(answer.status, 200)
    check_equal(int(answer.headers["snapshot_size"]), len(answer.body))
    zxid = answer.headers["last_zxid"]
    copy = with_http("drover")
    (copy.data_dir / "version-2").mkdir()
    (copy.data_dir / "version-2" / f"snapshot.{zxid.removeprefix('0x')}").write_bytes(answer.body)
    with copy:
        check_equal(fields(copy, "/commands/srvr")["node_count"], fields(drover, "/commands/srvr")["node_count"])
    check_equal(fields(drover, "/commands/lsnp")["zxid"], zxid.removeprefix("0x"))


def a_snapshot_replaces_what_another_server_holds():
    answer = get(drover, "/commands/snapshot?streaming=true", headers=SUPER)
    check_equal(answer.status, 200)
    nodes = fields(drover, "/commands/srvr")["node_count"]
    with with_http("drover", {"admin.rateLimiterIntervalInMS": 0}) as other:
        session = p.Connection(other.port)
        session.handshake(timeout_ms=30000)
        session.call(1, p.CREATE, p.create_body("/only-here", b""))

        def restore(body, headers=SUPER):
            return get(other, "/commands/restore", method="POST", body=body, headers=headers)
        check_equal(restore(answer.body, {}).status, 401)
        for damaged in (b"", b"ZKSN", answer.body[:-1], answer.body[:60] + b"x" + answer.body[61:]):
            check_equal(restore(damaged).status, 400, damaged[:10])
        check_equal(fields(other, "/commands/srvr")["node_count"], 6, "what was refused changed nothing")
        session.call(2, p.GET_DATA, p.path_watch_body("/only-here"))

        done = restore(answer.body)
        check_equal(done.status, 200, done.text)
        check_equal(f"0x{json.loads(done.text)['last_zxid']:x}", answer.headers["last_zxid"])
        wait_until(lambda: restored(other, nodes), "the server restarts")
        other.kill()
        other.start()
        wait_until(lambda: restored(other, nodes), "and again after it was killed")
    with with_http("drover", {"admin.restore.enabled": "false"}) as closed:
        check_equal(get(closed, "/commands/rest", method="POST", body="x", headers=SUPER).status, 503)


# A snapshot whose seals are right and whose nodes have no parent: nothing that can be loaded.
def with_an_orphan(snapshot):
    forged = bytearray(snapshot.replace(b"/zookeeper/quota", b"/zookeepex/quota"))
    seals = [at for at in range(len(snapshot) - 8)
             if struct.unpack_from(">q", snapshot, at)[0] == zlib.adler32(snapshot[:at])]
    check_equal(len(seals), 3, "seals of a snapshot")
    for at in seals:
        struct.pack_into(">q", forged, at, zlib.adler32(forged[:at]))
    return bytes(forged)


def a_state_that_cannot_be_loaded_is_refused_and_changes_nothing():
    orphan = with_an_orphan(get(drover, "/commands/snapshot?streaming=true", headers=SUPER).body)
    with with_http("drover", {"admin.rateLimiterIntervalInMS": 0}) as other:
        session = p.Connection(other.port)
        session.handshake(timeout_ms=30000)
        session.call(1, p.CREATE, p.create_body("/precious", b""))
        answer = get(other, "/commands/restore", method="POST", body=orphan, headers=SUPER)
        check_equal(answer.status, 400, answer.text)
        session.call(2, p.GET_DATA, p.path_watch_body("/precious"))  # on the same connection
        other.kill()
        other.start()
        wait_until(lambda: restored(other, 6), "the old state after another start")


def a_state_above_the_limit_is_refused_and_changes_nothing():
    session = sessions[drover]
    for n in range(8):
        session.call(700 + n, p.CREATE, p.create_body(f"/a/large{n}", b"x" * 500_000))
    snapshot = gzip.compress(get(drover, "/commands/snapshot?streaming=true", headers=SUPER).body)
    for n in range(8):
        session.call(710 + n, p.DELETE, p.path_version_body(f"/a/large{n}"))
    check(len(snapshot) < 100_000, "the request is small")
    with with_http("drover", {"admin.rateLimiterIntervalInMS": 0, "admin.restore.maxStateInMb": 2}) as other:
        answer = get(other, "/commands/restore", method="POST", body=snapshot, headers=SUPER)
        check_equal(answer.status, 413, answer.text)
        check("admin.restore.maxStateInMb" in answer.text, answer.text)
        check_equal(fields(other, "/commands/srvr")["node_count"], 5, "what was refused changed nothing")


def nothing_is_acknowledged_after_a_restore():
    snapshot = get(drover, "/commands/snapshot?streaming=true", headers=SUPER).body
    with with_http("drover", {"admin.rateLimiterIntervalInMS": 0}) as other:
        answered = threading.Event()
        begun = threading.Event()
        late = []

        def write():
            session = p.Connection(other.port)
            session.handshake(timeout_ms=30000)
            for n in range(1, 1000000):
                if session.call(n, p.CREATE, p.create_body(f"/w{n}", b""))[1] is None:
                    return
                begun.set()
                if answered.is_set():
                    late.append(n)
        writer = threading.Thread(target=write)
        writer.start()
        begun.wait()
        check_equal(get(other, "/commands/restore", method="POST", body=snapshot, headers=SUPER).status, 200)
        answered.set()
        writer.join()
        check_equal(len(late), 0, "acknowledged after the answer")


def only_restores_that_succeed_count():
    snapshot = get(drover, "/commands/snapshot?streaming=true", headers=SUPER).body
    with with_http("drover") as other:
        def restore(body):
            return get(other, "/commands/restore", method="POST", body=body, headers=SUPER).status
        check_equal([restore(b"x"), restore(snapshot[:-1]), restore(snapshot)], [400, 400, 200])
        nodes = fields(drover, "/commands/srvr")["node_count"]
        wait_until(lambda: restored(other, nodes), "the server restarts")
        check_equal(restore(snapshot), 429)
        take = lambda: get(other, "/commands/snapshot", headers=SUPER).status  # noqa: E731
        check_equal([take(), take(), take()], [200, 429, 429])
        counted = fields(other, "/commands/monitor")
        names = "restore_error_count cnt_restore_time restore_rate_limited_count snapshot_error_count " \
                "snapshot_rate_limited_count".split()
        check_equal([counted[name] for name in names], [2, 1, 1, 0, 2], "counts from before the restart are included")


def restored(server, nodes):
    try:
        return fields(server, "/commands/srvr")["node_count"] == nodes
    except OSError:
        return False  # It is starting.


def shed_connections_reconnect():
    other = p.Connection(drover.port)
    other.handshake(timeout_ms=30000)
    check_equal(get(drover, "/commands/shed", method="POST", body='{"percentage":100}').status, 401)
    answer = json.loads(get(drover, "/commands/shed", method="POST", body='{"percentage":100}', headers=SUPER).text)
    check_equal(answer, {"connections_shed": 2, "percentage_requested": 100, "command": "shed_connections",
                         "error": None})
    check_equal(other.socket.recv(1), b"", "a connection that was shed")


def methods_are_answered_as_java_does():
    for method in ("POST", "PUT"):
        check_equal(get(drover, "/commands/ruok", method=method, body="x").status,
                    get(java, "/commands/ruok", method=method, body="x").status, method)
    ours, theirs = (get(server, "/commands/ruok", method="HEAD") for server in (drover, java))
    check_equal((ours.status, ours.headers["content-length"], ours.body),
                (theirs.status, theirs.headers["content-length"], b""))
    check_equal(get(drover, "/nowhere").status, get(java, "/nowhere").status)


def probes_answer():
    check_equal(get(drover, "/live").text, '{"live":true}\n')
    check_equal(get(drover, "/ready").status, 200)
    check_equal(get(drover, "/leader").status, 200)


def metrics_are_what_prometheus_reads():
    answer = get(drover, "/metrics")
    check_equal(answer.headers["content-type"], "text/plain; version=0.0.4; charset=utf-8")
    types, samples = {}, {}
    for line in answer.text.splitlines():
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split()
            check(name not in types, f"{name} twice")
            types[name] = kind
        elif not line.startswith("#"):
            found = re.fullmatch(r'(\w+)(\{quantile="0\.\d+",\})? (-?[0-9.]+(e[-+]\d+)?)', line)
            check(found, line)
            samples[found[1] + (found[2] or "")] = float(found[3])
    monitor = fields(drover, "/commands/monitor")
    for name, kind in types.items():
        if kind == "summary":
            check(f"cnt_{name}" in monitor and f"{name}_count" in samples and f"{name}_sum" in samples, name)
        else:
            check(name in monitor and name in samples, name)
    check_equal(samples["znode_count"], float(monitor["znode_count"]))
    check_equal((types["znode_count"], types["response_bytes"], types["updatelatency"]),
                ("gauge", "counter", "summary"))
    check(samples['updatelatency{quantile="0.99",}'] >= 0, "a quantile")


CASES = [the_page_links_to_every_command_of_java_and_the_newer_ones, commands_print_the_same_text, statistics_have_the_same_fields,
         the_digests_print_the_same_text, the_environment_has_the_same_keys,
         the_monitor_command_matches_mntr_and_java, system_properties_show_no_secret,
         commands_that_change_something_need_authentication, only_identities_in_the_root_acl_are_allowed,
         methods_are_answered_as_java_does, probes_answer, metrics_are_what_prometheus_reads,
         a_snapshot_replaces_what_another_server_holds, a_state_that_cannot_be_loaded_is_refused_and_changes_nothing,
         a_state_above_the_limit_is_refused_and_changes_nothing,
         nothing_is_acknowledged_after_a_restore, only_restores_that_succeed_count,
         a_snapshot_can_be_taken_and_started_from, resets_reset, shed_connections_reconnect]


def main():
    start_together(java, drover)
    for server in (java, drover):
        prepare(server)
    return run("http admin_server", CASES, sys.argv[1] if len(sys.argv) > 1 else None)


if __name__ == "__main__":
    sys.exit(main())
