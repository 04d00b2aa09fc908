# SPDX-License-Identifier: Apache-2.0
#
# Runs a client program in another language that prints "restart" when it wants its server restarted.

import subprocess


def run_client(command, server, timeout_seconds=180):
    """Passes the program's lines through; returns its exit code."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as client:
        for line in client.stdout:
            if line == "restart\n":
                server.kill()
                server.start()
                client.stdin.write("done\n")
                client.stdin.flush()
            else:
                print(line, end="", flush=True)
        return client.wait(timeout=timeout_seconds)
