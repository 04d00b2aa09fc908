# SPDX-License-Identifier: Apache-2.0
#
# Ports for servers that tests start, several suites at once.

import contextlib
import pathlib
import random
import socket

FIRST_PORT = 10_000

_claims = []  # Held until the process ends.


def free_port():
    """A port that stays the caller's until its process ends, whether or not a server listens on it just now.

    It lies below the range from which the kernel takes the ports of outgoing connections: a server that is
    down for a while would otherwise lose its port to one of the very clients that wait for it. And it is
    claimed by an abstract socket of that name, which other suites see and which cannot outlive this one."""
    first_ephemeral = int(pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    while True:
        port = random.SystemRandom().randrange(FIRST_PORT, first_ephemeral)
        claim = socket.socket(socket.AF_UNIX)
        with contextlib.suppress(OSError), socket.socket() as probe:
            claim.bind(f"\0drover-test-port-{port}")
            probe.bind(("127.0.0.1", port))
            _claims.append(claim)
            return port
        claim.close()
