#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Apache's command line against both servers: the same script, and what it prints must be the same but for
# addresses, times and session ids. Watch events are printed by another thread at a moment of its own; they
# are compared without their position.

import re
import subprocess
import sys

from servers import (JVM_FLAGS, KINDS, MissingDependency, java_binary, java_classpath, start_together)
from suite import check, check_equal, run

SCRIPTS = {
    "nodes": """
        ls /
        create /a hello
        create /a again
        create /a/b "two words"
        create /none/kid x
        create -s /a/s- seq
        create -s /a/s- seq
        create -e /eph mine
        create /eph/kid x
        create -c /container
        create -t 100000 /ttl data
        create -s -e /a/se- both
        create /null
        get /a
        get -s /a
        get /a/b
        get /null
        get /nosuch
        stat /a
        stat /nosuch
        ls -s /a
        ls -R /
        ls /nosuch
        set /a changed
        set -s /a again
        set -v 0 /a wrong
        set -v 2 /a right
        set /nosuch x
        getEphemerals
        getEphemerals /eph
        getEphemerals /a
        getAllChildrenNumber /
        getAllChildrenNumber /a
        getAllChildrenNumber /nosuch
        delete -v 9 /a/b
        delete /a
        delete /a/b
        delete /nosuch
        deleteall /a
        deleteall /nosuch
        ls /
        sync /
        version
        history
        """,
    "paths": """
        create relative x
        create / x
        create /a//b x
        create /a/ x
        create /a/./b x
        get relative
        delete /zookeeper
        create /zookeeper/mine x
        ls /zookeeper
        delete /zookeeper/mine
        create /日本 ключ
        get /日本
        ls /
        nosuchcommand
        create
        get
        """,
    "acls": """
        create /open data
        getAcl /open
        setAcl /open world:anyone:r
        getAcl -s /open
        set /open x
        create /open/kid x
        setAcl /open world:anyone:cdrwa
        addauth digest ann:apple
        whoami
        create /mine secret auth::cdrwa
        getAcl /mine
        create /digest x digest:bob:hash:rw,world:anyone:r
        getAcl /digest
        set /digest y
        create /bad x nosuch:x:r
        create /bad x world:bob:r
        create /ip x ip:127.0.0.1:cdrwa
        getAcl /ip
        create /tree
        create /tree/kid
        setAcl -R /tree world:anyone:ra
        getAcl /tree/kid
        setAcl -v 7 /tree world:anyone:r
        delete /tree/kid
        addauth digest super:admin
        deleteall /tree
        get /zookeeper/config
        config
        reconfig -remove 1
        """,
    "quotas": """
        create /q data
        setquota -n 3 /q
        listquota /q
        create /q/a 12345
        create /q/b
        create /q/c
        listquota /q
        setquota -b 10 /q
        setquota -N 5 /q
        setquota -B 100 /q
        listquota /q
        ls -R /zookeeper
        delquota -n /q
        listquota /q
        delquota /q
        listquota /q
        setquota -n 1 /nosuch
        setquota -n 1 /q/a
        setquota -n 1 /q
        """,
    "watches": """
        create /w
        get -w /w
        ls -w /w
        stat -w /later
        set /w 1
        set /w 2
        create /w/kid
        create /later
        addWatch -m PERSISTENT /p
        create /p
        set /p x
        create /p/kid
        delete /p/kid
        removewatches /p
        removewatches /p
        addWatch /r
        create /r
        create /r/one
        create /r/one/two
        set /r/one/two x
        deleteall /r
        get -w /w
        removewatches /w -d
        set /w 3
        removewatches /w -c
        """ + "        ls /w\n" * 40,  # Events are printed by another thread, which `quit` does not wait for.
    "printwatches": """
        create /silent
        printwatches off
        get -w /silent
        set /silent 4
        printwatches
        """,
}
TRIES = 4
CLEAN_UP = "\n".join(f"deleteall {path}" for path in ("/w", "/later", "/p", "/r"))
ONE_SHOTS = [["ls", "/"], ["get", "/nosuch"], ["create", "/one", "shot"], ["get", "-s", "/one"], ["nosuch"]]

servers = [KINDS["java"](), KINDS["drover"]()]


def neutral(text, server):
    text = text.replace(server.address, "SERVER")
    text = re.sub(r"(?m)^([cm]time) = \w{3} \w{3} .*$", r"\1 = TIME", text)
    text = re.sub(r"ephemeralOwner = 0x[0-9a-f]{9,}", "ephemeralOwner = SESSION", text)
    # Ephemerals and identities come in hash order.
    text = re.sub(r"(?m)^\[(/.*)\]$", lambda paths: str(sorted(paths.group(1).split(", "))), text)
    return re.sub(r"(?m)(^(?:ip|digest|super): .*\n)+",
                  lambda lines: "".join(sorted(lines.group().splitlines(True))), text)


def without_events(text):
    # Whether the last event, "Closed", still gets printed is a race inside the client.
    events = re.findall(r"WatchedEvent state:(?!Closed).*", text)
    return re.sub(r"\n?WATCHER::\n\nWatchedEvent .*\n?", "", text).split("\n"), sorted(events)


def zkcli(server, script=None, command=()):
    classpath = java_classpath("zookeeper.jar", "slf4j-nop.jar")
    lines = "".join(line.strip() + "\n" for line in (script or "").strip().splitlines())
    result = subprocess.run(
        [java_binary(), *JVM_FLAGS, "-Dfile.encoding=UTF-8", "-cp", classpath,
         "org.apache.zookeeper.ZooKeeperMain", "-waitforconnection", "-server", server.address, *command],
        input=lines + ("quit\n" if script else ""), capture_output=True, text=True, timeout=120, check=False)
    output, events = without_events(neutral(result.stdout, server))
    return {"stdout": [line for line in output if line], "stderr": neutral(result.stderr, server).split("\n"),
            "events": events, "exit code": result.returncode}


def check_same(what, expected, actual):
    for stream, lines in expected.items():
        if lines != actual[stream] and isinstance(lines, list):
            for number, (mine, theirs) in enumerate(zip(lines + ["(end)"], actual[stream] + ["(end)"])):
                check_equal(theirs, mine, f"{what}, {stream} line {number + 1}")
        check_equal(actual[stream], lines, f"{what}, {stream}")


def case(name):
    def compare():
        # The shell prints events from a thread of its own, between or even inside other lines. A server that
        # sends the wrong ones fails every time; what two threads print in an unlucky order does not.
        for attempt in range(TRIES):
            for server in servers if attempt else ():
                zkcli(server, CLEAN_UP)
            expected, actual = [zkcli(server, SCRIPTS[name]) for server in servers]
            check(len(expected["stdout"]) > 3, f"zkCli printed nothing: {expected}")
            try:
                return check_same(name, expected, actual)
            except AssertionError:
                if name != "watches" or attempt + 1 == TRIES:
                    raise

    compare.__name__ = f"script_{name}_prints_the_same"
    return compare


def single_commands_end_with_the_same_code():
    for command in ONE_SHOTS:
        expected, actual = [zkcli(server, command=command) for server in servers]
        check_same(" ".join(command), expected, actual)


if __name__ == "__main__":
    if sys.argv[1:] == ["--java-only"]:  # The test of the test.
        servers = [KINDS["java"](), KINDS["java"]()]
    try:
        start_together(*servers)
    except MissingDependency as missing:
        print(f"zkcli: FAILED: {missing}\nzkcli: 0 passed, 1 failed")
        sys.exit(1)
    code = run("zkcli", [*map(case, SCRIPTS), single_commands_end_with_the_same_code])
    for server in servers:
        server.remove()
    sys.exit(code)
