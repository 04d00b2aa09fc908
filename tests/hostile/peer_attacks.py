# SPDX-License-Identifier: Apache-2.0
#
# Attacks of a stranger who reaches the ports between servers. Each attack gets the members of an ensemble. The stranger
# has an address that is no member's, except where an attack says otherwise: without TLS and SASL, who has a
# member's address can be that member (docs/security.md).

import contextlib
import random
import socket
import struct

from attacks import MEGABYTE, metric
from harness import check

STRANGER, MEMBERS_ADDRESS = "127.0.0.66", "127.0.0.1"
FOLLOWER_INFO, OBSERVER_INFO = 11, 16
LOOKING, LEADING = 0, 2
EPOCHS = (0, 1, 2, 65_000, 0x40000000, 0x7FFFFFFE, 0x7FFFFFFF)
NO_MEMBERS = (0, 77, -1, (1 << 63) - 1)
SILENT = 100  # connections to each port at once, where 64 are kept
PATIENCE = 20.0


def ports_of(members):
    return [port for member in members for port in (member.quorum_port, member.election_port)]


def greeting(kind, sid, epoch):
    """FOLLOWERINFO or OBSERVERINFO of a server that says to have promised this epoch."""
    info = struct.pack(">qiq", sid, 0x10000, 0)
    return struct.pack(">iQi", kind, epoch << 32, len(info)) + info + struct.pack(">i", -1)


def election_greeting(sid):
    address = STRANGER.encode() + b":3888"
    return struct.pack(">qqi", -65536, sid, len(address)) + address


def vote(state, leader, epoch):
    zxid = epoch << 32 | 0xFFFF
    message = struct.pack(">iqQqqii", state, leader, zxid, 1 << 40, epoch, 2, 0)
    return struct.pack(">i", len(message)) + message


def open_port(port, address=STRANGER):
    return socket.create_connection(("127.0.0.1", port), timeout=PATIENCE, source_address=(address, 0))


def what_is_told(port, said, address=STRANGER):
    """The answer to one who says this and then ends: empty if the server just closes."""
    told = b""
    with contextlib.suppress(ConnectionError), open_port(port, address) as stranger:
        stranger.sendall(said)
        with contextlib.suppress(OSError):  # The other side may have reset the connection.
            stranger.shutdown(socket.SHUT_WR)
        while piece := stranger.recv(4096):
            told += piece
    return told


def rejected(members, name):
    return sum(metric(member.port, name) for member in members)


def floods_of_connections_that_say_nothing(members):
    """And of some that stop in the middle of a greeting."""
    before = rejected(members, "peer_rejected_crowded")
    beginnings = (b"", b"\0", greeting(FOLLOWER_INFO, 1, 1)[:-1], election_greeting(1)[:-1])
    for beginning in beginnings:
        with contextlib.ExitStack() as stack:
            for port in ports_of(members):
                for _ in range(SILENT):
                    with contextlib.suppress(ConnectionError):  # A follower need not listen for learners.
                        stranger = stack.enter_context(open_port(port))
                        stranger.sendall(beginning)
    check(rejected(members, "peer_rejected_crowded") > before, "the oldest ones made way")


def claims_of_ids_and_epochs(members):
    """Members' ids from a stranger's address, and ids of no member from an address of theirs."""
    before = {name: rejected(members, name) for name in ("peer_rejected_address", "peer_rejected_no_member")}
    sids = [member.sid for member in members]
    claims = [(sid, STRANGER) for sid in sids] + [(sid, MEMBERS_ADDRESS) for sid in NO_MEMBERS]
    for member in members:
        for sid, address in claims:
            for epoch in EPOCHS:
                for kind in (FOLLOWER_INFO, OBSERVER_INFO):
                    told = what_is_told(member.quorum_port, greeting(kind, sid, epoch), address)
                    check(told == b"", f"{member} answers server {sid} of {address} with {told}")
                if sid == member.sid:
                    continue
                ballots = b"".join(vote(state, sid, epoch) for state in (LOOKING, LEADING))
                what_is_told(member.election_port, election_greeting(sid) + ballots, address)
    for name, count in before.items():
        check(rejected(members, name) > count, f"{name} counts them")


def garbage_between_servers(members):
    """Noise, and frames that say to be larger than any may be."""
    noise = random.Random(11)
    lengths = [struct.pack(">i", length) for length in (-2, -1, 0, 0x7FFFFFFF)]
    info = greeting(FOLLOWER_INFO, 1, 1)
    garbage = [*(noise.randbytes(MEGABYTE) for _ in range(3)),
               *(length + b"\0" * 4 * MEGABYTE for length in lengths),
               info[:12] + struct.pack(">i", 0x7FFFFFFF) + b"x" * 4 * MEGABYTE,  # FOLLOWERINFO with 2 GB behind it
               election_greeting(1)[:16] + struct.pack(">i", 0x7FFFFFFF) + b"x" * 4 * MEGABYTE,
               election_greeting(77) + struct.pack(">i", 0x7FFFFFFF) + b"x" * 4 * MEGABYTE]
    for _ in range(3):
        for port in ports_of(members):
            for each in garbage:
                what_is_told(port, each)


ATTACKS = [
    floods_of_connections_that_say_nothing,
    claims_of_ids_and_epochs,
    garbage_between_servers,
]
