#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Compiles CuratorTest.java against Debian's Curator and runs it; restarts the server when asked to.

import shutil
import subprocess
import sys
import tempfile

from restartable import run_client
from servers import COMPAT_DIR, JVM_FLAGS, KINDS, MissingDependency, java_binary, java_classpath
from suite import parse_server_kind

# Containers and TTL nodes are looked for often, so that nobody has to wait a minute for them.
PROPERTIES = {"znode.container.checkIntervalMs": "300"}


def main():
    arguments = parse_server_kind("Curator's recipes against a server")
    try:
        if shutil.which("javac") is None:
            raise MissingDependency("javac is missing (Debian package: default-jdk-headless)")
        classpath = java_classpath("curator-recipes.jar", "slf4j-nop.jar")
        with tempfile.TemporaryDirectory(prefix="compat-curator-") as classes:
            source = COMPAT_DIR / "CuratorTest.java"
            subprocess.run(["javac", "-nowarn", "-d", classes, "-cp", classpath, source], check=True)
            with KINDS[arguments.server](properties=PROPERTIES) as server:
                return run_client([java_binary(), *JVM_FLAGS, "-cp", f"{classes}:{classpath}", "CuratorTest",
                                   server.address], server)
    except (MissingDependency, subprocess.CalledProcessError) as problem:
        print(f"curator: FAILED: {problem}\ncurator: 0 passed, 1 failed")
        return 1


if __name__ == "__main__":
    sys.exit(main())
