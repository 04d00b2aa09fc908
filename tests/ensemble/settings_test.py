#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
#
# Keys of the configuration that only an ensemble of real processes can show to have an effect.
#
#   settings_test.py --only TEXT

import argparse
import contextlib
import pathlib
import socket
import ssl
import sys
import tempfile

from ensemble import DROVER, Ensemble, write_marker  # First: it makes tests/durability and tests/compat importable.
from certificates import Authority
from harness import check, check_equal, wait_until
from strangers_test import FOLLOWER_INFO, greeting, refused
from suite import run

CANNOT_START_EXIT = 1
PASSWORD = "quorum"


def an_election_port_in_use_is_retried():
    with Ensemble([DROVER] * 3) as ensemble:
        with socket.create_server(("127.0.0.1", ensemble[3].election_port)):
            ensemble.start(wait=False)
            wait_until(lambda: "trying again in a second" in ensemble[3].said(), "a second try")
        ensemble.settle()


def an_election_port_that_stays_in_use_stops_the_server_after_the_configured_tries():
    with Ensemble([DROVER] * 3, properties={"zookeeper.electionPortBindRetry": 2}) as ensemble:
        with socket.create_server(("127.0.0.1", ensemble[3].election_port)):
            ensemble[3].launch()
            check_equal(ensemble[3].process.wait(30), CANNOT_START_EXIT, "exit code")
        check_equal(ensemble[3].said().count("trying again in a second"), 1, "tries after the first")
        ensemble[3].process = None


def changed_stores_of_the_quorum_are_used_without_a_restart():
    """All servers get stores of a new authority, and accept a server that has only the new ones."""
    with tempfile.TemporaryDirectory() as folder:
        current = pathlib.Path(folder) / "current"

        def write_stores(name):
            """Both stores change at once: a reload in between would load one of each."""
            stores = pathlib.Path(folder) / name
            stores.mkdir()
            authority = Authority(stores, name)
            certificate = authority.issue(f"/CN=server of {name}", "DNS:localhost,IP:127.0.0.1")
            certificate.pem(stores / "key.pem", PASSWORD)
            authority.trust(stores / "trust.pem", "PEM", PASSWORD)
            link = pathlib.Path(folder) / "next"
            link.symlink_to(stores)
            link.replace(current)

        write_stores("old")
        config = {"sslQuorum": "true", "sslQuorumReloadCertFiles": "true",
                  "ssl.quorum.keyStore.location": current / "key.pem", "ssl.quorum.keyStore.password": PASSWORD,
                  "ssl.quorum.trustStore.location": current / "trust.pem"}
        with Ensemble([DROVER] * 3, config=config) as ensemble:
            ensemble.start()
            write_stores("new")
            for member in ensemble:
                wait_until(lambda m=member: m.said().count("of the quorum were reloaded") >= 2,
                           f"{member} with new stores", 30)
            leader = ensemble.leader()
            follower = next(member for member in ensemble if member is not leader)
            follower.stop()
            ensemble.start(follower.sid)
            write_marker(follower)
            check(ensemble.leader() is leader, "no other server had to look for a leader")


def the_key_of_one_server_does_not_speak_for_another():
    """Only certificates distinguish the clients: all connections come from 127.0.0.1."""
    with tempfile.TemporaryDirectory() as folder:
        stores = pathlib.Path(folder)
        authority = Authority(stores, "ensemble")
        authority.trust(stores / "trust.pem", "PEM", PASSWORD)
        config = {"sslQuorum": "true", "ssl.quorum.clientHostnameVerification": "false",
                  "ssl.quorum.trustStore.location": stores / "trust.pem"}
        with Ensemble([DROVER] * 3, config=config) as ensemble:
            lines = {f"server.{m.sid}": m.line().replace("127.0.0.1", f"127.0.0.{m.sid}") for m in ensemble}
            contexts = {}
            for member in ensemble:
                certificate = authority.issue(f"/CN=server {member.sid}", f"IP:127.0.0.{member.sid}")
                certificate.pem(stores / f"{member.sid}.pem", PASSWORD)
                member.config.update(lines | {"ssl.quorum.keyStore.location": stores / f"{member.sid}.pem",
                                              "ssl.quorum.keyStore.password": PASSWORD})
                contexts[member.sid] = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
                contexts[member.sid].load_verify_locations(stores / "trust.pem")
                contexts[member.sid].load_cert_chain(certificate.certificate, certificate.key)
            leader = ensemble.start().leader()
            absent, other = ensemble.followers()
            absent.stop()

            def is_answered(key_of):
                host = f"127.0.0.{leader.sid}"
                with socket.create_connection((host, leader.quorum_port), timeout=20) as plain, \
                        contexts[key_of.sid].wrap_socket(plain, server_hostname=host) as peer:
                    peer.sendall(greeting(FOLLOWER_INFO, absent.sid, 0))
                    with contextlib.suppress(ConnectionResetError):
                        return peer.recv(1) != b""
                return False

            check(not is_answered(other), f"{other} speaks for {absent}")
            check_equal(refused(leader, "peer_rejected_address"), 1, "refused connections")
            check("quorum.peerCertificateCheck" in leader.said(), "the log says why")
            check(is_answered(absent), f"{absent} speaks for itself")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", help="run the cases whose name contains this")
    arguments = parser.parse_args()
    return run("settings", [the_key_of_one_server_does_not_speak_for_another,
                            an_election_port_in_use_is_retried,
                            an_election_port_that_stays_in_use_stops_the_server_after_the_configured_tries,
                            changed_stores_of_the_quorum_are_used_without_a_restart], arguments.only)


if __name__ == "__main__":
    sys.exit(main())
