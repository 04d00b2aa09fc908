#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# The client library against both servers: build/release/bin/client_live_test with the address of each; then over
# TLS, against a server without a quorum, and with an ensemble whose members change.
#
#   run.py PROGRAM [ARGUMENT...]     arguments are GoogleTest's
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / name) for name in ("compat", "durability", "ensemble", "cli_reconfig")]
import growing  # noqa: E402  (the path above must come first)
import protocol  # noqa: E402
import servers  # noqa: E402
from ports import free_port  # noqa: E402
import tls_support  # noqa: E402


def run(program, arguments, what, tests, address, **variables):
    print(f"---- {what}", flush=True)
    environment = dict(os.environ, SERVER=address, **variables)
    return subprocess.run([program, "--gtest_brief=1", f"--gtest_filter={tests}", *arguments],
                          env=environment).returncode != 0


def tls_files(pki):
    """Alice's key stores of each type, her trust store, and one with a foreign authority."""
    password = tls_support.PASSWORD
    pki.alice.pem(pki.files / "alice.pem", password)
    pki.alice.pkcs12(pki.files / "alice.p12", password)
    pki.alice.jks(pki.files / "alice.jks", password)
    for kind, extension in tls_support.EXTENSIONS.items():
        pki.authority.trust(pki.files / f"trusted{extension}", kind, password)
    pki.strange_authority.trust(pki.files / "strange.pem", "PEM", password)
    return {"TLS_FILES": str(pki.files), "TLS_PASSWORD": password}


class JavaMember(servers.JavaServer):
    """A member of an ensemble; Java starts it with another class."""

    def command(self, config_file):
        return [word.replace("ZooKeeperServerMain", "quorum.QuorumPeerMain") for word in super().command(config_file)]


def without_quorum(kind, member, data_dir):
    """One of three servers, of which the other two do not exist; it was standalone before, and has a history. Without
    local sessions Java's 3.8.0 gives a read-only client an answer that nobody can read."""
    with kind(data_dir=data_dir) as alone:
        connection = protocol.Connection(alone.port)
        connection.handshake()
        connection.close()
    config = {"initLimit": 5, "syncLimit": 5, "readonlymode.enabled": "true", "localSessionsEnabled": "true"}
    for number in (1, 2, 3):
        config[f"server.{number}"] = f"127.0.0.1:{free_port()}:{free_port()}"
    server = member(config=config, properties={"readonlymode.enabled": "true"}, tick_ms=200, data_dir=data_dir)
    (server.data_dir / "myid").write_text("1\n")
    return server


def following(kind, program, arguments):
    """Three servers become four and then another three, while clients follow. The first server, which clients know,
    does not lead: among equals the highest id wins."""
    with growing.GrowingEnsemble([kind] * 3) as ensemble:
        ensemble.start()
        fourth = ensemble.start_new_server(4, kind)
        return run(program, arguments, f"members that change, {kind}", "Following*", ensemble[1].address,
                   LEAVING="1", JOINING=fourth.text, JOINING_ADDRESS=fourth.address)


def main():
    program, arguments = sys.argv[1], sys.argv[2:]
    results = []
    for kind in ("drover", "java"):
        with servers.KINDS[kind]() as server:
            results.append(run(program, arguments, kind, "-*Tls*:ReadOnly*:Following*", server.address))
    pki = tls_support.Pki()
    files = tls_files(pki)
    for kind in (tls_support.TlsDrover, tls_support.TlsJava):
        with kind(pki) as server:
            address = f"localhost:{server.secure_port}"
            results.append(run(program, arguments, f"TLS, {kind.name}", "*Tls*", address, **files))
    for kind, member in ((servers.DroverServer, servers.DroverServer), (servers.JavaServer, JavaMember)):
        with tempfile.TemporaryDirectory(prefix="client-") as data_dir:
            with without_quorum(kind, member, data_dir) as server:
                results.append(run(program, arguments, f"read-only, {kind.name}", "ReadOnly*", server.address))
    for kind in (growing.DROVER, growing.JAVA):
        results.append(following(kind, program, arguments))
    failed = sum(results)
    print(f"client: {len(results) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
