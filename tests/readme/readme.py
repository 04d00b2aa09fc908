#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Runs the README's marked shell blocks and checks their output.
#
#   <!-- check: server -->          this block starts the server; it runs until the others have finished
#   <!-- check: prints SOME TEXT -->  this block ends with exit code 0, and SOME TEXT is in its output
#
# A free port replaces the README's port 2181, and a temporary folder replaces ./drover-data, so that the check
# does not disturb a server on this machine.
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests" / "compat"))
from ports import free_port  # noqa: E402  (the path above must come first)

BLOCK = re.compile(r"^<!-- check: (.+?) -->\n```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
README_PORT = "2181"
SERVER_SECONDS_MAX = 60
BLOCK_SECONDS_MAX = 60


def wait_for_server(server, port):
    deadline = time.monotonic() + SERVER_SECONDS_MAX
    while time.monotonic() < deadline:
        if server.poll() is not None:
            sys.exit(f"readme: the server ended with exit code {server.returncode}")
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.05)
    sys.exit(f"readme: nothing listens on port {port} after {SERVER_SECONDS_MAX} s")


def start_server(script, port, folder):
    # ZooKeeper's short form of a configuration: PORT DATADIR.
    script = f"{script.strip()} {port} {folder}/data"
    server = subprocess.Popen(["bash", "-ec", script], cwd=ROOT, stdin=subprocess.DEVNULL,
                              start_new_session=True)
    try:
        wait_for_server(server, port)
    except BaseException:
        stop_server(server)
        raise
    return server


def stop_server(server):
    """Ends the server with its whole process group, as Ctrl-C in the reader's terminal would."""
    if server.poll() is not None:
        return
    os.killpg(server.pid, signal.SIGTERM)
    try:
        server.wait(timeout=20)
    except subprocess.TimeoutExpired:
        os.killpg(server.pid, signal.SIGKILL)
        server.wait()


def run_block(script, expected, port):
    """True if the block does what its mark says."""
    try:
        done = subprocess.run(["bash", "-ec", script.replace(README_PORT, str(port))], cwd=ROOT,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, errors="replace", timeout=BLOCK_SECONDS_MAX)
        output, problem = done.stdout, f"exit code {done.returncode}" if done.returncode else ""
    except subprocess.TimeoutExpired as late:
        output, problem = (late.stdout or b"").decode(errors="replace"), f"no end after {BLOCK_SECONDS_MAX} s"
    if not problem and expected not in output:
        problem = f"{expected!r} is not in its output"
    if problem:
        print(f"FAILED: {problem}\n{script}---- output\n{output}")
    return not problem


def main():
    blocks = BLOCK.findall((ROOT / "README.md").read_text(encoding="utf-8"))
    servers = [script for mark, script in blocks if mark == "server"]
    checks = [(mark.removeprefix("prints "), script) for mark, script in blocks if mark.startswith("prints ")]
    if len(servers) != 1 or not checks or len(checks) + 1 != len(blocks):
        sys.exit(f"readme: want one `server` block and some `prints` blocks, found {[m for m, _ in blocks]}")

    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        server = start_server(servers[0], port, folder)
        try:
            results = [run_block(script, expected, port) for expected, script in checks]
        finally:
            stop_server(server)
    print(f"readme: {sum(results)} passed, {len(results) - sum(results)} failed")
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
