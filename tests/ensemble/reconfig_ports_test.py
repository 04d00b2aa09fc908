#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
#
# The addresses of members change while they run: client ports and the ports between servers.
#
#   reconfig_ports_test.py --only TEXT

import argparse
import contextlib
import socket
import sys

from ensemble import DROVER  # First: it makes tests/durability importable.
from harness import check, p, wait_until
from members import Members, Writer, line_of, version_of
from ports import free_port
from suite import run


def a_server_moves_to_another_client_port():
    with Members([DROVER] * 3) as ensemble:
        ensemble.start()
        for member in (ensemble.followers()[0], ensemble.leader()):
            with member.client() as session:  # stays connected
                old, member.port = member.port, free_port()
                ensemble.reconfig(joining=line_of(member), at=next(m for m in ensemble if m is not member))
                ensemble.agree()
                with contextlib.suppress(ConnectionRefusedError):
                    p.Connection(old).close()
                    raise AssertionError(f"{member} still listens at {old}")
                check(not session.exists("/nothing"), "the old connection is served")
            check(f"clientPort={member.port}" in member.word("conf"), "conf shows the port")
        for member in ensemble:
            member.stop()
        ensemble.start()
        ensemble.agree()


def a_server_moves_to_other_ports_between_servers():
    with Members([DROVER] * 3) as ensemble:
        ensemble.start()
        writer = Writer(ensemble)
        for member in (ensemble.followers()[0], ensemble.leader()):
            member.quorum_port, member.election_port = free_port(), free_port()
            ensemble.reconfig(joining=line_of(member), at=next(m for m in ensemble if m is not member))
            ensemble.agree()
            writer.wait_for_more()
        # All servers find each other at the new ports.
        for member in list(ensemble):
            member.stop()
            ensemble.settle()
            ensemble.start(member.sid)
        writer.finish(ensemble)


def ports_that_are_taken_leave_the_old_ones_open():
    with Members([DROVER] * 3) as ensemble, contextlib.ExitStack() as taken:
        ensemble.start()
        member = ensemble.followers()[0]
        old = member.port
        ports = [free_port() for _ in range(3)]
        for port in ports:
            occupied = taken.enter_context(socket.socket())
            occupied.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            occupied.bind(("127.0.0.1", port))
            occupied.listen()
        member.port, member.quorum_port, member.election_port = ports
        line = line_of(member)
        member.port = old  # where it is found
        ensemble.reconfig(joining=line, at=next(m for m in ensemble if m is not member))
        for port in ("the election port", "the quorum port"):
            wait_until(lambda port=port: f"cannot move {port}" in member.said(), f"{member} complains about {port}")
        wait_until(lambda: "cannot open the client port" in member.said(), f"{member} complains about the client port")
        ensemble.settle()  # at the old client port
        taken.close()
        wait_until(lambda: "the quorum port is open at the addresses of the new" in member.said(), "the next try", 30)
        member.stop()
        member.port = ports[0]
        ensemble.start(member.sid)
        ensemble.agree()


def line_with_client_host(member, host):
    return line_of(member).replace(f";127.0.0.1:{member.port}", f";{host}:{member.port}")


def a_client_port_that_stays_is_not_lost():
    """Java closed the old listener after it had failed to open the same port again (ZOOKEEPER-3540)."""
    with Members([DROVER] * 3) as ensemble:
        ensemble.start()
        for member in (ensemble.followers()[0], ensemble.leader()):
            asked = next(m for m in ensemble if m is not member)
            # The same address again, one that contains it, the same again, and back.
            for host in ("127.0.0.1", "0.0.0.0", "0.0.0.0", "127.0.0.1"):
                with member.client() as session:  # stays connected
                    before = version_of(ensemble.config(asked))
                    ensemble.reconfig(joining=line_with_client_host(member, host), at=asked)
                    check(version_of(ensemble.agree()) > before, f"the members with {host}")
                    check(not session.exists("/nothing"), "the old connection is served")
            check("cannot open" not in member.said(), f"{member} had no trouble")
        for member in ensemble:
            member.stop()
        ensemble.start()
        ensemble.agree()


CASES = [a_server_moves_to_another_client_port, a_server_moves_to_other_ports_between_servers,
         ports_that_are_taken_leave_the_old_ones_open, a_client_port_that_stays_is_not_lost]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", help="run the cases whose name contains this")
    arguments = parser.parse_args()
    return run("reconfig_ports", CASES, arguments.only)


if __name__ == "__main__":
    sys.exit(main())
