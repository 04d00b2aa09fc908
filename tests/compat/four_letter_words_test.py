#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Compares the four-letter words, which monitoring parses with regular expressions. Both servers get the same
# sessions, watches and ephemerals. The answers must be equal, except for values of one process such as its pid.
#
#   four_letter_words_test.py              Apache ZooKeeper 3.8.0 and drover
#   four_letter_words_test.py java39       3.9 and drover
#   four_letter_words_test.py java java    the test of the test

import re
import sys

import maven
import protocol as p
from servers import KINDS, MissingDependency, four_letter_word, start_together
from suite import check, check_equal, run

# One metric for each child of the root that was ever used: a number without a bound (docs/compatibility.md).
LEFT_OUT = re.compile(r"_(read|write)_per_namespace$")
# The tests before this one have read and written: whatever is still 0 is not counted.
COUNTED_METRICS = """
    zk_cnt_readlatency zk_cnt_updatelatency zk_max_client_response_size zk_min_client_response_size
    zk_last_client_response_size zk_response_bytes zk_prep_processor_request_queued
    zk_sync_processor_request_queued zk_cnt_sync_processor_batch_size zk_max_sync_processor_batch_size
    zk_cnt_sync_processor_queue_and_flush_time_ms zk_cnt_fsynctime zk_cnt_dbinittime
    zk_cnt_startup_txns_load_time zk_cnt_startup_snap_load_time zk_connection_request_count
    zk_bytes_received_count zk_watch_bytes zk_cnt_node_changed_watch_count
    zk_outstanding_changes_queued zk_outstanding_changes_removed zk_cnt_prep_processor_queue_size
    zk_cnt_prep_processor_queue_time_ms zk_cnt_prep_process_time zk_cnt_proposal_process_time
    zk_cnt_sync_processor_queue_size zk_cnt_sync_processor_queue_time_ms zk_cnt_sync_process_time
    zk_cnt_sync_processor_queue_flush_time_ms zk_cnt_propagation_latency
""".split()
EXACT_METRICS = "zk_server_state zk_znode_count zk_watch_count zk_ephemerals_count zk_global_sessions".split()

NEW_IN_3_9 = {f"zk_{name}" for name in (
    "restore_error_count", "restore_rate_limited_count", "snapshot_error_count", "snapshot_rate_limited_count",
    *(f"{part}_restore_time" for part in ("avg", "min", "max", "cnt", "sum")))}
SKIPPED = 77

servers = []
clients = []


def prepare(server):
    """Two sessions: one with ephemerals and watches, one idle."""
    session = p.Connection(server.port)
    session.handshake(timeout_ms=30000)
    session.call(1, p.CREATE, p.create_body("/a", b"data"))
    session.call(2, p.CREATE, p.create_body("/a/e1", b"data", flags=p.EPHEMERAL))
    session.call(3, p.CREATE, p.create_body("/a/e2", b"data", flags=p.EPHEMERAL))
    session.call(4, p.GET_DATA, p.path_watch_body("/a", True))
    session.call(5, p.EXISTS, p.path_watch_body("/nosuch", True))
    session.call(6, p.GET_CHILDREN, p.path_watch_body("/a", True))
    # A watch that fires is counted, and then set again.
    session.call(7, p.SET_DATA, p.set_data_body("/a", b"data"))
    session.call(8, p.GET_DATA, p.path_watch_body("/a", True))
    idle = p.Connection(server.port)
    idle.handshake(timeout_ms=20000)
    return [session, idle]


def neutral(server, connections, text):
    text = text.replace(str(server.data_dir), "DATA").replace(str(server.port), "PORT")
    for number, connection in enumerate(connections):
        text = text.replace(f"0x{connection.session_id:x}", f"SESSION{number}")
        text = text.replace(f":{connection.socket.getsockname()[1]}", f":CLIENT{number}")
    text = re.sub(r"(?m)^(\d+) expire at .*:$", r"\1 expire at TIME:", text)
    return re.sub(r"/127\.0\.0\.1:\d+\b", "/127.0.0.1:ASKER", text)


def answers(word):
    return [neutral(server, connections, four_letter_word(server.port, word))
            for server, connections in zip(servers, clients)]


def check_same(word, change=lambda text: text):
    java, other = [change(text) for text in answers(word)]
    check(java, f"the Java server says nothing to {word}")
    check_equal(other, java, f"answer to {word}")


def fixed_answers_are_the_same():
    for word in ("ruok", "isro", "gtmk", "wchs"):
        check_same(word)


def conf_shows_the_configuration():
    check_same("conf", lambda text: re.sub(r"(?m)^(dataDirSize|dataLogSize)=\d+$", r"\1=SIZE", text))


def srvr_and_stat_have_the_same_lines():
    def change(text):
        text = re.sub(r"(?m)^Zookeeper version: 3\.\d+\.\d+\S*, built on .*$", "VERSION", text)
        text = re.sub(r"(?m)^Latency min/avg/max: \d+/\d+(\.\d+)?/\d+$", "LATENCY", text)
        text = re.sub(r"(?m)^(Received|Sent): \d+$", r"\1", text)
        # Interest ops and counters of a connection.
        text = re.sub(r"\[\d\]\(queued=\d+,recved=\d+,sent=\d+\)", "[](COUNTERS)", text)
        head, _, rest = text.partition("Clients:\n")
        lines, _, tail = rest.partition("\n\n")
        return head, sorted(lines.split("\n")), tail

    check_same("srvr", change)
    check_same("stat", change)


def cons_describes_every_connection():
    def change(text):
        text = re.sub(r"\[\d\]", "[]", text)
        text = re.sub(r"(queued|recved|sent|est|lresp|llat|minlat|avglat|maxlat)=\d+", r"\1=N", text)
        return sorted(text.split("\n"))

    check_same("cons", change)


def resetting_statistics_is_confirmed_and_clears_them():
    check_same("srst")
    check_same("crst")
    cons_describes_every_connection()


def dump_lists_sessions_and_ephemerals():
    def change(text):
        sessions, _, rest = text.partition("ephemeral nodes dump:\n")
        ephemerals, _, connections = rest.partition("Connections dump:\n")
        # How sessions fall into expiry buckets depends on the millisecond.
        found = sorted(re.findall(r"SESSION\d", sessions)), sorted(re.findall(r"sessionId: \w+", connections))
        return sessions.split("\n")[0], found, sorted(ephemerals.split("\n")), connections.split(" ")[0]

    check_same("dump", change)


def watches_are_listed_by_session_and_by_path():
    def blocks(text):
        found = [block.split("\n") for block in re.split(r"\n(?!\t)", text)]
        return sorted((lines[0], sorted(lines[1:])) for lines in found)

    check_same("wchc", blocks)
    check_same("wchp", blocks)


def dirs_counts_bytes():
    check_same("dirs", lambda text: re.sub(r"\d+", "N", text))


def envi_begins_as_tools_expect():
    for text in answers("envi"):
        lines = text.split("\n")
        check_equal(lines[0], "Environment:", "first line of envi")
        check(re.match(r"zookeeper\.version=3\.\d+\.\d+", lines[1]), lines[1])
        keys = {line.partition("=")[0] for line in lines[1:]}
        missing = {"host.name", "os.name", "os.arch", "os.version", "user.name", "user.home"} - keys
        check_equal(missing, set(), "keys that envi lacks")


def mntr_has_every_metric_of_java():
    texts = answers("mntr")
    metrics = [dict(line.split("\t", 1) for line in text.strip().split("\n")) for text in texts]
    missing = [name for name in metrics[0] if name not in metrics[1] and not LEFT_OUT.search(name)]
    check(not missing, f"mntr lacks {missing}")
    for name in EXACT_METRICS:
        check_equal(metrics[1][name], metrics[0][name], name)
    for name in COUNTED_METRICS:
        check(name in metrics[0], f"not even the Java server has {name}")
        check(float(metrics[1].get(name, 0)) > 0, f"{name} is {metrics[1].get(name)} after requests of all kinds")
    check_equal(metrics[1]["zk_outstanding_changes_queued"], metrics[0]["zk_outstanding_changes_queued"], "changes")
    strange = set(metrics[1]) - set(metrics[0]) - NEW_IN_3_9 - {"zk_disk_full_refusals"}
    strange = {name for name in strange if not name.startswith("zk_client_")}  # of limits that Java does not have
    check(not strange, f"metrics that Java does not have: {sorted(strange)}")
    first = [[line.split("\t")[0] for line in text.split("\n")[:2]] for text in texts]
    check_equal(first[1], first[0], "first lines")


def a_word_that_is_not_allowed_is_refused_politely():
    kinds = [type(server) for server in servers]
    restricted = [kind(properties={"zookeeper.4lw.commands.whitelist": "srvr"}) for kind in kinds]
    try:
        start_together(*restricted)
        for word in ("ruok", "mntr", "wchc", "stmk"):  # The last one without the mask that belongs to it.
            java, other = [four_letter_word(server.port, word) for server in restricted]
            check_equal(other, java, f"answer to {word}, which is not on the list")
    finally:
        for server in restricted:
            server.remove()


CASES = [
    fixed_answers_are_the_same, conf_shows_the_configuration, srvr_and_stat_have_the_same_lines,
    cons_describes_every_connection, dump_lists_sessions_and_ephemerals,
    watches_are_listed_by_session_and_by_path, dirs_counts_bytes, envi_begins_as_tools_expect,
    mntr_has_every_metric_of_java, resetting_statistics_is_confirmed_and_clears_them,
    a_word_that_is_not_allowed_is_refused_politely,
]


def main():
    names = [*sys.argv[1:3], *("java", "drover")[len(sys.argv) - 1:]]
    servers.extend(KINDS[name]() for name in names)
    try:
        start_together(*servers)
        clients.extend(map(prepare, servers))
        return run("four_letter_words", CASES)
    except MissingDependency as missing:
        print(f"four_letter_words: FAILED: {missing}\nfour_letter_words: 0 passed, 1 failed")
        return 1
    except maven.Unreachable as reason:
        print(f"four_letter_words: SKIPPED: no Apache ZooKeeper {maven.RELEASE}: {reason}")
        return SKIPPED
    finally:
        for server in servers:
            server.remove()


if __name__ == "__main__":
    sys.exit(main())
