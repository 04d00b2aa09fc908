#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Tests the features that `drover cli` has and ZooKeeper's shell has not, and bin/zkCli.sh.

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from servers import PROJECT_ROOT, DroverServer, MissingDependency, drover_binary, four_letter_word
from suite import check, check_equal, run
from tls_support import Pki, TlsDrover

server = DroverServer()
scratch = pathlib.Path(tempfile.mkdtemp(prefix="drover-cli-"))


def start(*words, address=None, command=None, env=None, stdin=""):
    where = ["-server", address or server.address]
    return subprocess.run([*(command or [drover_binary(), "cli", "--quiet"]), *where, *map(str, words)], text=True,
                          input=stdin, capture_output=True, timeout=60, check=False, env={**os.environ, **(env or {})})


def shell(*words, code=0, **options):
    done = start(*words, **options)
    check_equal(done.returncode, code, f"exit code of {words} ({done.stderr})")
    return done.stdout if code == 0 else done.stderr


def asked(*words):
    return [json.loads(line) for line in shell("--json", *words).splitlines()]


def make(*paths):
    for path in paths:
        shell("create", path, f"data of {path}")


def every_reading_command_answers_in_json():
    make("/json", "/json/kid")
    answer, = asked("get", "/json")
    check_equal((answer["path"], answer["data"], answer["stat"]["numChildren"]), ("/json", "data of /json", 1))
    check_equal(asked("ls", "/json")[0]["children"], ["kid"])
    check_equal([each["path"] for each in asked("ls", "-R", "/json")], ["/json", "/json/kid"])
    check_equal(asked("stat", "/json")[0]["stat"]["dataLength"], 13)
    check_equal(asked("getAcl", "/json")[0]["acl"], [{"scheme": "world", "id": "anyone", "permissions": "cdrwa"}])
    check_equal(asked("getAllChildrenNumber", "/json")[0]["count"], 1)
    check_equal(asked("getEphemerals")[0], {"ephemerals": []})
    check_equal(asked("whoami")[0]["identities"][0]["scheme"], "ip")
    check_equal(asked("sync", "/")[0], {"path": "/", "ok": True})
    check("drover" in asked("version")[0]["version"], "version")
    check("config" in asked("config")[0], "config")
    check_equal(asked("create", "-s", "/json/s-", "x")[0]["path"], "/json/s-0000000001")
    shell("setquota", "-n", "10", "/json")
    check_equal(asked("listquota", "/json")[0]["limits"]["count"], 10)
    check_equal(asked("history")[0]["history"][0]["number"], 0)
    check_equal(asked("printwatches")[0], {"printwatches": True})


def errors_in_json_have_a_code_and_say_what_to_do():
    error = json.loads(shell("get", "--json", "/nosuch", code=1))
    check_equal((error["error"], error["code"], error["path"]), ("NoNode", -101, "/nosuch"))
    check("`ls`" in error["hint"], error)
    for words in (["listquota", "/nosuch"], ["delquota", "/nosuch"], ["deleteall", "/zookeeper"]):
        check("message" in json.loads(shell("--json", *words, code=1)), words)
    check_equal(json.loads(shell("--json", "nosuch", code=127).splitlines()[-1])["error"], "Usage")


def bytes_that_are_not_text_are_preserved():
    shell("create", "/bytes")
    shell("set", "-b", "/bytes", "/wD+")
    check_equal(asked("get", "/bytes")[0]["data_base64"], "/wD+")
    check_equal(shell("get", "-b", "/bytes"), "/wD+\n")
    for dump in (shell("get", "-x", "/bytes"), shell("get", "-bx", "/bytes"), shell(stdin="get -x /bytes\n")):
        check_equal(dump.splitlines()[3], f"|00000000| ff 00 fe{' ' * 39} |...             |")
    shell("create", "/nothing")
    check("| 6e 75 6c 6c " in shell("get", "-x", "/nothing"), "no data is null")


def a_tree_is_drawn():
    make("/drawn", "/drawn/a", "/drawn/a/x", "/drawn/b")
    check_equal(shell("ls", "--tree", "/drawn"), "/drawn\n├─ a\n│  └─ x\n└─ b\n")


def find_looks_at_names_data_and_kinds():
    make("/find", "/find/one", "/find/one/two", "/find/other")
    check_equal(shell("find", "/find", "-name", "o*"), "/find/one\n/find/other\n")
    check_equal(shell("find", "/find", "-data", "e/two"), "/find/one/two\n")
    check_equal(shell("find", "/find", "-leaf"), "/find/one/two\n/find/other\n")
    check_equal(shell("find", "/find", "-empty"), "")
    lines = "create -e /find/mine\nfind / -ephemeral\n"
    check("/find/mine\n" in shell(stdin=lines), "ephemerals")
    check_equal(shell("find", "/nosuch", code=1), "Node does not exist: /nosuch\n")


def copies_have_data_and_acls():
    make("/cp", "/cp/kid")
    shell("setAcl", "/cp/kid", "world:anyone:ra")
    shell("cp", "-r", "/cp", "/copied")
    check_equal(shell("get", "/copied/kid"), "data of /cp/kid\n")
    check_equal(shell("getAcl", "/copied/kid"), "'world,'anyone\n: ra\n")
    check("-r" in start("cp", "/cp", "/alone").stderr, "a copy without what is below says so")
    check_equal(shell("ls", "/alone"), "[]\n")
    check("Node already exists: /copied" in shell("cp", "/cp", "/copied", code=1), "no overwriting")
    check("choose another target" in shell("cp", "-r", "/cp", "/cp/kid/inside", code=1), "no copy into itself")


def a_move_is_all_or_nothing():
    make("/mv", "/mv/kid", "/occupied")
    shell("mv", "/mv", "/moved")
    check_equal(shell("ls", "-R", "/moved"), "/moved\n/moved/kid\n")
    shell("stat", "/mv", code=1)
    shell("mv", "/moved", "/occupied", code=1)
    check_equal(shell("ls", "-R", "/moved"), "/moved\n/moved/kid\n")
    check("is ephemeral" in start(stdin="create -e /mine\nmv /mine /yours\n").stderr, "an ephemeral stays")


def what_is_exported_can_be_imported():
    make("/out", "/out/a", "/out/a/b")
    shell("create", "/out/nothing")
    shell("setAcl", "/out/a", "world:anyone:rwca")
    file = scratch / "out.jsonl"
    check_equal(start("export", "/out", file).stderr, "Exported 4 nodes\n")
    shell("import", file, "/in")
    check_equal(shell("get", "/in/a/b"), "data of /out/a/b\n")
    check_equal(shell("get", "/in/nothing"), "null\n")
    check_equal(shell("getAcl", "/in/a"), "'world,'anyone\n: crwa\n")
    refused = shell("import", file, "/in", code=1)
    check("Node already exists: /in" in refused and "-f" in refused, refused)
    shell("set", "/in", "changed")
    shell("import", "-f", file, "/in")
    check_equal(shell("get", "/in"), "data of /out\n")
    # Through a pipe.
    shell("import", "-", "/piped", stdin=shell("export", "/out", "-"))
    check_equal(shell("ls", "-R", "/piped").replace("/piped", "/out"), shell("ls", "-R", "/out"))


def a_damaged_export_changes_nothing():
    file = scratch / "damaged.jsonl"
    file.write_text('{"drover_export":1}\n{"path":"","data":"x"}\n{"path":"/kid"}\n')
    check("damaged.jsonl, line 3: it has no" in shell("import", file, "/damaged", code=1), "which line")
    shell("stat", "/damaged", code=1)
    check_equal(shell("export", "/nosuch", scratch / "none", code=1), "Node does not exist: /nosuch\n")
    check(not (scratch / "none").exists(), "a file of nothing")


def watch_follows_a_subtree():
    make("/live")
    follower = subprocess.Popen([drover_binary(), "cli", "--json", "-server", server.address, "watch", "-n", "4", "/live"],
                                stdout=subprocess.PIPE, text=True)
    # Wait until the server has the watch.
    while "/live" not in four_letter_word(server.port, "wchp"):
        check(follower.poll() is None, "it ended")
    make("/live/kid", "/live/kid/deep")
    shell("set", "/live", "new")
    shell("delete", "/live/kid/deep")
    out, _ = follower.communicate(timeout=30)
    events = [json.loads(line) for line in out.splitlines()]
    check_equal([(each["event"], each["path"]) for each in events],
                [("NodeCreated", "/live/kid"), ("NodeCreated", "/live/kid/deep"), ("NodeDataChanged", "/live"),
                 ("NodeDeleted", "/live/kid/deep")])
    check_equal(events[2]["data"], "new")


def edit_writes_what_the_editor_left_and_nothing_else():
    make("/edit")
    editor = scratch / "editor"
    editor.write_text("#!/bin/sh\nprintf 'edited\\n' >\"$1\"\n")
    editor.chmod(0o755)
    shell("edit", "/edit", env={"VISUAL": "", "EDITOR": str(editor)})
    check_equal(shell("get", "/edit"), "edited\n")
    unchanged = start("edit", "/edit", env={"VISUAL": "true"})
    check_equal(unchanged.stderr, "Not changed\n")
    # Another client is quicker.
    editor.write_text(f"#!/bin/sh\nprintf mine >\"$1\"\n'{drover_binary()}' cli -server {server.address} set /edit theirs\n")
    refused = shell("edit", "/edit", code=1, env={"VISUAL": str(editor)})
    check("version No is not valid : /edit" in refused, refused)
    kept = pathlib.Path(refused.split("your text is in ")[1].split(")")[0])
    check_equal(kept.read_text(), "mine")
    kept.unlink()
    check_equal(shell("get", "/edit"), "theirs\n")


def a_chroot_is_the_root():
    make("/chroot", "/chroot/kid")
    check_equal(shell("ls", "/", address=server.address + "/chroot"), "[kid]\n")
    check_equal(shell("config", address=server.address + "/chroot"), shell("config"), "the ensemble's, wherever one is")


def an_unreachable_server_is_reported_with_what_to_do():
    told = shell("-timeout", "300", "ls", "/", address="127.0.0.1:1", code=1)
    check("KeeperErrorCode = ConnectionLoss for /" in told and "-server HOST:PORT" in told, told)
    told = shell("ls", "/", address="127.0.0.1:port", code=1)
    check("servers are written HOST:PORT" in told or "Cannot connect" in told, told)


def the_script_takes_apaches_variables():
    script = [str(PROJECT_ROOT / "bin" / "zkCli.sh")]
    env = {"DROVER": drover_binary(), "CLIENT_JVMFLAGS": "-Xmx1g -Dsome.property=x", "JVMFLAGS": ""}
    make("/script")
    check("data of /script" in shell("get", "/script", command=script, env=env), "get")
    pki = Pki()
    with TlsDrover(pki) as secure:
        stores = pki.stores(key=pki.alice)
        flags = " ".join(f"-Dzookeeper.{key}={value}" for key, value in stores.items())
        env["CLIENT_JVMFLAGS"] = "-Dzookeeper.client.secure=true " + flags
        address = f"127.0.0.1:{secure.secure_port}"
        check("x509: CN=alice" in shell("whoami", command=script, env=env, address=address), "over TLS")
        properties = scratch / "client.properties"
        properties.write_text("zookeeper.client.secure=true\n" +
                              "".join(f"zookeeper.{key}={value}\n" for key, value in stores.items()))
        check("[zookeeper]" in shell("-client-configuration", properties, "ls", "/", address=address), "from a file")


CASES = [every_reading_command_answers_in_json, errors_in_json_have_a_code_and_say_what_to_do,
         bytes_that_are_not_text_are_preserved, a_tree_is_drawn, find_looks_at_names_data_and_kinds, copies_have_data_and_acls,
         a_move_is_all_or_nothing, what_is_exported_can_be_imported, a_damaged_export_changes_nothing,
         watch_follows_a_subtree, edit_writes_what_the_editor_left_and_nothing_else, a_chroot_is_the_root,
         an_unreachable_server_is_reported_with_what_to_do, the_script_takes_apaches_variables]

if __name__ == "__main__":
    try:
        server.start()
    except MissingDependency as missing:
        print(f"features: FAILED: {missing}\nfeatures: 0 passed, 1 failed")
        sys.exit(1)
    code = run("features", CASES)
    server.remove()
    shutil.rmtree(scratch)
    sys.exit(code)
