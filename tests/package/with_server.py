#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Runs a command against a server that lives as long: its address is the command's last argument.
#
#   with_server.py DROVER COMMAND [ARGUMENT...]
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "compat"))


def main():
    os.environ["DROVER"] = sys.argv[1]
    import servers  # reads DROVER
    with servers.KINDS["drover"]() as server:
        sys.exit(subprocess.run([*sys.argv[2:], server.address], timeout=60).returncode)


if __name__ == "__main__":
    main()
