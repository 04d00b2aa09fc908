# SPDX-License-Identifier: Apache-2.0
#
# All libraries contend for one lock or election as fast as they can: there must never be two holders, and no
# increment may be lost. Part of run.py.
import pathlib
import subprocess
import sys

from kazoo.client import KazooClient

import servers

HERE = pathlib.Path(__file__).resolve().parent
ROUNDS = 40
PATIENCE_SECONDS = 240
# The clients, two of each kind.
LIBRARIES = {
    "mutex": ("drover", "curator", "kazoo"),
    "write": ("drover", "curator"),
    "semaphore": ("drover", "curator"),
    "latch": ("drover", "curator"),
}


def commands(folder, classes):
    classpath = servers.java_classpath("curator-recipes.jar", "slf4j-nop.jar")
    return {
        "drover": [str(folder / "recipe_contender")],
        "curator": [servers.java_binary(), *servers.JVM_FLAGS, "-cp", f"{classes}:{classpath}", "Contender"],
        "kazoo": [sys.executable, str(HERE / "contender.py")],
    }


def start(command, address, kind, path):
    return subprocess.Popen([*command, address, kind, path, str(ROUNDS)], text=True, stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def run_all(started):
    """Runs them; returns the problems."""
    problems = [f"{library} is not ready" for library, process in started
                if process.stdout.readline() != "ready\n"]
    for _, process in started if not problems else []:
        process.stdin.write("go\n")
        process.stdin.flush()
    for library, process in started:
        try:
            output, _ = process.communicate(timeout=PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            output, _ = process.communicate()
            problems.append(f"{library} did not end")
        if process.returncode != 0:
            problems.append(f"{library}: {output.strip()[-2000:]}")
    return problems


def check(programs, client, address, kind):
    path = f"/contention/{kind}"
    client.create(path + ".count", b"0", makepath=True)
    libraries = LIBRARIES[kind] * 2
    problems = run_all([(library, start(programs[library], address, kind, path)) for library in libraries])
    count, wanted = int(client.get(path + ".count")[0]), len(libraries) * ROUNDS
    if count != wanted:
        problems.append(f"{wanted} additions, and {count} are left")
    left = client.get_children(path) if client.exists(path) else []
    left = [name for name in left if name not in ("locks", "leases")]
    if left:
        problems.append(f"nodes are left: {left}")
    return problems


def contend(folder, classes, server, words):
    """The numbers of passed and failed cases."""
    passed = failed = 0
    programs = commands(folder, classes)
    client = KazooClient(hosts=server.address)
    client.start(timeout=30)
    for kind in LIBRARIES:
        if words and not any(word in f"contention_{kind}" for word in words):
            continue
        problems = check(programs, client, server.address, kind)
        passed, failed = passed + (not problems), failed + bool(problems)
        if problems:
            print(f"FAILED on {server.name}: contention for a {kind}: {'; '.join(problems)}", flush=True)
    client.stop()
    return passed, failed
