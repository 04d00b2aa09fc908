#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Runs the same scripts with Apache's shell and ours on servers of the same kind. Output and exit codes must be
# equal, except for times, zxids and session ids. Another thread prints the events at any time, so their position
# is not compared.
#
#   --self-test   Apache's shell beside itself, which says whether the test is steady

import concurrent.futures
import sys

import shell_scripts as scripts
import shells
from ensemble import DROVER, Ensemble
from servers import DroverServer, JavaServer, MissingDependency, start_together
from suite import check, check_equal, run

JVMS_AT_ONCE = 2

# Each shell has servers of its own, so that both see the same tree. Ours is run on Java's server too.
servers = {"java": DroverServer(), "drover": DroverServer(), "drover on java": JavaServer()}
ours = ["drover", "drover on java"]
answers = {}


def shell_of(name):
    return name.split()[0]


def ask_all(name):
    """Everything that one shell is asked, in order: a later script may find what an earlier one left."""
    shell, server = shell_of(name), servers[name]
    found = {}
    for script, commands in scripts.SCRIPTS.items():
        found[script] = shells.run_script(shell, server, commands)
    for script, commands in scripts.WHOLE_SCRIPTS.items():
        found[script] = shells.run(shell, server, commands)
    for words in scripts.ONE_SHOTS:
        found[tuple(words)] = shells.run(shell, server, arguments=words)
    return found


def ask_everybody():
    with concurrent.futures.ThreadPoolExecutor(JVMS_AT_ONCE) as pool:
        asked = {name: pool.submit(ask_all, name) for name in servers}
        answers.update({name: future.result() for name, future in asked.items()})


def script_case(name):
    def compare():
        expected, events, code = answers["java"][name]
        check(any(out for out, _ in expected), f"Apache's shell printed nothing for {name}")
        for mine in ours:
            actual, my_events, my_code = answers[mine][name]
            wrong = []
            for command, theirs, own in zip(scripts.SCRIPTS[name], expected, actual):
                if theirs != own:
                    wrong.append(f"{mine}: {command}\n    expected {theirs!r}\n    got      {own!r}")
            check(not wrong, "\n".join(wrong))
            check_equal(my_events, events, f"{mine}: events of {name}")
            check_equal(my_code, code, f"{mine}: exit code of {name}")

    compare.__name__ = f"every_command_of_{name}_prints_the_same"
    return compare


def whole_case(name, title):
    def compare():
        for mine in ours:
            for what, theirs, own in zip(("stdout", "stderr", "events", "exit code"), answers["java"][name],
                                         answers[mine][name]):
                check_equal(own, theirs, f"{mine}: {title}: {what}")

    compare.__name__ = title.replace(" ", "_")
    return compare


def an_ensemble_looks_the_same_to_both():
    with Ensemble([DROVER] * 3) as ensemble:
        member = ensemble.start()[1]
        commands = scripts.ENSEMBLE_SCRIPT
        expected, _, _ = shells.run_script("java", member, commands)
        for command, theirs, own in zip(commands, expected, shells.run_script("drover", member, commands)[0]):
            check_equal(own, theirs, command)
        check("server.2=" in expected[0][0], expected[0])


def cases():
    yield an_ensemble_looks_the_same_to_both
    yield from (script_case(name) for name in scripts.SCRIPTS)
    yield from (whole_case(name, f"the lines of {name} print the same") for name in scripts.WHOLE_SCRIPTS)
    yield from (whole_case(tuple(words), f"a single command ends the same: {' '.join(words)}")
                for words in scripts.ONE_SHOTS)


if __name__ == "__main__":
    if "--self-test" in sys.argv:
        servers = {"java": DroverServer(), "java again": DroverServer()}
        ours = ["java again"]
    try:
        start_together(*servers.values())
        ask_everybody()
    except MissingDependency as missing:
        print(f"same_as_zkcli: FAILED: {missing}\nsame_as_zkcli: 0 passed, 1 failed")
        sys.exit(1)
    result = run("same_as_zkcli", cases())
    for server in servers.values():
        server.remove()
    sys.exit(result)
