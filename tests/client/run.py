#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# The client library against both servers: build/release/bin/client_live_test with the address of each.
#
#   run.py PROGRAM [ARGUMENT...]     arguments are GoogleTest's
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "compat"))
import servers  # noqa: E402  (the path above must come first)


def main():
    program, arguments = sys.argv[1], sys.argv[2:]
    failed = 0
    for kind in ("drover", "java"):
        with servers.KINDS[kind]() as server:
            print(f"---- {kind}", flush=True)
            environment = dict(os.environ, SERVER=server.address)
            failed += subprocess.run([program, "--gtest_brief=1", *arguments], env=environment).returncode != 0
    print(f"client: {2 - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
