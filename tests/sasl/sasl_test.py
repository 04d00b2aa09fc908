#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Conversations between both sides of both mechanisms, ours and Java's, and what a KDC can do to them.
#
#   sasl_test.py path/to/sasl_peer [unittest's arguments]
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from kdc import Kdc  # noqa: E402  (the path above must come first)
from peers import Peer, compile_java, converse  # noqa: E402

REALM = "@EXAMPLE.COM"
SERVER = "zookeeper/localhost" + REALM
DIGEST = ("zookeeper", "zk-sasl-md5")
BETWEEN_SERVERS = ("zookeeper-quorum", "zk-quorum-sasl-md5")


def setUpModule():
    folder = tempfile.TemporaryDirectory()
    unittest.addModuleCleanup(folder.cleanup)
    Conversations.classes = compile_java(folder.name)


class Conversations(unittest.TestCase):
    program = None
    classes = None

    def ours(self, *words, env=None):
        peer = Peer([self.program, *words], env)
        self.addCleanup(peer.close)
        return peer

    def java(self, *words, options=()):
        peer = Peer(["java", "-Xshare:auto", "-XX:TieredStopAtLevel=1", "-cp", self.classes, *options, "JavaPeer", *words])
        self.addCleanup(peer.close)
        return peer

    def assert_success(self, client, server, name):
        at_client, at_server = converse(client, server)
        self.assertEqual((at_client.status, at_server.status), ("done", "done"), (at_client, at_server))
        self.assertEqual(at_server.id, name)

    def assert_refused_by_server(self, client, server, words=""):
        _, at_server = converse(client, server)
        self.assertEqual(at_server.status, "failed", at_server)
        self.assertIn(words, at_server.reason)
        return at_server.reason


class DigestMd5(Conversations):
    def test_both_sides_understand_javas_other_side(self):
        for user, password in (("bob", "builder"), ("super", "s p a c e"), ("a/b@C", 'quo"te\\'), ("Jürgen", "päß€")):
            for service in (DIGEST, BETWEEN_SERVERS):
                with self.subTest(user=user, service=service):
                    words = (user, password, *service)
                    self.assert_success(self.java("digest-client", *words), self.ours("digest-server", *words), user)
            with self.subTest(user=user, side="client"):
                words = (user, password, *DIGEST)
                self.assert_success(self.ours("digest-client", *words), self.java("digest-server", *words), user)

    def test_a_wrong_password_is_refused_on_both_sides(self):
        right, wrong = ("bob", "TheRightOne", *DIGEST), ("bob", "TheWrongOne", *DIGEST)
        reason = self.assert_refused_by_server(self.java("digest-client", *wrong), self.ours("digest-server", *right))
        self.assertNotIn("TheRightOne", reason)
        self.assert_refused_by_server(self.ours("digest-client", *wrong), self.java("digest-server", *right))

    def test_an_unknown_user_is_refused(self):
        reason = self.assert_refused_by_server(self.java("digest-client", "eve", "pw", *DIGEST),
                                               self.ours("digest-server", "bob", "pw", *DIGEST))
        self.assertIn('"eve"', reason)

    def test_the_protocols_of_client_port_and_quorum_do_not_mix(self):
        self.assert_refused_by_server(self.java("digest-client", "bob", "pw", *DIGEST),
                                      self.ours("digest-server", "bob", "pw", *BETWEEN_SERVERS))

    def test_bob_cannot_ask_to_be_another(self):
        self.assert_refused_by_server(self.java("digest-client", "bob", "pw", *DIGEST, "super"),
                                      self.ours("digest-server", "bob", "pw", *DIGEST), "may not act")


class Gssapi(Conversations):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.kdc = Kdc(folder.name)
        cls.addClassCleanup(cls.kdc.stop)
        cls.server_keys = cls.kdc.service("zookeeper/localhost", file="server.keytab")
        cls.bobs_keys = cls.kdc.service("bob", file="bob.keytab")

    def our_client(self, user="bob", keys=None, **env):
        return self.ours("gssapi-client", user + REALM, keys or self.bobs_keys, "-", "zookeeper", "localhost",
                         env=self.kdc.environment(**env))

    def our_server(self, keys=None, principal=SERVER):
        return self.ours("gssapi-server", keys or self.server_keys, principal, env=self.kdc.environment())

    def java_client(self, user="bob", keys=None, *wanted):
        return self.java("gssapi-client", user + REALM, keys or self.bobs_keys, "zookeeper", "localhost", *wanted,
                         options=self.kdc.java_options())

    def java_server(self):
        return self.java("gssapi-server", self.server_keys, SERVER, "zookeeper", "localhost",
                         options=self.kdc.java_options())

    def first_token(self):
        return self.our_client().step().token

    def test_both_sides_understand_each_other_and_java(self):
        for client in (self.our_client, self.java_client):
            for server in (self.our_server, self.java_server):
                with self.subTest(client=client.__name__, server=server.__name__):
                    self.assert_success(client(), server(), "bob" + REALM)

    def test_principals_with_a_host_and_a_user_super_are_like_others(self):
        for user in ("hbase/node1", "super"):
            keys = self.kdc.service(user, file=user.replace("/", "-") + ".keytab")
            for client in (self.our_client, self.java_client):
                with self.subTest(user=user, client=client.__name__):
                    self.assert_success(client(user, keys), self.our_server(), user + REALM)

    def test_bob_cannot_ask_to_be_another(self):
        self.assert_refused_by_server(self.java_client("bob", None, "super"), self.our_server(), "may not act")

    def test_a_ticket_cache_serves_as_well_as_a_keytab(self):
        cache = self.kdc.tickets("bob", self.bobs_keys)
        client = self.ours("gssapi-client", "bob" + REALM, "-", cache, "zookeeper", "localhost",
                           env=self.kdc.environment())
        self.assert_success(client, self.our_server(), "bob" + REALM)

    def test_a_missing_or_foreign_keytab_is_an_error_at_the_start(self):
        for keys in ("/nonexistent/keytab", self.bobs_keys):
            with self.subTest(keys=keys):
                step = self.our_server(keys).step(b"")
                self.assertEqual(step.status, "failed")
                self.assertIn(str(keys) if keys != self.bobs_keys else SERVER, step.reason)

    def test_a_server_has_one_identity_even_if_its_keytab_has_two(self):
        self.kdc.add_principal("quorum/localhost")
        both = self.kdc.keytab("zookeeper/localhost", "quorum/localhost", file="both.keytab")
        self.assert_success(self.our_client(), self.our_server(both), "bob" + REALM)
        self.assert_refused_by_server(self.our_client(), self.our_server(both, "quorum/localhost" + REALM))
        self.assert_success(self.our_client(), self.our_server(both, "*"), "bob" + REALM)

    def test_a_recorded_token_is_refused(self):
        token = self.first_token()
        first, second = self.our_server(), self.our_server()
        self.assertEqual(first.step(token).status, "continue")
        again = second.step(token)
        self.assertEqual(again.status, "failed")
        self.assertIn("replay", again.reason)

    def test_hostile_tokens_are_refused(self):
        token = self.first_token()
        for hostile in (b"", b"\0", b"\0" * 60000, b"x" * 70000, token[:-1], token[:20], token + b"\0" * 9,
                        bytes([token[0] ^ 1]) + token[1:], token[:200] + bytes([token[200] ^ 255]) + token[201:]):
            with self.subTest(length=len(hostile)):
                server = self.our_server()
                step = server.step(hostile)
                self.assertEqual(step.status, "failed", step)
                self.assertNotEqual(step.reason, "")
                self.assertEqual(server.step(token).status, "failed")

    def test_a_hostile_last_token_is_refused(self):
        for hostile in (b"", b"\0\0\0\0", b"x" * 100):
            with self.subTest(hostile=hostile):
                server = self.our_server()
                client = self.our_client()
                offer = server.step(client.step(server.step(client.step().token).token).token)
                self.assertEqual(offer.status, "continue")
                self.assertEqual(server.step(hostile).status, "failed")

    def test_a_wrong_clock_is_named(self):
        fast = self.kdc.with_wrong_clock([self.program, "gssapi-server", self.server_keys, SERVER], 3600)
        server = Peer(fast, self.kdc.environment())
        self.addCleanup(server.close)
        self.assert_refused_by_server(self.our_client(), server, "Clock skew")

    def test_a_client_with_a_wrong_clock_gets_no_ticket(self):
        command = [self.program, "gssapi-client", "bob" + REALM, self.bobs_keys, "-", "zookeeper", "localhost"]
        client = Peer(self.kdc.with_wrong_clock(command, 3600), self.kdc.environment())
        self.addCleanup(client.close)
        step = client.step()
        self.assertEqual(step.status, "failed")
        self.assertIn("lock skew", step.reason)


class Kdcs(Conversations):
    """What needs a KDC of its own."""

    def start(self, **options):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        kdc = Kdc(folder.name, **options)
        self.addCleanup(kdc.stop)
        return kdc, kdc.service("zookeeper/localhost", file="server.keytab"), kdc.service("bob", file="bob.keytab")

    def pair(self, kdc, server_keys, client_keys):
        env = kdc.environment()
        return (self.ours("gssapi-client", "bob" + REALM, client_keys, "-", "zookeeper", "localhost", env=env),
                self.ours("gssapi-server", server_keys, SERVER, env=env))

    def once_more(self, client, server):
        client.again()
        server.again()
        return converse(client, server)

    def test_a_client_with_a_keytab_renews_its_ticket(self):
        kdc, *keys = self.start(ticket_life="10m", own_clock=True)
        client, server = self.pair(kdc, *keys)
        self.assert_success(client, server, "bob" + REALM)
        for _ in range(3):
            kdc.advance(3600)
            at_client, at_server = self.once_more(client, server)
            self.assertEqual(at_server.status, "done", (at_client, at_server))

    def test_a_ticket_is_used_until_half_of_its_time(self):
        kdc, *keys = self.start(ticket_life="10h", own_clock=True)
        client, server = self.pair(kdc, *keys)
        self.assert_success(client, server, "bob" + REALM)
        kdc.stop()
        kdc.advance(3600)
        self.assertEqual(self.once_more(client, server)[1].status, "done")

    def test_an_expired_ticket_of_a_cache_is_named(self):
        kdc, _, keys = self.start(own_clock=True)
        cache = kdc.tickets("bob", keys, life="10m")
        kdc.advance(3600)
        client = self.ours("gssapi-client", "bob" + REALM, "-", cache, "zookeeper", "localhost", env=kdc.environment())
        step = client.step()
        self.assertEqual(step.status, "failed")
        self.assertIn("expired", step.reason)

    def test_a_server_refuses_an_expired_ticket(self):
        kdc, *keys = self.start(ticket_life="10m", own_clock=True)
        client, server = self.pair(kdc, *keys)
        token = client.step().token
        kdc.advance(3600)
        step = server.step(token)
        self.assertEqual(step.status, "failed")
        self.assertRegex(step.reason, "expired|lock skew")

    def test_a_client_says_that_no_kdc_answers(self):
        kdc, *keys = self.start()
        client, _ = self.pair(kdc, *keys)
        kdc.stop()
        step = client.step()
        self.assertEqual(step.status, "failed")
        self.assertIn("KDC", step.reason)

    def test_a_server_needs_no_kdc(self):
        kdc, *keys = self.start()
        client, server = self.pair(kdc, *keys)
        token = client.step().token
        kdc.stop()
        self.assertEqual(server.step(token).status, "continue")

    def test_a_server_finds_new_keys_in_its_keytab_without_a_restart(self):
        kdc, server_keys, client_keys = self.start()
        client, server = self.pair(kdc, server_keys, client_keys)
        self.assert_success(client, server, "bob" + REALM)
        kdc.change_keys("zookeeper/localhost")
        stranger, _ = self.pair(kdc, server_keys, client_keys)  # has no ticket with the old key
        server.again()
        self.assertEqual(converse(stranger, server)[1].status, "failed")
        kdc.keytab("zookeeper/localhost", file="server.keytab")
        stranger.again()
        server.again()
        self.assertEqual(converse(stranger, server)[1].status, "done")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: sasl_test.py path/to/sasl_peer [unittest's arguments]")
    Conversations.program = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main(verbosity=2)
