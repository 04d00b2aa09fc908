#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
#
# Clients that log in with Kerberos, against Java's server and drover with one and the same JAAS file and keytab: whom
# each takes a principal for, under every setting of names. And what must not work: old tickets, wrong clocks, changed
# keys. The client is Apache's shell; the KDC is our own.

import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "compat"))

import protocol as p
from kdc import Kdc
from servers import JVM_FLAGS, KINDS, drover_binary, java_binary, java_classpath, start_together
from suite import check, check_equal, run

from kazoo.client import KazooClient
from kazoo.security import make_acl

REALM = "EXAMPLE.COM"
PROVIDER = "org.apache.zookeeper.server.auth.SASLAuthenticationProvider"
MODULE = "com.sun.security.auth.module.Krb5LoginModule"
SERVICE = f"zookeeper/localhost@{REALM}"
JAAS = '''%s {
  %s required useKeyTab=true storeKey=true useTicketCache=false doNotPrompt=true
  keyTab="%s" principal="%s";
};
'''
PEOPLE = ("bob", "hbase/node1.example.com", "super", "ann")
NAMES = {
    "as they are": {},
    "without host": {"kerberos.removeHostFromPrincipal": "true"},
    "without realm": {"kerberos.removeRealmFromPrincipal": "true"},
    "short": {"kerberos.removeHostFromPrincipal": "true", "kerberos.removeRealmFromPrincipal": "true"},
    "by rules": {"kerberos.removeHostFromPrincipal": "true", "kerberos.removeRealmFromPrincipal": "true",
                 "security.auth_to_local": "RULE:[2:$1-$2@$0](hbase-.*)s/@.*// RULE:[1:$1](b.b)s/b/d/g DEFAULT"},
    "super users": {"superUser": f"bob@{REALM}", "superUser.2": f"hbase/node1.example.com@{REALM}"},
}

folder = tempfile.TemporaryDirectory(prefix="sasl-kerberos-")
kdc = Kdc(pathlib.Path(folder.name) / "kdc", REALM)
os.environ["KRB5RCACHEDIR"] = folder.name  # of the servers
kdc.service(SERVICE)
for person in PEOPLE:
    kdc.add_principal(person)
people = kdc.keytab(*PEOPLE, file="people")


def make_server(kind, properties, keytab=None):
    server = KINDS[kind]()
    jaas = server.base / "jaas.conf"
    jaas.write_text(JAAS % ("Server", MODULE, keytab or kdc.folder / "keytab", SERVICE))
    for name, value in {"authProvider.1": PROVIDER, **properties}.items():
        server.properties[f"zookeeper.{name}"] = value
    server.properties["java.security.auth.login.config"] = str(jaas)
    server.properties["java.security.krb5.conf"] = str(kdc.krb5_conf)
    return server


def shell(server, principal, *lines, keytab=people, prefix=()):
    jaas = server.base / "client.conf"
    jaas.write_text(JAAS % ("Client", MODULE, keytab, f"{principal}@{REALM}"))
    done = subprocess.run(
        [*prefix, java_binary(), *JVM_FLAGS, *kdc.java_options(), f"-Djava.security.auth.login.config={jaas}",
         "-Dzookeeper.sasl.client.canonicalize.hostname=false", "-cp",
         java_classpath("zookeeper.jar", "slf4j-nop.jar"), "org.apache.zookeeper.ZooKeeperMain", "-waitforconnection",
         "-server", f"localhost:{server.port}"],
        input="".join(f"{line}\n" for line in (*lines, "quit")), capture_output=True, text=True, timeout=120,
        check=False)
    return done.stdout + done.stderr


def who(server, principal):
    said = shell(server, principal, "whoami")
    check("SaslAuthenticated" in said, said)
    return sorted(line for line in said.splitlines() if line.startswith(("sasl:", "super:", "ip:")))


def our_shell(server, *words, **environment):
    """Exit code, output and errors of `drover cli`."""
    done = subprocess.run(
        [drover_binary(), "cli", "--quiet", "-server", f"localhost:{server.port}",
         f"-Djava.security.krb5.conf={kdc.krb5_conf}", "-Dzookeeper.sasl.client.canonicalize.hostname=false", *words],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False,
        env={**kdc.environment(), **environment})
    return done.returncode, done.stdout, done.stderr


def names_case(title):
    def compare():
        servers = start_together(*[make_server(kind, NAMES[title]) for kind in ("java", "drover")])
        try:
            for person in PEOPLE:
                theirs, mine = [who(server, person) for server in servers]
                check_equal(mine, theirs, person)
                check(any(line.startswith("sasl: ") for line in mine), f"{person} is {mine}")
        finally:
            for server in servers:
                server.remove()

    compare.__name__ = f"names_{title.replace(' ', '_')}"
    return compare


def refusal(server, principal, **options):
    """The shell's output when it cannot log in; the server must continue."""
    said = shell(server, principal, "get /", **options)
    check("SaslAuthenticated" not in said, said)
    check_equal(who(server, "ann"), ["ip: 127.0.0.1", f"sasl: ann@{REALM}"], "the next client")
    return said


def a_client_with_a_wrong_clock_is_refused():
    with make_server("drover", {}) as server:
        refusal(server, "bob", prefix=Kdc.with_wrong_clock([], 3600)[:3])


def a_server_without_the_present_key_refuses_and_a_new_keytab_helps():
    old = pathlib.Path(folder.name) / "old.keytab"
    old.write_bytes((kdc.folder / "keytab").read_bytes())
    kdc.change_keys(SERVICE)
    with make_server("drover", {}, keytab=old) as server:
        said = shell(server, "bob", "get /")
        check("SaslAuthenticated" not in said, said)
        check("login failed: 127.0.0.1:" in server.log_file.read_text(), server.log_tail())
        kdc.keytab(SERVICE, file=old.name)
        (kdc.folder / old.name).rename(old)
        check_equal(who(server, "bob"), ["ip: 127.0.0.1", f"sasl: bob@{REALM}"], "without a restart")
    kdc.keytab(SERVICE)


def tokens_that_are_none_are_refused():
    with make_server("drover", {}) as server:
        for token in (b"", b"garbage", b"\x60\x82\xff\xff" + b"x" * 100, b"\x60" * 60000):
            connection = p.Connection(server.port)
            connection.handshake()
            _, payload = connection.call(1, p.SASL, p.buffer(token))
            check_equal((p.reply_header(payload)[2], payload[16:]), (-115, p.buffer(None)), token[:8])
            check_equal(connection.receive(), None, "then")
        check_equal(who(server, "bob"), ["ip: 127.0.0.1", f"sasl: bob@{REALM}"], "the next client")


def nodes_belong_to_principals():
    with make_server("drover", {"sessionRequireClientSASLAuth": "true"}) as server:
        said = shell(server, "bob", f"create /bobs x sasl:bob@{REALM}:cdrwa", "get /bobs")
        check("\nx\n" in said, said)
        said = shell(server, "ann", "get /bobs")
        check("Insufficient permission" in said or "NoAuth" in said, said)


def kazoo_logs_in_with_a_ticket():
    os.environ["KRB5_CONFIG"] = str(kdc.krb5_conf)
    os.environ["KRB5CCNAME"] = f"FILE:{kdc.tickets('bob', people)}"
    with make_server("drover", {}) as server:
        client = KazooClient(hosts=f"localhost:{server.port}", timeout=10.0, sasl_options={"mechanism": "GSSAPI"})
        client.start(timeout=30)
        try:
            client.create("/kazoo", b"x", acl=[make_acl("sasl", f"bob@{REALM}", all=True)])
            check_equal(client.get("/kazoo")[0], b"x")
        finally:
            client.stop()
            client.close()


def our_shell_logs_in_at_both_kinds_of_server_in_every_way():
    jaas = pathlib.Path(folder.name) / "shell.conf"
    section = JAAS % ("Client", MODULE, people, f"bob@{REALM}")
    ticket_cache = kdc.tickets("bob", people, file="shell-tickets")
    hbases = (section.replace("bob", "hbase/node1.example.com").replace("storeKey=true", "debug=false") +
              section.replace("Client", "Server"))
    cached = f'Client {{ {MODULE} required useTicketCache=true ticketCache="{ticket_cache}"; }};'
    ways = {
        "jaas, keytab": (section, [f"-Djava.security.auth.login.config={jaas}"], {}),
        "jaas of hbase": (hbases, [f"-Djava.security.auth.login.config={jaas}"], {}),
        "jaas, ticket": (cached, [f"-Djava.security.auth.login.config={jaas}"], {}),
        "keytab": ("", ["--keytab", people, "--principal", f"bob@{REALM}"], {}),
        "ticket": ("", ["--kerberos"], {"KRB5CCNAME": f"FILE:{ticket_cache}"}),
        "named server": ("", ["--kerberos", f"-Dzookeeper.server.principal={SERVICE}"],
                         {"KRB5CCNAME": f"FILE:{ticket_cache}"}),
    }
    servers = start_together(*[make_server(kind, {}) for kind in ("java", "drover")])
    try:
        for server in servers:
            for way, (text, options, environment) in ways.items():
                jaas.write_text(text)
                code, said, errors = our_shell(server, *map(str, options), "whoami", **environment)
                check_equal((code, errors), (0, ""), f"{server.name}, {way}")
                name = "hbase/node1.example.com" if "hbase" in way else "bob"
                check(f"sasl: {name}@{REALM}\n" in said, f"{server.name}, {way}: {said}")
    finally:
        for server in servers:
            server.remove()


def our_shell_says_why_it_cannot_log_in():
    with make_server("drover", {}) as server:
        for options, why in ((["--kerberos"], "No Kerberos credentials available"),
                             (["--keytab", str(people), "--principal", f"eve@{REALM}"], "eve"),
                             (["--keytab", str(people), "--principal", f"bob@{REALM}",
                               "-Dzookeeper.sasl.client.username=other"], "not found in Kerberos database")):
            code, said, errors = our_shell(server, *options, "get", "/")
            check_equal((code, said), (1, ""), errors)
            check("KeeperErrorCode = AuthFailed" in errors and "(SASL: " in errors and why in errors, errors)


def a_keytab_that_is_not_there_prevents_the_start():
    server = make_server("drover", {}, keytab="/nowhere/keytab")
    config = server.base / "zoo.cfg"
    server.port = 1
    server.write_config(config)
    done = subprocess.run(server.command(config), capture_output=True, text=True, timeout=60, check=False)
    server.remove()
    line = done.stderr.strip().splitlines()[-1]
    check_equal(done.returncode, 2, line)
    check("/nowhere/keytab" in line and "jaas.conf:1" in line, line)


CASES = [
    *[names_case(title) for title in NAMES], nodes_belong_to_principals, kazoo_logs_in_with_a_ticket,
    our_shell_logs_in_at_both_kinds_of_server_in_every_way, our_shell_says_why_it_cannot_log_in,
    tokens_that_are_none_are_refused,
    a_client_with_a_wrong_clock_is_refused, a_keytab_that_is_not_there_prevents_the_start,
    a_server_without_the_present_key_refuses_and_a_new_keytab_helps,
]

if __name__ == "__main__":
    code = run("kerberos", CASES, *sys.argv[1:2])
    kdc.stop()
    folder.cleanup()
    sys.exit(code)
