#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Compiles c_client_test.c with Debian's ZooKeeper C library and runs it; restarts the server when asked to.

import pathlib
import shutil
import subprocess
import sys
import tempfile

from restartable import run_client
from servers import COMPAT_DIR, KINDS, MissingDependency, require
from suite import parse_server_kind


def compile_client(directory):
    if shutil.which("gcc") is None:
        raise MissingDependency("gcc is missing (Debian package: gcc)")
    require("/usr/include/zookeeper/zookeeper.h", "libzookeeper-mt-dev")
    program = pathlib.Path(directory) / "c_client_test"
    subprocess.run(["gcc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-g", "-o", program,
                    COMPAT_DIR / "c_client_test.c", "-lzookeeper_mt", "-lpthread"], check=True)
    return program


def main():
    arguments = parse_server_kind("ZooKeeper's C client against a server")
    try:
        with tempfile.TemporaryDirectory(prefix="compat-c-") as directory:
            program = compile_client(directory)
            with KINDS[arguments.server]() as server:
                return run_client([program, server.address], server)
    except (MissingDependency, subprocess.CalledProcessError) as problem:
        print(f"c_client: FAILED: {problem}\nc_client: 0 passed, 1 failed")
        return 1


if __name__ == "__main__":
    sys.exit(main())
