#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
#
# TLS from end to end: a server with a secure port, stores in every format that ZooKeeper's users have, and
# clients with good, bad and no certificates. Most cases speak the protocol raw over Python's ssl; kazoo and
# the Java client make a round trip each.
#
# `--server java` runs the cases that Apache's server can pass as well: the test of the test. Debian's
# interpreter is used on purpose, because kazoo is a Debian module (python3-kazoo).

import contextlib
import pathlib
import re
import socket
import ssl
import struct
import subprocess
import sys
import time
import warnings

import protocol as p
from certificates import SERVER_NAMES, Authority, expired, run_tool
from servers import JVM_FLAGS, MissingDependency, drover_binary, four_letter_word, java_binary
from suite import check, check_equal, parse_server_kind, run
from tls_bad_settings import bad_settings
from tls_support import (ADMIN, ALICE, BOB, EXTENSIONS, NOAUTH, OK, PASSWORD, PATIENCE, Pki, TlsDrover,
                         TlsJava, check_round_trip, data_of, error_of, identities_of, netty_classpath,
                         session_on, wait_until, word_over_tls)

# A TLS record that announces a ClientHello of 512 bytes and brings none of them.
HALF_A_HELLO = bytes.fromhex("1603010200")

arguments = parse_server_kind("TLS against a server")
SERVER = {"drover": TlsDrover, "java": TlsJava}[arguments.server]


def serving(settings=None, **options):
    """A running server; the settings stand beside or instead of the usual ones."""
    return SERVER(pki, settings, **options)


def stores(kind="PEM", key=None):
    return pki.stores(kind, key, SERVER.pem_cipher)


def connect(server, certificate=None, context=None, port=None):
    return session_on(port or server.secure_port, context or pki.context(certificate))


def connected(server, *who, **options):
    session = connect(server, *who, **options)
    check(session is not None, "the server refused")
    return session


# ---- what every store and every client gets ---------------------------------------------------------------

def sessions_work_with_stores_of_every_kind():
    for kind in EXTENSIONS:
        with serving(stores(kind)) as server:
            check_round_trip(connected(server, pki.bob), "/node")


def a_store_may_have_an_explicit_type_and_a_password_file():
    password_file = pki.files / "password"
    password_file.write_text(PASSWORD + "\n")
    settings = {}
    for store in ("keyStore", "trustStore"):
        location = pathlib.Path(stores("PKCS12")[f"ssl.{store}.location"])
        settings[f"ssl.{store}.location"] = location.rename(location.with_suffix(".without-meaning"))
        settings[f"ssl.{store}.type"] = "PKCS12"
        settings[f"ssl.{store}.password"] = ""
        settings[f"ssl.{store}.passwordPath"] = password_file
    with serving(settings) as server:
        check_round_trip(connected(server, pki.bob), "/node")


def an_rsa_key_serves_as_well():
    with serving(stores("JKS", key=pki.authority.issue("/CN=server", SERVER_NAMES, kind="rsa"))) as server:
        check_round_trip(connected(server, pki.bob), "/node")


def pipelined_and_large_requests_pass():
    # Bytes that OpenSSL has decrypted are unknown to epoll. They must not be forgotten, and neither must half a record.
    with serving() as server:
        session = connected(server, pki.bob)
        large = bytes(range(256)) * 4000
        check_round_trip(session, "/large", large)
        request = p.frame(struct.pack(">ii", 7, p.GET_DATA) + p.path_watch_body("/large"))
        session.send(request * 20)
        for _ in range(20):
            check_equal(p.Decoder(session.receive()[16:]).buffer(), large)
        for byte in request:
            session.send(bytes([byte]))
        check_equal(p.Decoder(session.receive()[16:]).buffer(), large)
        # A little more than a power of two: the last record arrives with the one that fills a buffer.
        for size in [1 << 16, 1 << 17, 1 << 18] * 20:
            check_equal(error_of(session, p.SET_DATA, p.set_data_body("/large", bytes(size + 50))), OK)


def four_letter_words_are_answered_inside_tls():
    with serving() as server:
        check_equal(word_over_tls(server.secure_port, b"ruok", pki.context(pki.bob)), "imok")
        check("Mode: standalone" in word_over_tls(server.secure_port, b"srvr", pki.context(pki.bob)), "srvr")


def plain_bytes_on_the_secure_port_are_not_answered():
    with serving() as server:
        plain = p.Connection(server.secure_port)
        check_equal(plain.handshake(), None, "answer to a plain client")
        with p.Connection(server.secure_port).socket as connection:
            connection.sendall(b"ruok")
            check(b"imok" not in connection.recv(100), "a plain word was answered")


# ---- who gets in ------------------------------------------------------------------------------------------

def need_refuses_strangers_and_others_continue():
    with serving() as server:
        session = connected(server, pki.bob)
        check_equal(connect(server), None, "a client without a certificate")
        check_equal(connect(server, pki.stranger), None, "a client of another authority")
        check_round_trip(session, "/still")
        check_round_trip(connected(server, pki.alice), "/new")


def want_accepts_no_certificate_but_refuses_a_bad_one():
    with serving({"ssl.clientAuth": "want"}) as server:
        check_round_trip(connected(server), "/nobody")
        check_round_trip(connected(server, pki.bob), "/bob")
        check_equal(connect(server, pki.stranger), None, "a client of another authority")
        check("x509" not in identities_of(connected(server)), "an identity without a certificate")
        check_equal(identities_of(connected(server, pki.bob)).get("x509"), BOB)


def trusting(*those):
    store = pki.files / "trusting.pem"
    store.write_text("".join(each.certificate.read_text() for each in those))
    return store


def clients_that_java_accepts_and_drover_refuses():
    """docs/compatibility.md, "TLS": stricter on purpose."""
    old = expired(pki.files, "expired", PASSWORD)
    late = Authority.expired(pki.files, "late", PASSWORD)
    below_late = late.issue("/CN=below an expired one")
    with serving({"ssl.trustStore.location": trusting(pki.authority, old, late, pki.stranger)}) as server:
        check(connect(server, pki.alice), "an ordinary certificate is refused")
        check(connect(server, pki.stranger), "a certificate that is itself in the trust store is refused")
        is_java = arguments.server != "drover"
        check_equal(connect(server, old) is not None, is_java, "an expired one is let in")
        check_equal(connect(server, below_late) is not None, is_java, "one of an expired authority is let in")


def certificates_may_have_the_name_of_their_authority():
    """As the tests of ZooKeeper's C client make them, and so many of its users."""
    for version in (1, 3):
        root = Authority(pki.files, "twin", version)
        twin = root.issue_plain("twin")
        impostor = Authority(pki.files, "twin", version).issue_plain("twin")
        with serving({"ssl.trustStore.location": trusting(pki.authority, root)}) as server:
            check(connect(server, twin), f"version {version}: its authority is in the trust store")
            check(connect(server, pki.bob), "others have names of their own")
            check_equal(connect(server, impostor), None, "signed by another authority of that name")


def an_authority_may_be_renewed_with_another_key():
    store = pki.files / "renewed.jks"  # Of two namesakes in a PEM file Java keeps one.
    for version in (1, 3):
        store.unlink(missing_ok=True)
        old, new = Authority(pki.files, "renewed", version), Authority(pki.files, "renewed", version)
        for alias, authority in (("old", old), ("new", new)):
            run_tool("keytool", "-importcert", "-noprompt", "-alias", alias, "-file", authority.certificate,
                     "-keystore", store, "-storetype", "JKS", "-storepass", PASSWORD)
        with serving({"ssl.trustStore.location": store}) as server:
            for authority in (old, new):
                check(connect(server, authority.issue_plain("of one of the two")), f"version {version}")


def none_asks_for_no_certificate():
    without_trust = {"ssl.clientAuth": "none", "ssl.trustStore.location": "", "ssl.trustStore.password": ""}
    with serving(without_trust) as server:
        for certificate in (None, pki.bob, pki.stranger):
            session = connected(server, certificate)
            check("x509" not in identities_of(session), "an identity without asking")
        check_round_trip(session, "/anybody")


def a_client_that_distrusts_the_server_does_no_harm():
    with serving() as server:
        context = pki.context(pki.bob, trusted=pki.strange_authority)
        check_equal(connect(server, context=context), None, "a handshake that the client ended")
        check_round_trip(connected(server, pki.bob), "/node")


def a_clients_address_must_match_its_certificate_if_configured():
    here = pki.authority.issue("/CN=here", "IP:127.0.0.1")
    elsewhere = pki.authority.issue("/CN=elsewhere", "IP:192.0.2.1")
    with serving({"ssl.clientHostnameVerification": "true"}) as server:
        check_round_trip(connected(server, here), "/here")
        check_equal(connect(server, elsewhere), None, "a client from another address")


# ---- what a certificate is worth --------------------------------------------------------------------------

def a_node_for_one_certificate_is_denied_to_others():
    with serving() as server:
        alice, bob = connected(server, pki.alice), connected(server, pki.bob)
        for path, scheme, identity in (("/named", "x509", ALICE), ("/auth", "auth", "")):
            body = p.create_body(path, b"secret", [(p.ALL, scheme, identity)])
            check_equal(error_of(alice, p.CREATE, body), OK, f"create {path}")
            check_equal(data_of(alice, path), b"secret")
            plain = p.Connection(server.port)
            plain.handshake()
            for other in (bob, plain):
                check_equal(error_of(other, p.GET_DATA, p.path_watch_body(path)), NOAUTH, f"getData {path}")
                error = error_of(other, p.SET_DATA, p.set_data_body(path, b""))
                check_equal(error, NOAUTH, f"setData {path}")
            check_equal(data_of(connected(server, pki.alice), path), b"secret", "another session of alice")


def the_subject_is_written_as_java_writes_it():
    with serving() as server:
        check_equal(identities_of(connected(server, pki.alice)).get("x509"), ALICE)


def the_super_users_certificate_grants_everything():
    with serving(properties={"zookeeper.X509AuthenticationProvider.superUser": ADMIN}) as server:
        alice = connected(server, pki.alice)
        check_equal(error_of(alice, p.CREATE, p.create_body("/own", b"secret", [(p.ALL, "x509", ALICE)])), OK)
        check_equal(error_of(connected(server, pki.bob), p.GET_DATA, p.path_watch_body("/own")), NOAUTH)
        check_equal(data_of(connected(server, pki.admin), "/own"), b"secret")
        check_equal(error_of(connected(server, pki.admin), p.DELETE, p.path_version_body("/own")), OK)


def without_a_super_user_a_certificate_without_a_subject_is_not_super():
    with serving() as server:
        alice = connected(server, pki.alice)
        acls = {"/own": [(p.ALL, "x509", ALICE)], "/digest": [(p.ALL, "digest", "a:b")]}
        for path, acl in acls.items():
            check_equal(error_of(alice, p.CREATE, p.create_body(path, b"secret", acl)), OK)
        for path in acls:
            nameless = connect(server, pki.nameless)
            if nameless:  # Java refuses it, and so may we.
                error = error_of(nameless, p.GET_DATA, p.path_watch_body(path))
                check_equal(error, NOAUTH, f"getData {path}")


# ---- protocols and ciphers --------------------------------------------------------------------------------

def agreed(server, context):
    session = connected(server, context=context)
    return session.socket.version(), session.socket.cipher()[0]


def only_between(lowest, highest, ciphers=None):
    context = pki.context(pki.bob)
    context.minimum_version, context.maximum_version = lowest, highest
    if ciphers:
        context.set_ciphers(ciphers)
    return context


V1, V1_1 = ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1
V1_2, V1_3 = ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3


def only_the_two_current_protocols_are_accepted():
    with serving() as server:
        check_equal(agreed(server, pki.context(pki.bob))[0], "TLSv1.3")
        check_equal(agreed(server, only_between(V1_2, V1_2))[0], "TLSv1.2")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # Only who speaks it can see it refused.
            old = only_between(V1, V1_1, "ALL:@SECLEVEL=0")
        check_equal(connect(server, context=old), None, "TLS 1.1")


def protocols_can_be_restricted():
    for protocol, version, other in (("TLSv1.2", V1_2, V1_3), ("TLSv1.3", V1_3, V1_2)):
        for key in ("ssl.protocol", "ssl.enabledProtocols"):
            with serving({key: protocol}) as server:
                check_equal(agreed(server, pki.context(pki.bob))[0], protocol, key)
                refused = only_between(other, other)
                check_equal(connect(server, context=refused), None, f"{key}: the other protocol")


def ciphers_can_be_restricted():
    suite = "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"
    with serving({"ssl.ciphersuites": suite, "ssl.enabledProtocols": "TLSv1.2"}) as server:
        check_equal(agreed(server, pki.context(pki.bob)), ("TLSv1.2", "ECDHE-ECDSA-AES128-GCM-SHA256"))
        refused = only_between(V1_2, V1_2, "ECDHE-ECDSA-AES256-GCM-SHA384")
        check_equal(connect(server, context=refused), None, "another cipher")
    with serving({"ssl.ciphersuites": "TLS_AES_128_GCM_SHA256"}) as server:
        check_equal(agreed(server, pki.context(pki.bob)), ("TLSv1.3", "TLS_AES_128_GCM_SHA256"))


# ---- one port for both, stores that change, clients that do not finish ------------------------------------

def a_unified_port_accepts_tls_and_plain():
    with serving({"client.portUnification": "true"}) as server:
        plain = p.Connection(server.port)
        check(plain.handshake() is not None, "plain")
        check_round_trip(plain, "/plain")
        secure = connected(server, pki.bob, port=server.port)
        check_round_trip(secure, "/tls")
        check_equal((data_of(plain, "/tls"), data_of(secure, "/plain")), (b"over TLS", b"over TLS"))
        check_equal(identities_of(secure).get("x509"), BOB)
        check_equal(word_over_tls(server.port, b"ruok", pki.context(pki.bob)), "imok")
        check_equal(four_letter_word(server.port, "ruok"), "imok")
        check_equal(connect(server, pki.stranger, port=server.port), None, "a client of another authority")
        # This word comes without TLS too.
        found = re.search(r"zk_non_mtls_local_conn_count\t(\d+)", four_letter_word(server.port, "mntr"))
        check(found and int(found[1]) >= 2, "connections without TLS are counted")


def replaced(path, write):
    """Replaces a certificate as tools do: with a rename over the old file."""
    fresh = pathlib.Path(write(path.with_name("fresh" + path.suffix)))
    fresh.rename(path)


def presented(server):
    session = connect(server, pki.bob)
    return session and session.socket.getpeercert(binary_form=True)


def replaced_stores_are_picked_up_without_a_restart():
    for kind in ("PEM", "JKS"):
        settings = stores(kind)
        with serving(settings) as server:
            session, before = connected(server, pki.bob), presented(server)
            renewed = pki.authority.issue("/CN=renewed", SERVER_NAMES)
            replaced(settings["ssl.keyStore.location"],
                     lambda path: (renewed.pem if kind == "PEM" else renewed.jks)(path, PASSWORD))
            wait_until(lambda: presented(server) not in (None, before), "the old certificate is still in use")
            check_round_trip(session, f"/{kind}")


def a_replaced_trust_store_decides_about_new_clients():
    settings = stores()
    with serving(settings) as server:
        session = connected(server, pki.bob)
        replaced(settings["ssl.trustStore.location"],
                 lambda path: pki.strange_authority.trust(path, "PEM", PASSWORD))
        wait_until(lambda: connect(server, pki.stranger) is not None, "the old trust store is still in use")
        check_equal(connect(server, pki.bob), None, "a client that is not trusted any more")
        check_round_trip(session, "/connected-before")


def a_damaged_new_store_leaves_the_old_one_in_use():
    settings = stores()
    key_store = settings["ssl.keyStore.location"]
    with serving(settings) as server:
        good = key_store.read_bytes()
        key_store.write_bytes(b"not a store")
        wait_until(lambda: "cannot reload the key and trust stores" in server.log_tail(), "the server says nothing")
        check_round_trip(connected(server, pki.bob), "/node")
        key_store.write_bytes(good)
        wait_until(lambda: "were reloaded" in server.log_tail(), "the repaired store is not used")
        check_round_trip(connected(server, pki.bob), "/again")
        check(PASSWORD not in server.log_file.read_text(), "a password in the log")


def an_incomplete_handshake_times_out():
    # Nothing else may close them: not the limit for connections that never say anything.
    with serving({"ssl.handshakeDetectionTimeoutMillis": "500", "nio.sessionlessCnxnTimeout": "600000",
                  "client.portUnification": "true"}) as server:
        lingering = []
        for port, opening in ((server.secure_port, b""), (server.secure_port, HALF_A_HELLO),
                              (server.port, HALF_A_HELLO)):
            connection = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
            connection.sendall(opening)
            lingering.append(connection)
        opened = time.monotonic()
        check_round_trip(connected(server, pki.bob), "/meanwhile")
        for connection in lingering:
            with contextlib.suppress(ConnectionResetError), connection:
                check_equal(connection.recv(100), b"", "what the server says to half a handshake")
        waited = time.monotonic() - opened
        check(0.4 <= waited <= 4.5, f"closed after {waited:.1f} s instead of 0.5 s")
        check("no handshake or complete request in time" in server.log_tail(), "the server's log")


# ---- what cannot work -------------------------------------------------------------------------------------

def invalid_settings_stop_the_server_with_one_line_and_no_password():
    for what, settings, named in bad_settings(pki):
        base = {"dataDir": pki.files / "data", "secureClientPort": 0, "secureClientPortAddress": "127.0.0.1"}
        config = pki.files / "zoo.cfg"
        config.write_text("".join(f"{k}={v}\n" for k, v in {**base, **stores(), **settings}.items()))
        done = subprocess.run([drover_binary(), "server", str(config)], capture_output=True, text=True,
                              timeout=PATIENCE)
        output = done.stdout + done.stderr
        check(done.returncode in (1, 2), f"{what}: exit code {done.returncode}")
        check_equal(len(output.splitlines()), 1, f"{what}: lines of\n{output}")
        check(named in output, f"{what}: {named} is not named in\n{output}")
        check(PASSWORD not in output, f"{what}: the password is in\n{output}")


def no_password_is_shown_by_a_server_that_runs():
    secrets = {f"zookeeper.ssl.{store}.password": PASSWORD for store in ("keyStore", "trustStore")}
    with serving(properties=secrets) as server:
        words = [four_letter_word(server.port, word) for word in ("conf", "envi", "mntr", "srvr")]
        connect(server, pki.stranger)
        text = "".join(words) + server.log_file.read_text()
        check(PASSWORD not in text, "a password is shown")


# ---- other people's clients -------------------------------------------------------------------------------

def kazoo_makes_a_round_trip():
    try:
        from kazoo.client import KazooClient
    except ImportError:
        raise MissingDependency("module kazoo is missing (Debian package: python3-kazoo)") from None
    with serving() as server:
        client = KazooClient(hosts=f"localhost:{server.secure_port}", use_ssl=True,
                             ca=str(pki.authority.certificate), certfile=str(pki.bob.certificate),
                             keyfile=str(pki.bob.key))
        client.start(timeout=PATIENCE)
        client.create("/kazoo", b"over TLS")
        check_equal(client.get("/kazoo")[0], b"over TLS")
        client.stop()
        client.close()


def the_java_client_makes_a_round_trip():
    key_store, trust_store = pki.bob.jks(pki.files / "client.jks", PASSWORD), pki.files / "client-trust.jks"
    pki.authority.trust(trust_store, "JKS", PASSWORD)
    properties = {"client.secure": "true", "clientCnxnSocket": "org.apache.zookeeper.ClientCnxnSocketNetty",
                  "ssl.keyStore.location": key_store, "ssl.keyStore.password": PASSWORD,
                  "ssl.trustStore.location": trust_store, "ssl.trustStore.password": PASSWORD}
    with serving() as server:
        def command_line(*words):
            # Where localhost is ::1 as well, the shell tries one of the two and gives up.
            command = [java_binary(), *JVM_FLAGS, "-Djava.net.preferIPv4Stack=true",
                       *[f"-Dzookeeper.{key}={value}" for key, value in properties.items()],
                       "-cp", netty_classpath(), "org.apache.zookeeper.ZooKeeperMain",
                       "-server", f"localhost:{server.secure_port}", *words]
            done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                  timeout=2 * PATIENCE)
            check_equal(done.returncode, 0, f"exit code of {words}:\n{done.stdout}{done.stderr}")
            return done.stdout

        command_line("create", "/java", "hello-over-tls", "auth::cdrwa")  # for bob's certificate and no other
        check("hello-over-tls" in command_line("get", "/java"), "get")
        check_equal(error_of(connected(server, pki.alice), p.GET_DATA, p.path_watch_body("/java")), NOAUTH)


COMMON_CASES = [
    sessions_work_with_stores_of_every_kind, a_store_may_have_an_explicit_type_and_a_password_file,
    an_rsa_key_serves_as_well, pipelined_and_large_requests_pass, four_letter_words_are_answered_inside_tls,
    plain_bytes_on_the_secure_port_are_not_answered, need_refuses_strangers_and_others_continue,
    want_accepts_no_certificate_but_refuses_a_bad_one, clients_that_java_accepts_and_drover_refuses,
    certificates_may_have_the_name_of_their_authority, an_authority_may_be_renewed_with_another_key,
    none_asks_for_no_certificate,
    a_client_that_distrusts_the_server_does_no_harm, a_node_for_one_certificate_is_denied_to_others,
    the_subject_is_written_as_java_writes_it, the_super_users_certificate_grants_everything,
    without_a_super_user_a_certificate_without_a_subject_is_not_super,
    a_unified_port_accepts_tls_and_plain, kazoo_makes_a_round_trip, the_java_client_makes_a_round_trip,
]
# Java 3.8.0 speaks TLS 1.2 alone unless told otherwise and reads its stores once; the rest is about drover's
# own limits and messages.
DROVER_CASES = [
    only_the_two_current_protocols_are_accepted, protocols_can_be_restricted,
    ciphers_can_be_restricted,
    a_clients_address_must_match_its_certificate_if_configured,
    replaced_stores_are_picked_up_without_a_restart, a_replaced_trust_store_decides_about_new_clients,
    a_damaged_new_store_leaves_the_old_one_in_use, an_incomplete_handshake_times_out,
    invalid_settings_stop_the_server_with_one_line_and_no_password,
    no_password_is_shown_by_a_server_that_runs,
]

if __name__ == "__main__":
    try:
        pki = Pki()
    except MissingDependency as missing:
        print(f"tls: FAILED: {missing}\ntls: 0 passed, 1 failed")
        sys.exit(1)
    cases = COMMON_CASES + (DROVER_CASES if arguments.server == "drover" else [])
    sys.exit(run("tls", cases, arguments.only))
