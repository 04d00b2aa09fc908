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
    """`...` alone on a line stands for lines, and elsewhere for some text."""
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


def bash_completes():
    script = f"""
        source '{PROJECT_ROOT}/completions/drover.bash'
        complete_line() {{
          COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
          _drover
          echo "${{COMPREPLY[*]}}"
        }}
        complete_line drover ser
        complete_line drover cli getA
        complete_line drover cli -ser
        complete_line drover cli -server h : 1 dele
    """
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=30, check=False)
    check_equal(done.stdout.splitlines(), ["server", "getAcl getAllChildrenNumber", "-server", "delete deleteall"])
    check_equal(done.stderr, "")


def the_other_shells_can_read_theirs():
    for shell, name in (("zsh", "_drover"), ("fish", "drover.fish")):
        if shutil.which(shell) is None:
            continue  # The lists are checked above; these are only read here, where there is somebody to read them.
        done = subprocess.run([shell, "-n", str(PROJECT_ROOT / "completions" / name)], capture_output=True, text=True,
                              timeout=30, check=False)
        check_equal((done.returncode, done.stderr), (0, ""), shell)


if __name__ == "__main__":
    try:
        drover_binary()
    except MissingDependency as missing:
        print(f"documents: FAILED: {missing}\ndocuments: 0 passed, 1 failed")
        sys.exit(1)
    sys.exit(run("documents", [
        the_examples_print_what_the_page_says, the_page_names_every_command, the_manual_pages_name_every_command,
        every_completion_file_names_every_command, bash_completes, the_other_shells_can_read_theirs]))
