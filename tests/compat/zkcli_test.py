#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Apache's command line against both servers: the same scripts, and what it prints must be the same but for
# addresses, times and session ids. Zxids must be the same too: a request that fails takes one here as there. Watch
# events are printed by another thread at any time, so their position is not compared.
#
#   --java-only   a Java server beside another one, which says whether the test is steady

import concurrent.futures
import sys

import shell_scripts
import shells
from servers import KINDS, MissingDependency, start_together
from suite import check, check_equal, run

JVMS_AT_ONCE = 2

servers = [KINDS["java"](), KINDS["drover"]()]
answers = []


def ask(server):
    """Runs the scripts in order: a later one may use the nodes of an earlier one."""
    found = {}
    for name, commands in shell_scripts.SCRIPTS.items():
        found[name] = shells.run_script("java", server, commands, keep_zxids=True)
    for words in shell_scripts.ONE_SHOTS:
        found[tuple(words)] = shells.run("java", server, arguments=words, keep_zxids=True)
    return found


def ask_both():
    with concurrent.futures.ThreadPoolExecutor(JVMS_AT_ONCE) as pool:
        answers.extend(pool.map(ask, servers))


def script_case(name):
    def compare():
        (expected, events, code), (actual, my_events, my_code) = [each[name] for each in answers]
        check(any(out for out, _ in expected), f"zkCli printed nothing for {name}")
        for command, theirs, own in zip(shell_scripts.SCRIPTS[name], expected, actual):
            check_equal(own, theirs, f"{name}: {command}")
        check_equal(my_events, events, f"events of {name}")
        check_equal(my_code, code, f"exit code of {name}")

    compare.__name__ = f"script_{name}_prints_the_same"
    return compare


def single_commands_end_with_the_same_code():
    for words in shell_scripts.ONE_SHOTS:
        theirs, own = [each[tuple(words)] for each in answers]
        check_equal(own, theirs, " ".join(words))


if __name__ == "__main__":
    if sys.argv[1:] == ["--java-only"]:
        servers = [KINDS["java"](), KINDS["java"]()]
    try:
        start_together(*servers)
        ask_both()
    except MissingDependency as missing:
        print(f"zkcli: FAILED: {missing}\nzkcli: 0 passed, 1 failed")
        sys.exit(1)
    result = run("zkcli", [*map(script_case, shell_scripts.SCRIPTS), single_commands_end_with_the_same_code])
    for server in servers:
        server.remove()
    sys.exit(result)
