#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# The examples of docs/cli.md are run and compared; and every command is in the manual page and in the files that
# complete it in other shells.

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from servers import PROJECT_ROOT, DroverServer, MissingDependency, drover_binary
from suite import check, check_equal, run
from terminal import Terminal

PAGE = PROJECT_ROOT / "docs" / "cli.md"
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def commands():
    """The shell's commands, as it lists them itself."""
    text = subprocess.run([drover_binary(), "cli", "--help"], capture_output=True, text=True, check=True).stdout
    listed = text.partition("\ncommands:\n")[2].partition("\n\n")[0]
    return [line.split()[0] for line in listed.splitlines()]


def programs():
    """drover's own commands."""
    text = subprocess.run([drover_binary(), "help"], capture_output=True, text=True, check=True).stdout
    return re.findall(r"(?m)^  (\w+) ", text)


def examples():
    for block in BLOCK.findall(PAGE.read_text()):
        for part in re.split(r"(?m)^\$ ", block)[1:]:
            command, _, output = part.partition("\n")
            yield command, output


def matches(expected, actual):
    """A line `...` matches any lines; elsewhere, `...` matches any text."""
    pattern = re.sub(r"(?m)^\.\.\.\n", "\0", expected)
    pattern = re.escape(pattern).replace("\0", "(?:.*\n)*?").replace(r"\.\.\.", "[^\n]*?")
    return re.fullmatch(pattern, actual) is not None


def the_examples_print_what_the_page_says():
    with DroverServer() as server, tempfile.TemporaryDirectory(prefix="drover-cli-") as scratch:
        # `drover cli` of the page is asked at a server of ours, and a folder of ours is /tmp.
        wrapper = pathlib.Path(scratch, "drover")
        wrapper.write_text(f"#!/bin/sh\nshift\nexec '{drover_binary()}' cli -server {server.address} \"$@\"\n")
        wrapper.chmod(0o755)
        count = 0
        for command, expected in examples():
            command = command.replace("-server localhost:2181 ", "").replace("/tmp/", f"{scratch}/")
            done = subprocess.run(["bash", "-c", command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, timeout=60, check=False,
                                  env={**os.environ, "PATH": f"{scratch}:{os.environ['PATH']}"})
            actual = done.stdout.replace(server.address, "localhost:2181")
            check(matches(expected, actual), f"$ {command}\nexpected {expected!r}\ngot      {actual!r}")
            count += 1
        check(count > 15, f"only {count} examples were found")


def the_page_names_every_command():
    text = PAGE.read_text()
    for command in commands():
        check(f"`{command}" in text, f"{command} is not in {PAGE}")


def the_manual_pages_name_every_command():
    shell_page = (PROJECT_ROOT / "docs/man/drover-cli.1").read_text()
    for command in commands():
        check(re.search(rf"(?m)^\.BI? .?\b{command}\b", shell_page), f"{command} is not in drover-cli.1")
    page = (PROJECT_ROOT / "docs/man/drover.1").read_text()
    for program in programs():
        check(re.search(rf"(?m)^\.B \"?{program}\b", page), f"{program} is not in drover.1")


def every_completion_file_names_every_command():
    for name in ("drover.bash", "_drover", "drover.fish"):
        words = re.findall(r"[\w-]+", (PROJECT_ROOT / "completions" / name).read_text())
        missing = [command for command in [*commands(), *programs()] if command not in words]
        check(not missing, f"{name} does not have {missing}")


# A line that is being typed, and what a shell proposes for its last word.
COMPLETED = {
    "drover ser": {"server"},
    "drover cli getA": {"getAcl", "getAllChildrenNumber"},
    "drover cli -ser": {"-server"},
    "drover cli -server h:1 dele": {"delete", "deleteall"},
    "drover inspect sna": {"snapshot"},
    "drover reconfig re": {"remove", "replace"},
    "drover reconfig remove --d": {"--dry-run"},
    "drover inspect diff --log": {"--log-dir"},
    "drover cli get -": {"-s", "-w", "-b", "-x", "--json"},
    "drover cli -server h:1 ls --t": {"--tree"},
}
# fish proposes it everywhere.
EVERYWHERE = {"--help"}


def flags_in_manual():
    """Yields each command of the shell that has flags, and its flags."""
    page = (PROJECT_ROOT / "docs/man/drover-cli.1").read_text()
    for command, usage in re.findall(r'(?m)^\.BI (\w+) "(.*)"$', page):
        if flags := {flag.replace("\\", "") for flag in re.findall(r"(?<![\w-])\\-[\w\\-]+", usage)}:
            yield command, flags


def options_of_inspections():
    for name in ("log", "snapshot", "diff", "verify", "history", "at", "repair", "members"):
        text = subprocess.run([drover_binary(), "inspect", name, "--help"], capture_output=True, text=True,
                              check=True).stdout
        yield name, set(re.findall(r"(?m)^  (?:-h,)?(--[\w-]+)", text))


def all_lines():
    yield from COMPLETED.items()
    for command, flags in flags_in_manual():
        yield f"drover cli {command} -", flags | {"--json"}
    for name, options in options_of_inspections():
        yield f"drover inspect {name} --", options


def check_completion(shell, proposed):
    """`proposed` says what the shell proposes for a line."""
    for line, expected in all_lines():
        check_equal(proposed(line) - EVERYWHERE, expected - EVERYWHERE, f"{shell}: {line}")
    check(len(list(all_lines())) > 25, "the manual page lists the flags")


def bash_completes():
    script = f"""
        source '{PROJECT_ROOT}/completions/drover.bash'
        COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMPREPLY=()
        _drover
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """

    def proposed(line):
        # bash takes HOST:PORT for three words.
        done = subprocess.run(["bash", "-c", script, "bash", *re.findall(r":|[^\s:]+", line)], capture_output=True,
                              text=True, timeout=30, check=False)
        check_equal(done.stderr, "", line)
        return set(done.stdout.split())

    check_completion("bash", proposed)


def fish_completes():
    def proposed(line):
        script = f"source '{PROJECT_ROOT}/completions/drover.fish'; complete -C '{line}'"
        done = subprocess.run([required("fish"), "--no-config", "-c", script], capture_output=True, text=True,
                              timeout=30, check=False)
        check_equal(done.stderr, "", line)
        return {each.split("\t")[0] for each in done.stdout.splitlines()}

    check_completion("fish", proposed)


# Completion works only where somebody types: whatever would be proposed is written to a file instead. compadd itself
# says what matches the word, and is asked by zsh's own functions too, with -O, -A and -D, which must be left alone.
ZSH_SETUP = """
    PS1='ready> '; unsetopt beep; fpath=({completions} $fpath); autoload -Uz compinit; compinit -D -u
    compadd() {{
      if [[ ${{@[1,(i)(-|--)]}} != *-(O|A|D)\\ * ]]; then
        local -a hits; builtin compadd -A hits "$@"; print -rl -- $hits >>{found}
      fi
      builtin compadd "$@"
    }}
    bindkey '^T' list-choices
"""


def zsh_completes():
    with tempfile.TemporaryDirectory(prefix="drover-zsh-") as scratch:
        found = pathlib.Path(scratch, "found")
        setup = pathlib.Path(scratch, "setup")
        setup.write_text(ZSH_SETUP.format(completions=PROJECT_ROOT / "completions", found=found))
        terminal = Terminal([required("zsh"), "-f", "-i"], scratch)
        terminal.type(f"source {setup}\r")
        terminal.wait_for("ready> ")

        def proposed(line):
            found.write_text("")
            # ^U empties the line; the sum shows that what was typed before it has been worked off.
            proposed.count += 1
            terminal.type(f"{line}\x14\x15print sum-$(({proposed.count} + 1000))\r")
            terminal.wait_for(f"sum-{proposed.count + 1000}")
            terminal.wait_for("ready> ")
            return set(found.read_text().split())

        proposed.count = 0
        check_completion("zsh", proposed)
        terminal.type("exit\r")
        terminal.wait_for_end()


def required(shell):
    path = shutil.which(shell)
    if path is None:
        raise MissingDependency(f"{shell} is missing (Debian package: {shell})")
    return path


if __name__ == "__main__":
    try:
        drover_binary()
    except MissingDependency as missing:
        print(f"documents: FAILED: {missing}\ndocuments: 0 passed, 1 failed")
        sys.exit(1)
    sys.exit(run("documents", [
        the_examples_print_what_the_page_says, the_page_names_every_command, the_manual_pages_name_every_command,
        every_completion_file_names_every_command, bash_completes, zsh_completes, fish_completes]))
