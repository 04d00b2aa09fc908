#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Several identities of one connection (ip, digest, super, sasl, x509, and the ensemble's name) in all combinations, and
# what each combination may do with nodes of every kind of ACL: the same at Java's server and at drover.

import base64
import hashlib
import itertools
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "compat"))

import digest_md5
import maven
import protocol as p
from servers import JVM_FLAGS, LIBRARY_JARS, LOG_FLAGS, SUPER_AUTH, java_binary, java_classpath
from suite import check, check_equal, run
from tls_support import BOB, NETTY_JARS, Pki, TlsConnection, TlsDrover, TlsJava

JAAS = '''Server {
  org.apache.zookeeper.server.auth.DigestLoginModule required user_super="s1" user_ann="a1" user_admin="d1";
};
'''
PROPERTIES = {
    "authProvider.1": "org.apache.zookeeper.server.auth.SASLAuthenticationProvider",
    "authProvider.2": "org.apache.zookeeper.server.auth.EnsembleAuthenticationProvider",
    "ensembleAuthName": "red,blue", "letAnySaslUserDoX": "everyone", "superUser": "admin", "fips-mode": "false",
    "X509AuthenticationProvider.superUser": "CN=admin,O=drover",
}


def digest_id(user, password):
    return f"{user}:" + base64.b64encode(hashlib.sha1(f"{user}:{password}".encode()).digest()).decode()


ALL, READ, WRITE, CREATE, DELETE, ADMIN = 31, 1, 2, 4, 8, 16
ACLS = {
    "world": [(ALL, "world", "anyone")],
    "ip": [(ALL, "ip", "127.0.0.1")],
    "ip8": [(ALL, "ip", "127.0.0.0/8")],
    "ip31": [(ALL, "ip", "127.0.0.2/31")],
    "ip0": [(READ, "ip", "10.0.0.0/0"), (WRITE, "ip", "10.0.0.0/8")],
    "digest": [(ALL, "digest", digest_id("u", "p"))],
    "other-digest": [(ALL, "digest", digest_id("u", "q"))],
    "sasl": [(ALL, "sasl", "ann")],
    "other-sasl": [(ALL, "sasl", "eve")],
    "any-sasl": [(ALL, "sasl", "everyone")],
    "x509": [(ALL, "x509", BOB)],
    "other-x509": [(ALL, "x509", "CN=eve,O=drover")],
    "shared": [(READ, "ip", "127.0.0.1"), (WRITE, "digest", digest_id("u", "p")), (CREATE, "sasl", "ann"),
               (DELETE, "x509", BOB), (ADMIN, "sasl", "everyone")],
    "crossed": [(ALL, "digest", "ann:x"), (ALL, "x509", "CN=ann"), (ALL, "sasl", "u")],
}
# Each is one step of a client; a certificate is one of the connection.
STEPS = {
    "digest": lambda client: client.authenticate("digest", b"u:p"),
    "another digest": lambda client: client.authenticate("digest", b"v:p"),
    "super": lambda client: client.authenticate("digest", SUPER_AUTH),
    "ensemble": lambda client: client.authenticate("ensemble", b"blue"),
    "ann": lambda client: client.log_in("ann", "a1"),
    "sasl super": lambda client: client.log_in("super", "s1"),
    "sasl admin": lambda client: client.log_in("admin", "d1"),
}
LOGINS = ("ann", "sasl super", "sasl admin")
CERTIFICATES = (None, "bob", "admin")


class TlsJava39(TlsJava):
    name = "java39"

    def command(self, config_file):
        jars = ":".join([*maven.zookeeper_jars(), java_classpath(*LIBRARY_JARS, *NETTY_JARS)])
        return [java_binary(), *JVM_FLAGS, *LOG_FLAGS, *[f"-D{key}={value}" for key, value in self.properties.items()],
                "-cp", jars, "org.apache.zookeeper.server.ZooKeeperServerMain", str(config_file)]


class Client:
    """A session over TLS; every answer is a short text."""

    def __init__(self, server, certificate=None):
        self.connection = TlsConnection(server.secure_port, pki.context(certificate and getattr(pki, certificate)))
        check(self.connection.handshake() is not None, f"{server.name} refuses the session")
        self.xid = 0

    def call(self, op, body=b"", xid=None):
        self.xid += 1
        _, payload = self.connection.call(xid or self.xid, op, body)
        if payload is None:
            return "closed", b""
        error = p.reply_header(payload)[2]
        return p.ERROR_NAMES.get(error, error), payload[16:]

    def error(self, op, body=b""):
        return self.call(op, body)[0]

    def authenticate(self, scheme, auth):
        return self.call(p.AUTH, p.auth_body(scheme, auth), xid=-4)[0]

    def say(self, token):
        error, body = self.call(p.SASL, p.buffer(token))
        return error, p.Decoder(body).buffer() if body else None

    def log_in(self, user, password):
        login = digest_md5.Login(self.say(b"")[1], user, password)
        return self.say(login.response()) == ("OK", login.proof())

    def who(self):
        error, body = self.call(p.WHO_AM_I)
        decoder = p.Decoder(body)
        return sorted(decoder.vector(lambda: (decoder.string(), decoder.string()))) if error == "OK" else error

    def acl(self, path):
        error, body = self.call(p.GET_ACL, p.buffer(path))
        decoder = p.Decoder(body)
        return (error, sorted(decoder.vector(decoder.acl))) if error == "OK" else error

    def may(self, path):
        """Read, write, create, change the ACL back to what it is, delete the child; and the ACL as it is shown."""
        return (self.error(p.GET_DATA, p.path_watch_body(path)), self.error(p.SET_DATA, p.set_data_body(path, b"x")),
                self.error(p.CREATE, p.create_body(path + "/kid", b"")),
                self.error(p.SET_ACL, p.set_acl_body(path, ACLS[path[1:]])),
                self.error(p.DELETE, p.path_version_body(path + "/kid")), self.acl(path))

    def close(self):
        self.error(p.CLOSE_SESSION)
        self.connection.close()


def combinations():
    """All subsets of the steps with at most one login (a connection has one attempt), beside every certificate."""
    others = [name for name in STEPS if name not in LOGINS]
    for certificate in CERTIFICATES:
        for login in (None, *LOGINS):
            for count in range(len(others) + 1):
                for chosen in itertools.combinations(others, count):
                    yield certificate, (*chosen, *([login] if login else []))


def story_of(server, certificate, steps):
    client = Client(server, certificate)
    told = [("steps", [STEPS[step](client) for step in steps]), ("who", client.who())]
    told += [(name, client.may("/" + name)) for name in ACLS]
    told.append(("auth", client.error(p.CREATE, p.create_body("/auth", b"", [(ALL, "auth", ""), (READ, "auth", "x")]))))
    told.append(("its acl", client.acl("/auth")))
    told.append(("deleted", client.error(p.DELETE, p.path_version_body("/auth"))))
    client.close()
    return told


def make_server(kind):
    server = kind(pki, settings={"ssl.clientAuth": "want"})
    jaas = server.base / "jaas.conf"
    jaas.write_text(JAAS)
    server.properties["java.security.auth.login.config"] = str(jaas)
    server.properties.update({f"zookeeper.{name}": value for name, value in PROPERTIES.items()})
    return server


def prepare(server):
    client = Client(server)
    check_equal(client.authenticate("digest", SUPER_AUTH), "OK")
    for name, acl in ACLS.items():
        check_equal(client.error(p.CREATE, p.create_body("/" + name, b"", acl)), "OK", name)
    client.close()


def compare(certificate):
    def case():
        for with_certificate, steps in combinations():
            if with_certificate != certificate:
                continue
            stories = [story_of(server, certificate, steps) for server in servers]
            for server, story in zip(servers[1:], stories[1:]):
                for mine, theirs in zip(stories[0], story):
                    check_equal(mine, theirs, f"certificate {certificate}, {steps}: drover beside {server.name}")

    case.__name__ = f"with_the_certificate_of_{certificate or 'nobody'}"
    return case


def every_kind_of_identity_makes_a_difference():
    """The test of the test: the answers are not all the same."""
    stories = {step: story_of(servers[0], None, [step]) for step in STEPS}
    stories["bob"] = story_of(servers[0], "bob", [])
    stories["nobody"] = story_of(servers[0], None, [])
    same = {(a, b) for a, b in itertools.combinations(stories, 2) if stories[a][2:] == stories[b][2:]}
    check_equal(same, {("ensemble", "nobody")}, "answers that are alike")


def kinds():
    try:
        maven.zookeeper_jars()
    except maven.Unreachable as reason:
        print(f"identities: SKIPPED: Java 3.9: {reason}")
        return TlsDrover, TlsJava
    return TlsDrover, TlsJava, TlsJava39


CASES = [every_kind_of_identity_makes_a_difference, *[compare(certificate) for certificate in CERTIFICATES]]

if __name__ == "__main__":
    pki = Pki()
    servers = []
    for kind in kinds():  # One after the other: each writes its stores where the last one has read its own.
        servers.append(make_server(kind).start())
        prepare(servers[-1])
    code = run("identities", CASES, *sys.argv[1:2])
    for server in servers:
        server.remove()
    sys.exit(code)
