#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# `drover cli` at a terminal: prompt, editing, completion, history, colours, and events that arrive during typing.

import pathlib
import stat
import subprocess
import sys
import tempfile

from servers import DroverServer, MissingDependency, drover_binary
from suite import check, check_equal, run
from terminal import Terminal

server = DroverServer()
scratch = tempfile.TemporaryDirectory(prefix="drover-cli-")
homes = iter(range(1000))


def new_home():
    home = pathlib.Path(scratch.name, str(next(homes)))
    home.mkdir()
    return home


def shell(home=None, **environment):
    return Terminal([drover_binary(), "cli", "-server", server.address], home or new_home(), **environment)


def prompt(number):
    return f"[zk: {server.address}(CONNECTED) {number}] "


def once(*words):
    return subprocess.run([drover_binary(), "cli", "-server", server.address, *words], capture_output=True, text=True,
                          timeout=60, check=False)


def lines_are_executed_and_the_last_one_sets_the_exit_code():
    with shell() as terminal:
        terminal.wait_for(prompt(0))
        terminal.type("create /typed hello\n")
        terminal.wait_for("Created /typed")
        terminal.wait_for(prompt(1))
        terminal.type("get /nosuch\n")
        terminal.wait_for("Node does not exist: /nosuch")
        terminal.wait_for("(`ls` shows existing nodes")
        terminal.wait_for(prompt(2))
        terminal.type("quit\n")
        check_equal(terminal.wait_for_end(), 1, "exit code")


def end_of_input_quits():
    with shell() as terminal:
        terminal.wait_for(prompt(0))
        terminal.type("\x04")
        check_equal(terminal.wait_for_end(), 0, "exit code")


def a_line_can_be_edited_and_cancelled():
    with shell() as terminal:
        terminal.wait_for(prompt(0))
        terminal.type("ls /zookeepex\x7fr/quota\n")
        terminal.wait_for("[]")
        terminal.wait_for(prompt(1))
        terminal.type("get /nosuch\x03version\n")
        shown = terminal.wait_for(prompt(2))
        check("ZooKeeper CLI version: " in shown, shown)
        check("does not exist" not in shown, shown)
        terminal.type("create /日本 ключ\n")
        terminal.wait_for("Created /日本")


def tab_completes_commands_and_paths():
    once("create", "/complete-me", "found")
    with shell() as terminal:
        terminal.wait_for(prompt(0))
        terminal.type("getAl\t")
        terminal.wait_for("getAllChildrenNumber ")
        terminal.type("\x03get /compl\t")
        terminal.wait_for("get /complete-me")
        terminal.type("\n")
        terminal.wait_for("found")
        terminal.wait_for(prompt(1))
        terminal.type("dele\t\t")
        terminal.wait_for("delete  deleteall")


def an_event_does_not_disturb_the_line_being_typed():
    once("create", "/event", "1")
    with shell() as terminal:
        terminal.wait_for(prompt(0))
        terminal.type("get -w /event\n")
        terminal.wait_for(prompt(1))
        terminal.type("get /ev")
        terminal.wait_for("get /ev")
        once("set", "/event", "2")
        terminal.wait_for("WatchedEvent state:SyncConnected type:NodeDataChanged path:/event\n")
        terminal.wait_for(prompt(1) + "get /ev")  # drawn again
        terminal.type("ent\n")
        terminal.wait_for("2\n")


def history_is_kept_for_its_owner_and_without_passwords():
    home = new_home()
    with shell(home) as terminal:
        terminal.wait_for(prompt(0))
        terminal.type("addauth digest ann:secret\n")
        terminal.wait_for(prompt(1))
        terminal.type("ls /zookeeper\n")
        terminal.wait_for(prompt(2))
        terminal.type("quit\n")
        terminal.wait_for_end()
    kept = home / ".drover_history"
    check_equal(stat.S_IMODE(kept.stat().st_mode), 0o600, "mode")
    check("secret" not in kept.read_text(), kept.read_text())
    with shell(home) as terminal:
        terminal.wait_for(prompt(0))
        terminal.type("\x1b[A\x1b[A")  # up twice: `quit` was last
        terminal.wait_for("ls /zookeeper")
        terminal.type("\n")
        terminal.wait_for("[config, quota]")


def colours_are_for_terminals_that_want_them():
    with shell() as terminal:
        terminal.wait_for(prompt(0))
        check(b"\x1b[32m" in terminal.raw, terminal.raw)
        coloured = terminal.raw[terminal.raw.rindex(b"\x1b[32m"):]
        check(b"]\x1b[0m " in coloured, coloured)  # What is typed, and the answer, are plain.
    with shell(NO_COLOR="1") as terminal:
        terminal.wait_for(prompt(0))
        check(b"\x1b[3" not in terminal.raw, terminal.raw)
    check("\x1b" not in once("ls", "/").stdout, "colours in a pipe")


def an_unknown_command_does_not_fill_the_screen():
    with shell() as terminal:
        terminal.wait_for(prompt(0))
        terminal.type("nosuch\n")
        shown = terminal.wait_for(prompt(1))
        check("(`help` lists the commands)" in shown and "addWatch" not in shown, shown)


def long_work_shows_its_progress():
    tree = pathlib.Path(scratch.name, "many.jsonl")
    tree.write_text('{"drover_export":1}\n{"path":"","data":null}\n' +
                    "".join(f'{{"path":"/{number}","data":"x"}}\n' for number in range(100_000)))
    check_equal(once("import", str(tree), "/many").returncode, 0, "import")
    with shell() as terminal:
        terminal.wait_for(prompt(0))
        # Small transactions take long enough to be shown.
        terminal.type("deleteall /many -b 1\n")
        terminal.wait_for("deleting [")
        terminal.wait_for(prompt(1))
        terminal.type("ls /many\n")
        terminal.wait_for("Node does not exist: /many")


def ctrl_c_ends_a_watch_and_not_the_shell():
    once("create", "/followed")
    with shell() as terminal:
        terminal.wait_for(prompt(0))
        terminal.type("watch /followed\n")
        terminal.wait_for("Ctrl-C ends it")
        once("create", "/followed/kid", "text")
        terminal.wait_for('NodeCreated /followed/kid "text"')
        terminal.type("\x03")
        terminal.wait_for(prompt(1))


def a_lost_connection_is_reported_and_restored():
    with shell() as terminal:
        terminal.wait_for(prompt(0))
        server.stop()
        terminal.wait_for("WatchedEvent state:Disconnected type:None path:null")
        terminal.wait_for("(CONNECTING) 0] ")
        server.start()
        terminal.wait_for("WatchedEvent state:SyncConnected type:None path:null")
        terminal.wait_for(prompt(0))
        terminal.type("ls /zookeeper\n")
        terminal.wait_for("[config, quota]")


if __name__ == "__main__":
    try:
        server.start()
    except MissingDependency as missing:
        print(f"terminal: FAILED: {missing}\nterminal: 0 passed, 1 failed")
        sys.exit(1)
    code = run("terminal", [
        lines_are_executed_and_the_last_one_sets_the_exit_code, end_of_input_quits,
        a_line_can_be_edited_and_cancelled, tab_completes_commands_and_paths,
        an_event_does_not_disturb_the_line_being_typed, history_is_kept_for_its_owner_and_without_passwords,
        colours_are_for_terminals_that_want_them, an_unknown_command_does_not_fill_the_screen,
        long_work_shows_its_progress, ctrl_c_ends_a_watch_and_not_the_shell,
        a_lost_connection_is_reported_and_restored])
    server.remove()
    sys.exit(code)
