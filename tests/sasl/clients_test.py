#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
#
# Clients that log in with a password: kazoo and Apache's shell, with a JAAS file as Apache's documentation shows it.
# Also the server's side: errors that prevent a start, and that no password is ever shown.
#
# Debian's interpreter is used on purpose: kazoo and its SASL library are Debian modules.

import contextlib
import logging
import pathlib
import subprocess
import sys
import threading

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "compat"))

from servers import JVM_FLAGS, KINDS, four_letter_word, java_binary, java_classpath
from suite import check, check_equal, run

from kazoo import exceptions as errors
from kazoo.client import KazooClient
from kazoo.protocol.states import KeeperState
from kazoo.security import make_acl

PROVIDER = "org.apache.zookeeper.server.auth.SASLAuthenticationProvider"
PATIENCE = 30
SECRETS = ("adminsecret", "bobsecret", "othersecret")
SERVER_JAAS = '''Server {
  org.apache.zookeeper.server.auth.DigestLoginModule required
  user_super="adminsecret"
  user_bob="bobsecret";
};
'''
CLIENT_JAAS = '''Client {
  org.apache.zookeeper.server.auth.DigestLoginModule required
  username="bob"
  password="%s";
};
'''
logging.getLogger("kazoo").setLevel(logging.CRITICAL)


def make_server(**properties):
    server = KINDS["drover"]()
    jaas = server.base / "jaas.conf"
    jaas.write_text(SERVER_JAAS)
    jaas.chmod(0o600)
    server.properties["java.security.auth.login.config"] = str(jaas)
    server.properties["zookeeper.authProvider.1"] = PROVIDER
    server.properties.update({f"zookeeper.{name}": value for name, value in properties.items()})
    return server


server = make_server(**{"admin.enableServer": "true", "admin.serverPort": "0", "admin.serverAddress": "127.0.0.1",
                        "SASLAuthenticationProvider.superPassword": "othersecret"})


@contextlib.contextmanager
def kazoo(user=None, password=None):
    options = {"sasl_options": {"mechanism": "DIGEST-MD5", "username": user, "password": password}} if user else {}
    client = KazooClient(hosts=server.address, timeout=10.0, **options)
    try:
        client.start(timeout=PATIENCE)
        yield client
    finally:
        client.stop()
        client.close()


def kazoo_logs_in_and_owns_its_nodes():
    with kazoo("bob", "bobsecret") as bob, kazoo() as stranger:
        bob.create("/bobs", b"x", acl=[make_acl("sasl", "bob", all=True)])
        check_equal(bob.get("/bobs")[0], b"x")
        for call, arguments in ((stranger.get, ()), (stranger.get_children, ()), (stranger.set, (b"",))):
            try:
                call("/bobs", *arguments)
                raise AssertionError("a stranger may")
            except errors.NoAuthError:
                pass


def kazoo_learns_that_its_password_is_wrong():
    client = KazooClient(hosts=server.address, timeout=10.0, sasl_options={
        "mechanism": "DIGEST-MD5", "username": "bob", "password": "wrong"})
    states, over, tell = [], threading.Event(), client._session_callback

    def on_state(state):
        states.append(state)
        tell(state)
        if state == KeeperState.CLOSED:
            over.set()
    client._session_callback = on_state
    try:
        client.start_async()
        check(over.wait(PATIENCE), f"it goes on; its states were {states}")
        check(KeeperState.AUTH_FAILED in states, f"its states were {states}")
    finally:
        client.stop()
        client.close()


def kazoo_logs_in_again_after_a_restart():
    with kazoo("bob", "bobsecret") as bob:
        bob.create("/again", b"1", acl=[make_acl("sasl", "bob", all=True)])
        server.kill()
        server.start()
        check_equal(bob.retry(bob.get, "/again")[0], b"1")


def shell(password, *lines):
    jaas = server.base / "client.conf"
    jaas.write_text(CLIENT_JAAS % password)
    done = subprocess.run(
        [java_binary(), *JVM_FLAGS, f"-Djava.security.auth.login.config={jaas}", "-cp",
         java_classpath("zookeeper.jar", "slf4j-nop.jar"), "org.apache.zookeeper.ZooKeeperMain", "-waitforconnection",
         "-server", server.address],
        input="".join(f"{line}\n" for line in (*lines, "quit")), capture_output=True, text=True, timeout=120,
        check=False)
    return done.stdout + done.stderr


def the_java_shell_logs_in():
    said = shell("bobsecret", "whoami", "create /shell x sasl:bob:cdrwa", "get /shell")
    check("SaslAuthenticated" in said, said)
    check("sasl: bob" in said and "\nx\n" in said, said)


def the_java_shell_learns_that_its_password_is_wrong():
    said = shell("wrong", "get /shell")
    check("AuthFailed" in said or "AUTH_FAILED" in said or "AuthFailedException" in said, said)


def passwords_are_shown_nowhere():
    with kazoo("bob", "bobsecret"):
        pass
    texts = [four_letter_word(server.port, word) for word in ("conf", "cons", "dump", "envi", "mntr", "stat")]
    texts.append(server.log_file.read_text())
    for secret in SECRETS:
        check(not any(secret in text for text in texts), f"{secret} is shown")
    check("bob has logged in" in texts[-1], "the log does not tell of a login")
    check("login failed: 127.0.0.1:" in texts[-1], "the log does not tell of a failure")
    check("client_sasl_logins" in texts[4], "mntr does not count logins")


def start_error(jaas, **properties):
    """Exit code and last line of a server that must not start."""
    other = make_server(**properties)
    (other.base / "jaas.conf").write_text(jaas)
    config = other.base / "zoo.cfg"
    other.port = 1
    other.write_config(config)
    done = subprocess.run(other.command(config), capture_output=True, text=True, timeout=60, check=False)
    other.remove()
    return done.returncode, done.stderr.strip().splitlines()[-1]


def a_bad_file_prevents_the_start():
    code, line = start_error("Server {\n  com.example.LoginModule required;\n};\n")
    check_equal(code, 2, line)
    check("jaas.conf:2: login module com.example.LoginModule" in line, line)
    code, line = start_error("Server {\n  what is this\n")
    check_equal(code, 2, line)
    check("jaas.conf:2: expected" in line, line)
    code, line = start_error("Client { };", **{"sasl.serverconfig": "Server"})
    check_equal(code, 2, line)


CASES = [
    kazoo_logs_in_and_owns_its_nodes, kazoo_learns_that_its_password_is_wrong, kazoo_logs_in_again_after_a_restart,
    the_java_shell_logs_in, the_java_shell_learns_that_its_password_is_wrong, passwords_are_shown_nowhere,
    a_bad_file_prevents_the_start,
]

if __name__ == "__main__":
    server.start()
    code = run("clients", CASES)
    server.remove()
    sys.exit(code)
