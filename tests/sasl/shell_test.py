#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Our shell and commands log in with a password, as `drover cli` and as zkCli.sh, with servers of both kinds. And what a
# core file of the shell or of the server would show.

import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.extend([str(HERE.parent / "compat"), str(HERE.parent / "cli")])

from memory import copies
from servers import KINDS, PROJECT_ROOT, drover_binary, four_letter_word, start_together
from suite import check, check_equal, run
from terminal import Terminal

PROVIDER = "org.apache.zookeeper.server.auth.SASLAuthenticationProvider"
MODULE = "org.apache.zookeeper.server.auth.DigestLoginModule"
# Long and strange enough to be found in memory only where they were put.
BOBS, SUPERS = "Kv8-bobs-password-Zq3", "Hw5-supers-password-Tn9"
SERVER_JAAS = f'Server {{ {MODULE} required user_super="{SUPERS}" user_bob="{BOBS}"; }};\n'
CLIENT_JAAS = '%s {\n  ' + MODULE + ' required\n  username="bob"\n  password="%s";\n};\n'
# A broker of Kafka has its logins for its own clients in the same file.
KAFKAS = '''KafkaServer {
   org.apache.kafka.common.security.scram.ScramLoginModule required
   username="admin"
   password="admin-secret";
};

// To ZooKeeper:
Client {
   org.apache.zookeeper.server.auth.DigestLoginModule required
   username="bob"
   password="%s";
};
'''
BOB = ["--sasl-user", "bob"]


def make_server(kind):
    server = KINDS[kind]()
    jaas = server.base / "jaas.conf"
    jaas.write_text(SERVER_JAAS)
    jaas.chmod(0o600)
    server.properties["java.security.auth.login.config"] = str(jaas)
    server.properties["zookeeper.authProvider.1"] = PROVIDER
    return server


java, server = make_server("java"), make_server("drover")
plain = KINDS["drover"]()  # has no SASL


def private(name, text):
    path = server.base / name
    path.write_text(text)
    path.chmod(0o600)
    return str(path)


def password_file(password=BOBS):
    return ["--sasl-password-file", private("password", password + "\n")]


def jaas_file(password=BOBS, section="Client"):
    return private("client.conf", CLIENT_JAAS % (section, password))


def drover(*words, at=None, environment=None, program=None):
    """Exit code, output, errors."""
    command = [*(program or [drover_binary(), words[0]]), "-server", (at or server).address, *words[0 if program else 1:]]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False,
                          env={**os.environ, **(environment or {})})
    return done.returncode, done.stdout, done.stderr


def shell(*words, **options):
    return drover("cli", "--quiet", *words, **options)


def a_password_from_a_file_logs_in_at_both_kinds_of_server():
    for each in (java, server):
        code, said, errors = drover("cli", "-waitforconnection", *BOB, *password_file(), "whoami", at=each)
        check_equal((code, errors), (0, ""), each.name)
        check("sasl: bob" in said, said)
        check(said.index("state:SyncConnected") < said.index("state:SaslAuthenticated"), said)


def a_jaas_file_logs_in_at_both_kinds_of_server():
    for each in (java, server):
        said = shell(f"-Djava.security.auth.login.config={jaas_file()}", "whoami", at=each)
        check_equal((said[0], said[2]), (0, ""), each.name)
        check("sasl: bob" in said[1], said)
    said = shell(f"-Djava.security.auth.login.config={jaas_file(section='Mine')}", "-Dzookeeper.sasl.clientconfig=Mine",
                 "whoami")
    check("sasl: bob" in said[1], said)


def a_brokers_file_logs_in_unchanged():
    file = private("kafka_server_jaas.conf", KAFKAS % BOBS)
    check("sasl: bob" in shell(f"-Djava.security.auth.login.config={file}", "whoami")[1], "no login")
    code, said, errors = shell(f"-Djava.security.auth.login.config={file}", "-Dzookeeper.sasl.clientconfig=KafkaServer",
                               "whoami")
    check_equal((code, said), (1, ""), errors)
    check("kafka_server_jaas.conf:2: login module" in errors and "admin-secret" not in errors, errors)


def apaches_script_takes_the_flags_of_a_jvm():
    code, said, errors = drover("--quiet", "whoami", program=[str(PROJECT_ROOT / "bin" / "zkCli.sh")], environment={
        "CLIENT_JVMFLAGS": f"-Xmx64m -Djava.security.auth.login.config={jaas_file()}", "DROVER": drover_binary()})
    check_equal((code, errors), (0, ""), "zkCli.sh")
    check("sasl: bob" in said, said)


def a_client_configuration_may_name_the_file():
    file = private("client.cfg", f"java.security.auth.login.config={jaas_file()}\n")
    check("sasl: bob" in shell("-client-configuration", file, "whoami")[1], "the file was not read")


def other_commands_log_in_too():
    check_equal(shell(*BOB, *password_file(), "create", "/bobs", "", "sasl:bob:cdrwa")[0], 0)
    check("no group is recognised" in drover("members", "/bobs", *BOB, *password_file())[2], "bob may not read")
    check("NoAuth" in drover("members", "/bobs")[2], "a stranger may read")
    code, said, errors = drover("bench", "get", "--seconds", "0.2", "--warm-up", "0", "--sessions", "2", *BOB,
                                *password_file())
    check_equal(code, 0, said + errors)
    check_equal(shell(*BOB, *password_file(), "deleteall", "/bobs")[0], 0)


def a_wrong_password_is_told_by_both_kinds_of_server():
    for each in (java, server):
        for words in (["get", "/"], ["-waitforconnection", "get", "/"]):
            code, _, errors = shell(*BOB, *password_file("wrong"), *words, at=each)
            check_equal(code, 1, errors)
            check("KeeperErrorCode = AuthFailed" in errors and "SASL: " in errors, errors)


def a_server_without_sasl_is_told():
    code, _, errors = shell(*BOB, *password_file(), "get", "/", at=plain)
    check_equal(code, 1, errors)
    check("(SASL: the server refuses the login)" in errors, errors)


def bad_options_are_told_before_a_connection():
    for words, message in ((["--sasl-user", "bob", "--kerberos"], "either with"),
                           ([*BOB, "--sasl-password-file", "/nowhere/file"], "/nowhere/file: No such file"),
                           (["-Djava.security.auth.login.config=/nowhere/file"], "/nowhere/file: No such file"),
                           (["-Dzookeeper.sasl.clientconfig=Nobody",
                             f"-Djava.security.auth.login.config={jaas_file()}"], "there is no section Nobody"),
                           (["--kerberos", "-Dzookeeper.server.principal=zookeeper"], "expected SERVICE/HOST")):
        code, said, errors = shell(*words, "get", "/")
        check_equal((code, said), (1, ""), errors)
        check(errors.startswith("Error: ") and message in errors and BOBS not in errors, errors)


class Shell:
    """A shell that goes on."""

    def __init__(self, *options):
        self.process = subprocess.Popen([drover_binary(), "cli", "-server", server.address, *options],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def say(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def wait_for(self, pattern):
        said = ""
        while not re.search(pattern, said):
            line = self.process.stdout.readline()
            check(line, f"it ended after {said}")
            said += line
        return said

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait(timeout=30)


def a_session_logs_in_again_on_its_next_connection():
    with Shell(*BOB, *password_file()) as bob:
        bob.wait_for("SaslAuthenticated")
        bob.say("create -e /again text sasl:bob:cdrwa")
        bob.wait_for("Created /again")
        server.kill()
        bob.wait_for("Disconnected")
        server.start()
        bob.wait_for("SaslAuthenticated")
        bob.say("get /again")
        bob.wait_for("text")


def a_password_is_asked_for_at_the_terminal_and_not_shown():
    command = [drover_binary(), "cli", "-server", server.address, *BOB, "whoami"]
    with Terminal(command, server.base) as terminal:
        terminal.wait_for("Password of bob: ")
        terminal.type(BOBS + "\n")
        terminal.wait_for("sasl: bob")
        check_equal(terminal.wait_for_end(), 0, terminal.text)
        check(BOBS not in terminal.text, terminal.text)


def a_core_file_of_the_shell_has_one_copy_of_the_password():
    # The client needs it for its next connection. Neither the file's text nor what was computed with stays.
    jaas = [f"-Djava.security.auth.login.config={jaas_file()}"]
    for options in ([*BOB, *password_file()], jaas):
        with Shell(*options) as bob:
            bob.wait_for("SaslAuthenticated")
            bob.say("whoami")
            bob.wait_for("sasl: bob")
            check_equal(copies(bob.process.pid, BOBS, BOBS + '"', BOBS + "\n"), [1, 0, 0], options)


def logins_leave_nothing_in_the_servers_memory():
    # The server keeps the users' passwords: DIGEST-MD5 cannot do without. But not the text of the JAAS file, and no login
    # adds a copy.
    pid = server.process.pid
    before = copies(pid, BOBS, SUPERS)
    check(1 <= max(before) <= 3, f"{before} copies")  # two configurations, and the mechanism
    for password in (BOBS, "wrong", BOBS):
        shell(*BOB, *password_file(password), "get", "/")
    check_equal(copies(pid, BOBS, SUPERS), before, "copies after logins")
    check_equal(copies(pid, BOBS + '"', SUPERS + '"'), [0, 0], "copies of the file's text")
    shown = server.log_file.read_text() + "".join(
        four_letter_word(server.port, word) for word in ("conf", "cons", "dump", "envi", "mntr"))
    check(BOBS not in shown and SUPERS not in shown, "a password is shown")


CASES = [
    a_password_from_a_file_logs_in_at_both_kinds_of_server, a_jaas_file_logs_in_at_both_kinds_of_server,
    a_brokers_file_logs_in_unchanged, apaches_script_takes_the_flags_of_a_jvm, a_client_configuration_may_name_the_file, other_commands_log_in_too,
    a_wrong_password_is_told_by_both_kinds_of_server, a_server_without_sasl_is_told,
    bad_options_are_told_before_a_connection, a_session_logs_in_again_on_its_next_connection,
    a_password_is_asked_for_at_the_terminal_and_not_shown, a_core_file_of_the_shell_has_one_copy_of_the_password,
    logins_leave_nothing_in_the_servers_memory,
]

if __name__ == "__main__":
    start_together(java, server, plain)
    code = run("shell", CASES, *sys.argv[1:2])
    for each in (java, server, plain):
        each.remove()
    sys.exit(code)
