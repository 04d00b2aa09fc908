#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
#
# kazoo's own tests of SASL, with passwords and with a KDC, against drover.
#
# Debian's interpreter is used on purpose: kazoo, its tests and its SASL library are Debian modules.

import logging
import os
import pathlib
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "compat"))

from kdc import Kdc
from servers import KINDS, MissingDependency
from suite import check, check_equal, run

from kazoo.testing import harness

PROVIDER = "org.apache.zookeeper.server.auth.SASLAuthenticationProvider"
REALM = "KAZOOTEST.ORG"  # as kazoo's tests name it
DIGEST = '''Server {
    org.apache.zookeeper.server.auth.DigestLoginModule required
    user_super="super_secret"
    user_jaasuser="jaas_password";
};'''
GSSAPI = '''Server {
  com.sun.security.auth.module.Krb5LoginModule required
  debug=true isInitiator=false useKeyTab=true keyTab="%s" storeKey=true useTicketCache=false
  principal="zookeeper/127.0.0.1@KAZOOTEST.ORG";
};'''
logging.getLogger("kazoo").setLevel(logging.CRITICAL)


class Cluster(list):
    """The interface that kazoo's harness expects of a cluster."""

    def __init__(self, server):
        super().__init__([server])
        server.running = True


class Outcome(unittest.TextTestResult):
    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.passed = 0

    def addSuccess(self, test):
        self.passed += 1


def pass_all(names, count, jaas, **properties):
    try:
        from kazoo.tests import test_sasl
    except ImportError as missing:
        raise MissingDependency(f"{missing} (Debian package: python3-pytest)") from missing
    server = KINDS["drover"](properties={"zookeeper.authProvider.1": PROVIDER, **properties})
    (server.base / "jaas.conf").write_text(jaas)
    server.properties["java.security.auth.login.config"] = str(server.base / "jaas.conf")
    with server:
        harness.get_global_cluster = lambda: Cluster(server)
        tests = unittest.TestSuite(
            unittest.defaultTestLoader.loadTestsFromTestCase(getattr(test_sasl, name)) for name in names)
        outcome = unittest.TextTestRunner(sys.stdout, resultclass=Outcome).run(tests)
    check(outcome.wasSuccessful(), "kazoo's tests pass")
    check_equal((outcome.passed, len(outcome.skipped)), (count, 0), "passed and skipped")


def kazoo_s_tests_of_passwords_pass():
    pass_all(["TestLegacySASLDigestAuthentication", "TestSASLDigestAuthentication"], 4, DIGEST)


def kazoo_s_tests_of_kerberos_pass():
    with tempfile.TemporaryDirectory(prefix="sasl-kazoo-") as folder:
        os.environ["KRB5RCACHEDIR"] = folder  # of the server
        with Kdc(pathlib.Path(folder) / "kdc", REALM) as kdc:
            server_keys = kdc.service("zookeeper/127.0.0.1", file="server.keytab")
            kdc.service("client", file="client.keytab")
            os.environ.update(KRB5_CONFIG=str(kdc.krb5_conf), KRB5_TEST_ENV=str(kdc.folder),
                              KRB5CCNAME=f"FILE:{folder}/tickets")
            pass_all(["TestSASLGSSAPIAuthentication"], 2, GSSAPI % server_keys,
                     **{"java.security.krb5.conf": str(kdc.krb5_conf)})


if __name__ == "__main__":
    sys.exit(run("kazoo", [kazoo_s_tests_of_passwords_pass, kazoo_s_tests_of_kerberos_pass]))
