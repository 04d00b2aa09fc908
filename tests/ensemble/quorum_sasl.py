# SPDX-License-Identifier: Apache-2.0
#
# Ensembles whose servers log in to each other: with passwords or with Kerberos, at each stage of the rolling upgrade
# that ZooKeeper's documentation describes.

import os
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "sasl"))

from ensemble import Ensemble

OFF, ENABLED, LEARNER, REQUIRED = range(4)  # stages of the upgrade
KEYS = ("enableSasl", "learnerRequireSasl", "serverRequireSasl")
USER, PASSWORD = "zkpeer", "between servers"
DIGEST = "org.apache.zookeeper.server.auth.DigestLoginModule"
KERBEROS = "com.sun.security.auth.module.Krb5LoginModule"

PASSWORDS = f'''QuorumServer {{
  {DIGEST} required
  user_{USER}="{PASSWORD}";
}};
QuorumLearner {{
  {DIGEST} required
  username="{USER}"
  password="{PASSWORD}";
}};
'''
SECTION = '''%s {
  %s required useKeyTab=true storeKey=true useTicketCache=false
  keyTab="%s" principal="%s";
};
'''


def sasl_config(stage):
    return {f"quorum.auth.{key}": "true" for key in KEYS[:stage]}


def set_stage(member, stage):
    """For its next start."""
    for key in KEYS:
        member.config.pop(f"quorum.auth.{key}", None)
    member.config.update(sasl_config(stage))


def with_jaas(member, text):
    jaas = member.base / "jaas.conf"
    jaas.write_text(text)
    jaas.chmod(0o600)
    member.properties["java.security.auth.login.config"] = str(jaas)


def with_passwords(member, stage=REQUIRED, jaas=PASSWORDS):
    set_stage(member, stage)
    with_jaas(member, jaas)


def password_ensemble(kinds, stage=REQUIRED, jaas=PASSWORDS, make=Ensemble, **options):
    # Java 3.9 knows no DIGEST-MD5 otherwise.
    ensemble = make(kinds, properties={"zookeeper.fips-mode": "false"}, **options)
    for member in ensemble:
        with_passwords(member, stage, jaas)
    return ensemble


class OfKdc:
    """The environment of a member whose Kerberos is that of a test."""

    def __init__(self, kdc):
        self._kdc = kdc

    def environment(self):
        return {name: value for name, value in self._kdc.environment().items() if os.environ.get(name) != value}


def kerberos_ensemble(kdc, kinds, stage=REQUIRED, **options):
    """Each server has an address and principals of its own."""
    ensemble = Ensemble(kinds, **options)
    hosts = {member.sid: f"127.0.0.{member.sid}" for member in ensemble}
    lines = {f"server.{sid}": ensemble[sid].line().replace("127.0.0.1", host) for sid, host in hosts.items()}
    for host in hosts.values():
        for service in ("zkquorum", "learner"):
            kdc.service(f"{service}/{host}", file=f"keytab-{host}")
    for member in ensemble:
        host = hosts[member.sid]
        keytab = kdc.folder / f"keytab-{host}"
        member.config.update(lines)
        set_stage(member, stage)
        member.config["quorum.auth.kerberos.servicePrincipal"] = "zkquorum/_HOST"
        with_jaas(member, SECTION % ("QuorumServer", KERBEROS, keytab, f"zkquorum/{host}@{kdc.realm}")
                  + SECTION % ("QuorumLearner", KERBEROS, keytab, f"learner/{host}@{kdc.realm}"))
        member.properties["java.security.krb5.conf"] = str(kdc.krb5_conf)
        member.clock = OfKdc(kdc)
    return ensemble
