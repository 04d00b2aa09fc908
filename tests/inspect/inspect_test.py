#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# `drover inspect` on data directories that Apache ZooKeeper 3.8.0 and drover wrote: it must see the same
# transactions and nodes as Apache's own tools, and call every crafted damage what it is.

import hashlib
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "compat"))

import data_dir_test  # noqa: E402
import protocol as p  # noqa: E402
from servers import KINDS, DroverServer, drover_binary, java_binary, java_classpath  # noqa: E402
from suite import check, check_equal, run  # noqa: E402

TOOL_JARS = ("zookeeper.jar", "slf4j-simple.jar", "jackson-core.jar", "jackson-databind.jar", "jackson-annotations.jar")
QUIET = "-Dorg.slf4j.simpleLogger.defaultLogLevel=off"
# Several snapshots and logs come out of the workload. Java writes one at each start, and those it writes under load
# may hold a transaction more than the digest in them, or be torn when it is killed.
PROPERTIES = {"drover": {"zookeeper.snapCount": "600", "zookeeper.forceSync": "yes"},
              "java": {"zookeeper.forceSync": "yes"}}

workshop = pathlib.Path(tempfile.mkdtemp(prefix="inspect-test-"))
_built = {}


def inspect(*words, expect=0, answer=""):
    """The lines of stdout; the exit code must be the one expected."""
    done = subprocess.run([drover_binary(), "inspect", *map(str, words)], input=answer, capture_output=True,
                          text=True, timeout=120)
    check_equal(done.returncode, expect, f"exit code of inspect {' '.join(map(str, words))}\n{done.stdout}{done.stderr}")
    inspect.notes = done.stderr
    return done.stdout.splitlines()


def inspect_json(*words, expect=0):
    return [json.loads(line) for line in inspect(*words, "--json", expect=expect)]


def java_tool(name, *words):
    done = subprocess.run([java_binary(), QUIET, "-cp", java_classpath(*TOOL_JARS), name, *map(str, words)],
                          capture_output=True, timeout=120)
    check_equal(done.returncode, 0, f"exit code of {name}: {done.stderr.decode(errors='replace')[-500:]}")
    return done.stdout.decode("utf-8", errors="replace")


def built(kind):
    """A data directory of this server with every kind of node, made once; killed, not stopped."""
    if kind not in _built:
        server = KINDS[kind](config=data_dir_test.CONFIG, properties=PROPERTIES[kind])
        with server:
            data_dir_test.build(server)
            for n in range(3):  # Each run begins a log file.
                server.kill()
                server.start()
                session = data_dir_test.Session(server)
                session.pipeline([(p.CREATE, p.create_body(f"/run{n}-{i}", b"x" * i)) for i in range(150)])
            server.kill()
            _built[kind] = workshop / kind
            shutil.copytree(server.data_dir, _built[kind])
    return _built[kind]


def copy_of(kind, name):
    target = workshop / f"{name}-{kind}"
    shutil.copytree(built(kind), target)
    return target


def files(directory, prefix):
    """The files of the directory, oldest first."""
    found = [f for f in (directory / "version-2").iterdir() if re.fullmatch(prefix + r"\.[0-9a-f]+", f.name)]
    return sorted(found, key=lambda f: int(f.name.split(".")[1], 16))


def contents(directory):
    return {f.name: hashlib.sha256(f.read_bytes()).hexdigest() for f in (directory / "version-2").iterdir()
            if f.is_file() and f.name != "drover.lock"}


def result(directory, expect=0):
    lines = inspect_json("verify", directory, expect=expect)
    by_kind = {}
    for line in lines:
        by_kind.setdefault(line["kind"], []).append(line)
    return by_kind["result"][0], by_kind


def keep_only_first_snapshot(directory):
    for snapshot in files(directory, "snapshot")[1:]:
        snapshot.unlink()


def for_both(case):
    def java():
        case("java")

    def drover():
        case("drover")
    java.__name__ = f"{case.__name__}_java"
    drover.__name__ = f"{case.__name__}_drover"
    return [java, drover]


# --- the same as Apache's tools

JAVA_TXN = re.compile(r"session (0x\w+) cxid (0x\w+) zxid (0x\w+) (\w+) ?([^,\n]*)")


def log_shows_the_transactions_that_javas_toolkit_shows(kind):
    for log in files(built(kind), "log"):
        text = java_tool("org.apache.zookeeper.server.persistence.TxnLogToolkit", log)
        theirs = [(session, int(cxid, 16), zxid, op, rest) for session, cxid, zxid, op, rest in JAVA_TXN.findall(text)]
        ours = inspect_json("log", log)
        check_equal([(t["session"], t["cxid"], t["zxid"], t["type"]) for t in ours], [t[:4] for t in theirs], log.name)
        for mine, their in zip(ours, theirs):
            if mine["type"] in ("create", "delete", "setData", "createContainer", "createTtl", "setACL"):
                check_equal(mine["path"], their[4].lstrip("'"), f"path of {mine['zxid']}")
        check(f"EOF reached after {len(ours)} txns." in text, "the toolkit counts the same number")


NODE_FIELDS = {"cZxid": "czxid", "mZxid": "mzxid", "pZxid": "pzxid", "cversion": "cversion", "dataVersion": "version",
               "aclVersion": "aversion", "ephemeralOwner": "ephemeralOwner", "dataLength": "dataBytes"}


def java_nodes(snapshot):
    text = java_tool("org.apache.zookeeper.server.SnapshotFormatter", snapshot)
    nodes = {}
    for block in text.split("----\n")[1:]:
        lines = block.splitlines()
        if not lines or not lines[0].startswith("/"):
            continue
        fields = dict(line.strip().split(" = ", 1) for line in lines[1:] if " = " in line)
        nodes[lines[0]] = {ours: int(fields.get(theirs, "0"), 16 if fields.get(theirs, "").startswith("0x") else 10)
                           for theirs, ours in NODE_FIELDS.items()}
    return nodes


def our_nodes(lines):
    def number(value):
        return int(value, 16) if isinstance(value, str) else value
    return {n["path"]: {ours: number(n[ours]) for ours in NODE_FIELDS.values()} for n in lines if n["kind"] == "node"}


def snapshot_shows_the_nodes_that_javas_formatter_shows(kind):
    newest = files(built(kind), "snapshot")[-1]
    ours, theirs = our_nodes(inspect_json("snapshot", newest, "--nodes")), java_nodes(newest)
    check(len(theirs) > 500, f"the formatter shows {len(theirs)} nodes")
    for path, fields in theirs.items():
        check_equal(ours[path], fields, path)
    check_equal(len(ours), len(theirs), "number of nodes")


def java_reads_a_snapshot_of_a_past_state(kind):
    last = int(inspect_json("log", built(kind))[-1]["zxid"], 16)
    target = workshop / f"past-{kind}" / f"snapshot.{last - 300:x}"
    target.parent.mkdir()
    inspect("at", built(kind), last - 300, "--write", target)
    check_equal(our_nodes(inspect_json("at", built(kind), last - 300)), java_nodes(target), "the nodes of the past")
    inspect("at", built(kind), last - 300, "--write", target, expect=1)
    check("File exists" in inspect.notes, inspect.notes)


# --- what only we show

def verify_finds_nothing_wrong_with_what_a_killed_server_left(kind):
    found, kinds = result(built(kind))
    check_equal((found["fine"], found["outcome"], found["digestsCompared"]), (True, "recovered", True))
    check(len(kinds["snapshot"]) > 1 and len(kinds["log"]) > 1, "there are several snapshots and logs")
    check_equal({f["verdict"] for f in kinds["snapshot"] + kinds["log"]}, {"ok"})


def history_shows_every_version_of_a_node(kind):
    changes = inspect_json("history", built(kind), "/wide/00007")
    check_equal([c["operation"] for c in changes], ["create"] + ["setData"] * (len(changes) - 1))
    check_equal([c["after"]["version"] for c in changes], list(range(len(changes))))
    check_equal([c["before"] for c in changes[1:]], [c["after"] for c in changes[:-1]], "what was before")
    check_equal(len(changes), 9)
    gone = inspect_json("history", built(kind), "/ephemeral/of-a-closed-session")
    check_equal([c["operation"] for c in gone], ["create", "closeSession"])
    multi = inspect_json("history", built(kind), "/multi")
    check_equal([(c["operation"], c["multi"], c["after"]["data"]) for c in multi],
                [("create", True, "m"), ("setData", True, "mm")])


def purged_files_are_reported_as_missing():
    directory = copy_of("java", "purged")
    snapshots, logs = files(directory, "snapshot"), files(directory, "log")
    for old in snapshots[:-1] + logs[:-1]:
        old.unlink()
    changes = inspect_json("history", directory, "/wide/00007")
    check_equal([(c["operation"], c["after"]["version"]) for c in changes], [("snapshot", 8)])
    check(f"from {snapshots[-1].name} on" in inspect.notes, inspect.notes)
    inspect("at", directory, 100, expect=1)
    check(f"the oldest is {snapshots[-1].name}" in inspect.notes, inspect.notes)


def at_shows_the_tree_between_two_changes(kind):
    changes = inspect_json("history", built(kind), "/wide/00007")
    for change in changes[:3]:
        node = inspect_json("at", built(kind), change["zxid"], "/wide/00007")[0]
        check_equal((node["version"], node["mzxid"]), (change["after"]["version"], change["zxid"]))
    inspect("at", built(kind), int(changes[0]["zxid"], 16) - 1, "/wide/00007", expect=1)
    inspect("at", built(kind), "0x7fffffff", expect=1)
    check("the history ends at" in inspect.notes, inspect.notes)


def diff_finds_nothing_between_a_directory_and_a_snapshot_written_from_it(kind):
    last = inspect_json("log", built(kind))[-1]["zxid"]
    target = workshop / f"now-{kind}"
    inspect("at", built(kind), last, "--write", target)
    check_equal(inspect_json("diff", built(kind), target)[-1]["kind"], "summary")
    older = files(built(kind), "snapshot")[0]
    kinds = {line["kind"] for line in inspect_json("diff", older, target, expect=1)}
    check({"added", "summary"} <= kinds and "removed" not in kinds, f"from the oldest snapshot on: {kinds}")


def diff_finds_logs_in_a_separate_directory(kind):
    apart, logs = copy_of(kind, "apart"), workshop / f"logs-apart-{kind}" / "version-2"
    logs.mkdir(parents=True)
    for log in [*files(apart, "log"), *(apart / "version-2").glob("drover.links")]:
        log.rename(logs / log.name)
    inspect("diff", built(kind), apart, "--log-dir", built(kind), "--log-dir", logs.parent)
    inspect("diff", files(built(kind), "snapshot")[0], apart, "--log-dir", logs.parent, "--summary", expect=1)
    # Without its logs it is an older state, or none at all.
    inspect("diff", built(kind), apart, expect=1)
    for words in ((built(kind), apart, "--log-dir", logs), (files(apart, "snapshot")[0], apart, *["--log-dir", logs] * 2)):
        inspect("diff", *words, expect=2)
        check("once for each" in inspect.notes, inspect.notes)


def two_servers_reach_the_same_state_with_the_same_requests():
    lines = inspect_json("diff", built("java"), built("drover"), "--ignore-stat", expect=1)
    for line in lines:
        if line["kind"] in ("added", "removed"):
            raise AssertionError(f"a node of one only: {line}")
        if line["kind"] == "changed":
            check_equal(set(line["fields"]), {"ephemeralOwner"}, line["path"])


def compressed_snapshots_are_read(kind):
    for method, suffix in (("gz", "gz"),) + ((("snappy", "snappy"),) if kind == "drover" else ()):
        often = {} if kind == "java" else {"zookeeper.snapCount": "60"}
        server = KINDS[kind](properties={"zookeeper.snapshot.compression.method": method, **often})
        with server:
            session = data_dir_test.Session(server)
            session.pipeline([(p.CREATE, p.create_body(f"/n{n}", b"x" * n)) for n in range(300)])
            server.stop()
            server.start()
            server.stop()
            names = [f.name for f in (server.data_dir / "version-2").iterdir() if f.name.endswith("." + suffix)]
            check(names, f"no .{suffix} snapshot")
            found, _ = result(server.data_dir)
            check_equal((found["fine"], found["nodes"]), (True, 304))


# --- damage

def flip(path, offset):
    data = bytearray(path.read_bytes())
    data[offset] ^= 0x10
    path.write_bytes(data)


def end_of_records(log):
    """The offset behind the last record, computed from the format's description."""
    data, at = log.read_bytes(), 16
    while at + 12 <= len(data) and (length := int.from_bytes(data[at + 8:at + 12], "big")) > 0:
        at += 13 + length
    return at


def middle_of_records(log):
    return end_of_records(log) // 2


def a_flipped_bit_in_the_log_is_damage_and_repair_asks_before_it_loses_anything(kind):
    directory = copy_of(kind, "flip")
    keep_only_first_snapshot(directory)
    log = files(directory, "log")[1]
    flip(log, middle_of_records(log))
    found, kinds = result(directory, expect=1)
    check_equal((found["outcome"], found["fine"]), ("damaged", False))
    bad = [f for f in kinds["log"] if f["verdict"] == "BAD"]
    check_equal([f["file"] for f in bad][:1], [log.name])
    check("complete records follow" in bad[0]["note"], bad[0]["note"])
    before = contents(directory)
    lines = inspect_json("repair", directory, "--yes", expect=1)
    check_equal(lines[-1]["kind"], "refused")
    check_equal(contents(directory), before, "what was there")
    backup = workshop / f"backup-{kind}"
    lines = inspect_json("repair", directory, "--yes", "--accept-loss", "--backup", backup)
    loss = next(line["text"] for line in lines if line["kind"] == "loss")
    check(found["last"] in loss and found["highest"] in loss, loss)
    check_equal(contents(backup), before, "the copy")
    after, _ = result(directory)
    check_equal((after["outcome"], after["last"]), ("recovered", found["last"]))
    with DroverServer(data_dir=directory):
        pass


def a_zeroed_sector_is_damage(kind):
    directory = copy_of(kind, "zero")
    keep_only_first_snapshot(directory)
    log = files(directory, "log")[0]
    data = bytearray(log.read_bytes())
    start = middle_of_records(log) // 512 * 512
    data[start:start + 512] = bytes(512)
    log.write_bytes(data)
    found, _ = result(directory, expect=1)
    check_equal(found["outcome"], "damaged")
    check(log.name in found["damage"], found["damage"])
    inspect("log", directory, expect=1)
    check("breaks off at byte" in inspect.notes, inspect.notes)


def a_missing_log_is_a_hole(kind):
    directory = copy_of(kind, "missing")
    keep_only_first_snapshot(directory)
    logs = files(directory, "log")
    logs[1].unlink()
    found, kinds = result(directory, expect=1)
    check_equal(found["outcome"], "damaged")
    check(any(f["file"] == logs[2].name and "does not follow" in f["note"] for f in kinds["log"]), kinds["log"])
    inspect("repair", directory, "--yes", expect=1)


def a_gap_that_a_snapshot_covers_is_only_a_note(kind):
    directory = copy_of(kind, "gap")
    last = result(directory)[0]["last"]
    inspect("at", directory, last, "--write", directory / "version-2" / f"snapshot.{last[2:]}")
    files(directory, "log")[1].unlink()
    found, kinds = result(directory)
    check_equal(found["outcome"], "recovered")
    check(any(f["verdict"] == "note" and "does not follow" in f["note"] for f in kinds["log"]), kinds["log"])


def a_torn_tail_is_not_damage_and_is_truncated(kind):
    directory = copy_of(kind, "torn")
    links = directory / "version-2" / "drover.links"
    links.unlink(missing_ok=True)  # which knows that the last record was synced
    log = files(directory, "log")[-1]
    end = end_of_records(log)
    data = bytearray(log.read_bytes())
    data[end - 20:end] = bytes(20)
    log.write_bytes(data)
    found, _ = result(directory)
    check_equal((found["fine"], found["tornTail"]), (True, True))
    before = contents(directory)
    lines = inspect_json("repair", directory, "--yes")
    check_equal([line["kind"] for line in lines], ["step", "copied", "result"])
    copies = list(workshop.glob(f"torn-{kind}.before-repair-*"))
    check_equal(len(copies), 1, "copies")
    check_equal(contents(copies[0]), before, "the copy")
    found, _ = result(directory)
    check_equal((found["fine"], found["tornTail"]), (True, False))


def a_synced_record_that_is_torn_is_damage():
    directory = copy_of("drover", "acknowledged")
    log = files(directory, "log")[-1]
    end = end_of_records(log)
    data = bytearray(log.read_bytes())
    data[end - 20:end] = bytes(20)
    log.write_bytes(data)
    found, _ = result(directory, expect=1)
    check_equal(found["outcome"], "damaged")
    check("durable" in found["damage"], found["damage"])


def a_corrupt_snapshot_is_set_aside_and_nothing_is_lost(kind):
    directory = copy_of(kind, "snapshot")
    last = result(directory)[0]["last"]
    newest = files(directory, "snapshot")[-1]
    flip(newest, newest.stat().st_size // 2)
    found, kinds = result(directory, expect=1)
    check_equal((found["outcome"], found["last"]), ("recovered", last))
    check_equal([f["file"] for f in kinds["snapshot"] if f["verdict"] == "BAD"], [newest.name])
    inspect("snapshot", newest, expect=1)
    inspect("repair", directory, expect=1, answer="no\n")
    check(newest.exists(), "nothing changes if the operator says no")
    inspect("repair", directory, answer="yes\n")
    check(not newest.exists(), "the snapshot was set aside")
    check_equal((result(directory)[0]["fine"], result(directory)[0]["last"]), (True, last))


def repair_leaves_a_running_server_alone(kind):
    with KINDS[kind]() as server:
        data_dir_test.Session(server).create("/in-use")
        lines = inspect("repair", server.data_dir, "--yes", expect=1)
        check_equal(lines, [])
        check("in use" in inspect.notes, inspect.notes)


def wrong_arguments_are_a_usage_error():
    inspect("log", expect=2)
    inspect("nonsense", expect=2)
    inspect("log", "x", "--type", "nosuch", expect=2)
    inspect("at", "x", "0xzz", expect=2)
    inspect("log", "x", "--path", "a/", expect=2)
    inspect("verify", workshop / "nosuch", expect=1)
    empty = workshop / "empty"
    empty.mkdir()
    check_equal(result(empty, expect=1)[0]["outcome"], "empty")
    for command in ("log", "snapshot", "diff", "verify", "history", "at", "repair"):
        check(any("Usage" in line for line in inspect(command, "--help")), command)


def files_may_have_any_name():
    for kind in PROPERTIES:
        for prefix, name in (("log", "a-copy"), ("snapshot", "another")):
            shutil.copy(files(built(kind), prefix)[-1], workshop / name)
        check(len(inspect_json("log", workshop / "a-copy")) > 100, "all transactions of the copy")
        check(inspect_json("snapshot", workshop / "another")[-1]["nodes"] > 100, "all nodes of the copy")
        inspect("log", workshop / "another", expect=1)
        inspect("snapshot", workshop / "a-copy", expect=1)


def log_shows_only_the_requested_transactions():
    directory = built("drover")
    everything = inspect_json("log", directory)
    first, last = everything[100]["zxid"], everything[200]["zxid"]
    check_equal(inspect_json("log", directory, "--from", first, "--to", last), everything[100:201])
    check_equal({t["type"] for t in inspect_json("log", "--type", "multi", "--type", "error", directory)}, {"multi", "error"})
    below = inspect_json("log", directory, "--path", "/deep")
    check_equal(len(below), 101)
    session = everything[-1]["session"]
    check(all(t["session"] == session for t in inspect_json("log", directory, "--session", session)), "one session's")
    stats = inspect_json("log", directory, "--stats")[0]
    check_equal((stats["transactions"], stats["first"], stats["last"]), (len(everything), "0x1", everything[-1]["zxid"]))


CASES = [
    *for_both(log_shows_the_transactions_that_javas_toolkit_shows),
    *for_both(snapshot_shows_the_nodes_that_javas_formatter_shows),
    *for_both(java_reads_a_snapshot_of_a_past_state),
    *for_both(verify_finds_nothing_wrong_with_what_a_killed_server_left),
    *for_both(history_shows_every_version_of_a_node),
    purged_files_are_reported_as_missing,
    *for_both(at_shows_the_tree_between_two_changes),
    *for_both(diff_finds_nothing_between_a_directory_and_a_snapshot_written_from_it),
    *for_both(diff_finds_logs_in_a_separate_directory),
    two_servers_reach_the_same_state_with_the_same_requests,
    *for_both(compressed_snapshots_are_read),
    *for_both(a_flipped_bit_in_the_log_is_damage_and_repair_asks_before_it_loses_anything),
    *for_both(a_zeroed_sector_is_damage),
    *for_both(a_missing_log_is_a_hole),
    *for_both(a_gap_that_a_snapshot_covers_is_only_a_note),
    *for_both(a_torn_tail_is_not_damage_and_is_truncated),
    a_synced_record_that_is_torn_is_damage,
    *for_both(a_corrupt_snapshot_is_set_aside_and_nothing_is_lost),
    *for_both(repair_leaves_a_running_server_alone),
    wrong_arguments_are_a_usage_error,
    log_shows_only_the_requested_transactions,
    files_may_have_any_name,
]

if __name__ == "__main__":
    try:
        sys.exit(run("inspect", CASES, only=sys.argv[1] if len(sys.argv) > 1 else None))
    finally:
        shutil.rmtree(workshop, ignore_errors=True)
