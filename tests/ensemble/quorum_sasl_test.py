#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
#
# Servers that log in to each other: drover, Java 3.8.0 and 3.9 in one ensemble with passwords and with Kerberos, the
# rolling upgrade, and strangers on both ports.
#
#   quorum_sasl_test.py --only TEXT
#
# Debian's interpreter is used on purpose: the Kerberos client is a Debian module (python3-kerberos).

import argparse
import base64
import contextlib
import os
import pathlib
import socket
import struct
import sys
import tempfile
import threading
import time

from ensemble import (DROVER, JAVA, JAVA39, OBSERVER,  # First: it makes tests/durability and tests/compat importable.
                      write_marker)
from harness import check, check_equal, wait_until
from members import Members
from quorum_sasl import (ENABLED, LEARNER, OFF, PASSWORD, REQUIRED, USER, kerberos_ensemble, password_ensemble,
                         set_stage, with_passwords)
from releases import without_unreachable
from strangers_test import FOLLOWER_INFO, OBSERVER_INFO, election_greeting, greeting, refused
from suite import run

import digest_md5
import kerberos
from kdc import Kdc

MAGIC = bytes.fromhex("5f2435013501edcc")
IN_PROGRESS, SUCCESS, ERROR = 0, 1, -1
LEADER_INFO = 17
PATIENCE = 20
LONGEST_WRITE = 2.0  # seconds, on a loaded machine

digest_md5.URI = "zookeeper-quorum/zk-quorum-sasl-md5"


# ---- the exchange, byte by byte ----------------------------------------------------------------------------


def auth_packet(token, status=IN_PROGRESS):
    return MAGIC + struct.pack(">ii", status, len(token)) + token


HELLO = auth_packet(b"")


class Peer:
    """A connection to a port between servers."""

    def __init__(self, port, host="127.0.0.1", source="127.0.0.1"):
        self.socket = socket.create_connection((host, port), timeout=PATIENCE, source_address=(source, 0))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data)

    def exactly(self, count):
        data = b""
        while len(data) < count:
            more = self.socket.recv(count - len(data))
            if not more:
                raise ConnectionError(f"closed after {data}")
            data += more
        return data

    def auth_packet(self):
        """(status, token) of the next packet."""
        magic, status, length = struct.unpack(">8sii", self.exactly(16))
        check_equal(magic, MAGIC, "magic number")
        return status, self.exactly(length) if length >= 0 else b""

    def rest(self):
        """Everything until the server closes the connection."""
        data = b""
        with contextlib.suppress(ConnectionResetError):
            while more := self.socket.recv(65536):
                data += more
        return data

    def log_in(self, password):
        """True if the server accepts it."""
        self.send(HELLO)
        status, challenge = self.auth_packet()
        check_equal(status, IN_PROGRESS, "status of the challenge")
        login = digest_md5.Login(challenge, USER, password)
        self.send(auth_packet(login.response()))
        status, token = self.auth_packet()
        check(status == ERROR or token == login.proof(), f"the server proves nothing: {token}")
        return status == SUCCESS


def only_auth_packets(data):
    """True if these are only challenges and errors, as a stranger may get them, and no proof."""
    while data:
        magic, status, length = struct.unpack(">8sii", data[:16])
        if magic != MAGIC or status == SUCCESS or b"rspauth" in data:
            return False
        data = data[16 + max(0, length):]
    return True


# ---- strangers ---------------------------------------------------------------------------------------------


def packet(kind, data):
    return struct.pack(">iQi", kind, 0, len(data)) + data + struct.pack(">i", -1)


def notification(state, leader):
    body = struct.pack(">iqqqqi", state, leader, 1 << 40, 1 << 30, 1 << 20, 2) + struct.pack(">i", 0)
    return struct.pack(">i", len(body)) + body


def messages_of_quorum_port(sids):
    yield b"\x00"
    yield b"GET / HTTP/1.1\r\n\r\n"
    yield bytes.fromhex("16030100050100000100")  # TLS
    for sid in sids:
        info = struct.pack(">qiq", sid, 0x10000, 0)
        for kind in range(0, 21):
            yield packet(kind, info)


def messages_of_election_port(sids):
    yield b"garbage, and more of it than a greeting has"
    for sid in sids:
        for state in range(4):
            yield election_greeting(sid) + notification(state, sid)
        yield election_greeting(sid) + struct.pack(">i", 0)


def guesses(challenge):
    return (auth_packet(digest_md5.Login(challenge, USER, "guess").response()), auth_packet(b"", SUCCESS),
            auth_packet(b"", ERROR), auth_packet(b"\xff" * 1000), auth_packet(b"")[:12] + struct.pack(">i", 1 << 30))


def say_everything(port, messages, before=b""):
    """Returns how many connections were refused."""
    tries = 0
    for said in messages:
        for hello in (b"", HELLO):
            with Peer(port) as stranger:
                stranger.send(said.replace(before, before + hello, 1) if before else hello + said)
                check(only_auth_packets(stranger.rest()), f"a stranger is told something after {said}")
            tries += 1
    return tries


def guess_everything(port, before):
    for number in range(len(guesses(b'realm="r",nonce="n"'))):
        with Peer(port) as stranger:
            stranger.send(before + HELLO)
            status, challenge = stranger.auth_packet()
            check_equal(status, IN_PROGRESS, "status of the challenge")
            stranger.send(guesses(challenge)[number] + greeting(FOLLOWER_INFO, 2, 1))
            check(only_auth_packets(stranger.rest()), "a stranger passes")


def strangers_cannot_vote_follow_or_read():
    with password_ensemble([DROVER] * 4, observers=(4,)) as ensemble:
        leader = ensemble.start().leader()
        roles = {member.sid: member.mode() for member in ensemble}
        epoch = (leader.files / "acceptedEpoch").read_text()
        for member in ensemble:
            sids = [other.sid for other in ensemble if other is not member]
            say_everything(member.quorum_port, messages_of_quorum_port(sids[:1]))
            for sid in sids:
                say_everything(member.election_port, messages_of_election_port([sid]), election_greeting(sid))
                guess_everything(member.election_port, election_greeting(sid))
            if member is leader:  # Others close every connection to the quorum port.
                guess_everything(member.quorum_port, b"")
            check(refused(member, "peer_rejected_credentials") > 40, f"{member} counts them")
        write_marker(ensemble[1])
        check_equal({member.sid: member.mode() for member in ensemble}, roles, "roles")
        check_equal((leader.files / "acceptedEpoch").read_text(), epoch, "epoch")
        # The same with the password: the leader answers.
        ensemble[4].stop()
        with Peer(leader.quorum_port) as peer:
            check(peer.log_in(PASSWORD), "the password is right")
            peer.send(greeting(OBSERVER_INFO, 4, 0))
            check_equal(struct.unpack(">i", peer.exactly(4))[0], LEADER_INFO, "the leader's answer")
        with Peer(leader.quorum_port) as peer:
            check(not peer.log_in("another"), "the password is wrong")


class Flood(threading.Thread):
    """Begins exchanges on these ports, as fast as it can, and ends none."""

    def __init__(self, ports):
        super().__init__(daemon=True)
        self.ports, self.ended, self.begun = ports, threading.Event(), 0

    def run(self):
        waiting = []
        while not self.ended.is_set():
            for port, before in self.ports:
                with contextlib.suppress(OSError):
                    peer = Peer(port, source="127.0.0.66")
                    peer.send(before + HELLO)
                    waiting.append(peer)
                    self.begun += 1
            while len(waiting) > 400:
                waiting.pop(0).socket.close()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.join()


def strangers_cannot_slow_anything_down():
    with password_ensemble([DROVER] * 3) as ensemble:
        leader = ensemble.start().leader()
        follower, other = ensemble.followers()
        ports = [(member.quorum_port, b"") for member in ensemble]
        ports += [(member.election_port, election_greeting(next(o.sid for o in ensemble if o is not member)))
                  for member in ensemble]
        with Flood(ports) as flood:
            wait_until(lambda: flood.begun > 1000, "a flood")
            for _ in range(3):
                follower.stop()
                ensemble.start(follower.sid)
                began = time.monotonic()
                write_marker(follower)
                check(time.monotonic() - began < LONGEST_WRITE, f"a write took {time.monotonic() - began} s")
        check(ensemble.leader() is leader, "no server had to look for a leader")
        check(other.mode() == "follower", f"{other} has left")


# ---- the rolling upgrade -----------------------------------------------------------------------------------


def restart(ensemble, member, stage):
    member.stop()
    set_stage(member, stage)
    ensemble.start(member.sid)
    write_marker(ensemble.leader())
    write_marker(member)


def is_answered(member, sid):
    """True if the leader answers a client that does not log in."""
    with Peer(member.quorum_port) as stranger:
        stranger.send(greeting(FOLLOWER_INFO, sid, 0))
        with contextlib.suppress(ConnectionResetError):
            return stranger.socket.recv(1) != b""
    return False


def the_rolling_upgrade_of_a_mixed_ensemble():
    with password_ensemble([JAVA, DROVER, JAVA39], OFF) as ensemble:
        ensemble.start()
        led = set()
        for stage in (ENABLED, LEARNER, REQUIRED):
            leader = ensemble.leader()
            for member in [each for each in ensemble if each is not leader] + [leader]:
                restart(ensemble, member, stage)
                led.add(ensemble.leader().kind)
        check(DROVER in led and len(led) > 1, f"drover and Java led, not {led}")
        leader = ensemble.leader()
        check(not is_answered(leader, ensemble.followers()[0].sid), f"{leader} answers a stranger")
        for member in ensemble:
            member.check_not_diverged()


# ---- observers with small ids, to which voters connect -----------------------------------------------------


def observes(ensemble, *sids):
    """Also after a restart, when there is a leader; and these refuse nobody. (Others may count a connection that a server
    with a smaller id has given up, because it was connected to meanwhile.)"""
    for _ in range(2):
        for sid in sids:
            check_equal(ensemble[sid].mode(), "observer", f"the role of {ensemble[sid]}")
            write_marker(ensemble[sid])
            ensemble[sid].stop()
        ensemble.start(*sids)
    for sid in sids:
        if ensemble[sid].kind == DROVER:
            check_equal(refused(ensemble[sid], "peer_rejected_credentials"), 0, f"who was refused by {ensemble[sid]}")


def voters_log_in_to_an_observer_with_a_small_id():
    with password_ensemble([DROVER] * 4, observers=(1,)) as ensemble:
        ensemble.start()
        observes(ensemble, 1)


def voters_of_both_kinds_log_in_to_observers_with_small_ids():
    with password_ensemble([DROVER, JAVA, DROVER, DROVER, JAVA39], observers=(1, 2)) as ensemble:
        ensemble.start()
        observes(ensemble, 1, 2)


def an_observer_with_a_small_id_joins():
    """The voters do not know it when they connect to it first."""
    with password_ensemble([DROVER] * 3, make=Members, first=2) as ensemble:
        ensemble.start()
        joins = ensemble.add(1)
        joins.role = OBSERVER
        joins.config.update(ensemble.lines())
        with_passwords(joins)
        ensemble.join(1)
        ensemble.agree()
        observes(ensemble, 1)


# ---- Kerberos ----------------------------------------------------------------------------------------------


class Ticket:
    """A principal's side of GSSAPI, with a real ticket."""

    def __init__(self, kdc, principal, keytab):
        os.environ["KRB5_CONFIG"] = str(kdc.krb5_conf)
        os.environ["KRB5CCNAME"] = f"FILE:{kdc.tickets(principal, keytab, file='tickets-' + principal.replace('/', '-'))}"
        self.principal = f"{principal}@{kdc.realm}"

    def log_in(self, peer, host, act_as=None):
        """The last status that the server sends."""
        _, context = kerberos.authGSSClientInit(f"zkquorum@{host}", principal=self.principal)
        kerberos.authGSSClientStep(context, "")
        while True:
            peer.send(auth_packet(base64.b64decode(kerberos.authGSSClientResponse(context) or "")))
            status, token = peer.auth_packet()
            if status != IN_PROGRESS:
                return status
            challenge = base64.b64encode(token).decode()
            if token and kerberos.authGSSClientUserName(context):
                kerberos.authGSSClientUnwrap(context, challenge)
                kerberos.authGSSClientWrap(context, kerberos.authGSSClientResponse(context), act_as or self.principal)
            else:
                kerberos.authGSSClientStep(context, challenge)


def status_of(kdc, member, principal, keytab, act_as=None):
    with Peer(member.quorum_port, host=f"127.0.0.{member.sid}") as peer:
        return Ticket(kdc, principal, keytab).log_in(peer, f"127.0.0.{member.sid}", act_as)


def servers_log_in_with_kerberos_and_other_principals_are_refused():
    with tempfile.TemporaryDirectory(prefix="quorum-kerberos-") as folder, Kdc(pathlib.Path(folder) / "kdc") as kdc:
        strangers = ("eve", "eve/elsewhere", "learner/127.0.0.9", "learner/LOCALHOST", "127.0.0.1")
        for name in strangers:
            kdc.add_principal(name)
        people = kdc.keytab(*strangers, file="people")
        with kerberos_ensemble(kdc, [JAVA, JAVA39, DROVER]) as ensemble:
            leader = ensemble.start().leader()
            leader.stop()  # So that a server of the other kind leads, too.
            ensemble.start(leader.sid)
            write_marker(leader)
            for member in (ensemble[3], ensemble.leader()):
                for name in strangers:
                    check_equal(status_of(kdc, member, name, people), ERROR, f"{name} at {member}")
                own = kdc.folder / "keytab-127.0.0.1"
                check_equal(status_of(kdc, member, "learner/127.0.0.1", own), SUCCESS, f"a member at {member}")
                check_equal(status_of(kdc, member, "learner/127.0.0.1", own, f"learner/127.0.0.2@{kdc.realm}"), ERROR,
                            f"a member that acts as another at {member}")
                check_equal(status_of(kdc, member, "eve", people, f"learner/127.0.0.1@{kdc.realm}"), ERROR,
                            f"eve as a member at {member}")
            check("the principal names no host" in ensemble[3].said(), "the log says why")


def tickets_are_renewed():
    with tempfile.TemporaryDirectory(prefix="quorum-tickets-") as folder, \
            Kdc(pathlib.Path(folder) / "kdc", ticket_life="10m", own_clock=True) as kdc:
        with kerberos_ensemble(kdc, [DROVER] * 3) as ensemble:
            leader = ensemble.start().leader()
            kdc.stop()
            write_marker(leader)  # Links that are up do not need the KDC.
            kdc.advance(3600)
            kdc.start()
            for member in list(ensemble):
                member.stop()
                ensemble.start(member.sid)
                write_marker(member)


CASES = [strangers_cannot_vote_follow_or_read, strangers_cannot_slow_anything_down,
         the_rolling_upgrade_of_a_mixed_ensemble, voters_log_in_to_an_observer_with_a_small_id,
         voters_of_both_kinds_log_in_to_observers_with_small_ids, an_observer_with_a_small_id_joins,
         servers_log_in_with_kerberos_and_other_principals_are_refused, tickets_are_renewed]
WITH_JAVA = (the_rolling_upgrade_of_a_mixed_ensemble, voters_of_both_kinds_log_in_to_observers_with_small_ids,
             servers_log_in_with_kerberos_and_other_principals_are_refused)
for each in CASES:
    each.kinds = (JAVA, JAVA39, DROVER) if each in WITH_JAVA else (DROVER,)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", help="run the cases whose name contains this")
    arguments = parser.parse_args()
    return run("quorum_sasl", without_unreachable("quorum_sasl", CASES), arguments.only)


if __name__ == "__main__":
    sys.exit(main())
