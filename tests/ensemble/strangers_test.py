#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
#
# Attacks by a stranger who can reach the ports between servers, on an ensemble of real processes.
#
#   strangers_test.py --only TEXT

import argparse
import contextlib
import socket
import struct
import sys
import threading

from ensemble import DROVER, Ensemble, write_marker  # First: it makes tests/durability and tests/compat importable.
from harness import check, wait_until
from suite import run

FOLLOWER_INFO, OBSERVER_INFO = 11, 16
EPOCH_MAX = 0x7FFFFFFF
SILENT_CONNECTIONS = 300


def greeting(kind, sid, epoch):
    """FOLLOWERINFO or OBSERVERINFO of a server that says to have promised this epoch."""
    info = struct.pack(">qiq", sid, 0x10000, 0)
    return struct.pack(">iQi", kind, epoch << 32, len(info)) + info + struct.pack(">i", -1)


class Claimer(threading.Thread):
    """Says to be this server, with this epoch, to every quorum port, again and again."""

    def __init__(self, ensemble, sid, epochs):
        super().__init__(daemon=True)
        self.ensemble, self.sid, self.epochs = ensemble, sid, epochs
        self.ended = threading.Event()
        self.claims = 0

    def run(self):
        while not self.ended.wait(0.005):
            for member in self.ensemble:
                for epoch in self.epochs:
                    for kind in (FOLLOWER_INFO, OBSERVER_INFO):
                        self.claim(member, greeting(kind, self.sid, epoch))

    def claim(self, member, bytes_sent):
        with contextlib.suppress(OSError):
            with socket.create_connection(("127.0.0.1", member.quorum_port), timeout=0.2) as stranger:
                stranger.sendall(bytes_sent)
                stranger.recv(1)
                self.claims += 1

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.join()


def accepted_epoch(member):
    return int((member.data_dir / "version-2" / "acceptedEpoch").read_text())


def a_false_claim_does_not_exhaust_the_epochs():
    """A voter is away, and somebody speaks for it while the others look for a leader."""
    with Ensemble([DROVER] * 3) as ensemble:
        ensemble.start()
        ensemble[1].stop()
        with Claimer(ensemble, 1, [EPOCH_MAX - 1, EPOCH_MAX, 0x40000000]) as claimer:
            for sid in (2, 3):
                ensemble[sid].kill()
            ensemble.start(2, 3)
            wait_until(lambda: claimer.claims > 10, "claims")
        write_marker(ensemble.leader())
        check(any("too far above" in member.said() for member in ensemble), "a line in a log")
        ensemble.start(1)
        for member in ensemble:
            check(accepted_epoch(member) < 1000, f"{member} has promised epoch {accepted_epoch(member)}")
        for member in ensemble:
            member.kill()
        ensemble.start()
        write_marker(ensemble.leader())


def silent_connections_do_not_block_others():
    with Ensemble([DROVER] * 3) as ensemble:
        leader = ensemble.start().leader()
        follower = ensemble.followers()[0]
        follower.stop()
        with contextlib.ExitStack() as strangers:
            for _ in range(SILENT_CONNECTIONS):
                for port in (leader.quorum_port, leader.election_port):
                    strangers.enter_context(socket.create_connection(("127.0.0.1", port), timeout=5))
            ensemble.start(follower.sid)
            write_marker(follower)
        check(ensemble.leader() is leader, "no server had to look for a leader")


def election_greeting(sid):
    address = b"127.0.0.66:3888"
    return struct.pack(">qqi", -65536, sid, len(address)) + address


def what_a_stranger_is_told(port, said):
    """The reply to a connection from a foreign address; empty: none."""
    with socket.create_connection(("127.0.0.1", port), timeout=20, source_address=("127.0.0.66", 0)) as stranger:
        stranger.sendall(said)
        with contextlib.suppress(ConnectionResetError):
            return stranger.recv(100)
        return b""


def refused(member, name):
    lines = dict(line.split("\t", 1) for line in member.word("mntr").splitlines() if "\t" in line)
    return int(lines["zk_" + name])


def a_members_id_from_a_wrong_address_is_refused():
    with Ensemble([DROVER] * 3) as ensemble:
        leader = ensemble.start().leader()
        follower, other = ensemble.followers()
        epoch = accepted_epoch(leader)
        for kind in (FOLLOWER_INFO, OBSERVER_INFO):
            told = what_a_stranger_is_told(leader.quorum_port, greeting(kind, follower.sid, epoch))
            check(told == b"", f"the leader answers {told}")
        told = what_a_stranger_is_told(leader.quorum_port, greeting(FOLLOWER_INFO, 77, epoch))
        check(told == b"", f"the leader answers a server that is no member: {told}")
        # The larger id connects, so a server with a smaller id listens to any connection that claims the larger one.
        small, large = sorted((follower, other), key=lambda member: member.sid)
        told = what_a_stranger_is_told(small.election_port, election_greeting(large.sid))
        check(told == b"", f"a vote is answered: {told}")
        check(refused(leader, "quorum_port_rejected") == 3, "refusals of the quorum port")
        check(refused(leader, "peer_rejected_address") == 2, "refusals by address")
        check(refused(leader, "peer_rejected_no_member") == 1, "refusals of strangers")
        check(refused(small, "election_port_rejected") == 1, "refusals of the election port")
        write_marker(follower)
        check(ensemble.leader() is leader and set(ensemble.followers()) == {follower, other}, "no server had to look for a leader")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", help="run the cases whose name contains this")
    arguments = parser.parse_args()
    cases = [a_false_claim_does_not_exhaust_the_epochs, silent_connections_do_not_block_others,
             a_members_id_from_a_wrong_address_is_refused]
    return run("strangers", cases, arguments.only)


if __name__ == "__main__":
    sys.exit(main())
