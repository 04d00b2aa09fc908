#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Builds go_client/main.go with go-zookeeper and runs it against a server. Optional: without Go, or without its
# module proxy, the suite says so, ends with status 77 and is not counted.

import pathlib
import shutil
import subprocess
import sys
import tempfile

from servers import COMPAT_DIR, KINDS, MissingDependency
from suite import parse_server_kind

SOURCE = COMPAT_DIR / "go_client"
SKIPPED = 77


def go(*arguments):
    return subprocess.run(["go", *arguments], cwd=SOURCE, capture_output=True, text=True)


def main():
    arguments = parse_server_kind("go-zookeeper against one server.")
    if shutil.which("go") is None:
        print("go_client: SKIPPED: go is not installed")
        return SKIPPED
    if (fetched := go("mod", "download")).returncode != 0:
        print(f"go_client: SKIPPED: go-zookeeper cannot be had: {fetched.stderr.strip()}")
        return SKIPPED
    with tempfile.TemporaryDirectory(prefix="compat-go-") as directory:
        program = pathlib.Path(directory) / "go_client"
        if (built := go("build", "-o", str(program), ".")).returncode != 0:
            print(f"{built.stderr}\ngo_client: 0 passed, 1 failed")
            return 1
        try:
            with KINDS[arguments.server]() as server:
                return subprocess.run([program, server.address], timeout=120).returncode
        except MissingDependency as missing:
            print(f"go_client: FAILED: {missing}\ngo_client: 0 passed, 1 failed")
            return 1


if __name__ == "__main__":
    sys.exit(main())
