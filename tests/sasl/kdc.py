# SPDX-License-Identifier: Apache-2.0
#
# A Kerberos KDC of our own on loopback, for any test: `with Kdc(folder) as kdc:`.
#
# Its files are all in the folder; nothing of /etc/krb5.conf is used. Programs find it by kdc.environment(), JVMs by
# kdc.java_options().
import os
import pathlib
import socket
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "compat"))
from ports import free_port  # noqa: E402  (the path above must come first)

FAKETIME = "/usr/$LIB/faketime/libfaketime.so.1"
TOOLS = os.environ["PATH"] + ":/usr/sbin:/sbin"
START_SECONDS = 20

KRB5_CONF = """\
[libdefaults]
  default_realm = {realm}
  dns_lookup_kdc = false
  dns_lookup_realm = false
  dns_canonicalize_hostname = false
  rdns = false
  udp_preference_limit = 1
  kdc_timesync = 0
  ticket_lifetime = {ticket_life}
[realms]
  {realm} = {{
    kdc = 127.0.0.1:{port}
  }}
[domain_realm]
  localhost = {realm}
  .example.com = {realm}
"""

KDC_CONF = """\
[kdcdefaults]
  kdc_listen = 127.0.0.1:{port}
  kdc_tcp_listen = 127.0.0.1:{port}
[realms]
  {realm} = {{
    database_name = {folder}/principal
    key_stash_file = {folder}/stash
    max_life = {ticket_life}
    max_renewable_life = 1d
  }}
[logging]
  kdc = FILE:{folder}/kdc.log
"""


class Kdc:
    """`ticket_life` is Kerberos' text, such as "10m". With `own_clock` the KDC and all programs that get
    environment() share a clock that advance() moves, so that tickets expire without waiting."""

    def __init__(self, folder, realm="EXAMPLE.COM", ticket_life="10h", own_clock=False):
        self.folder = pathlib.Path(folder)
        self.realm = realm
        self.port = free_port()
        self._process = None
        self.folder.mkdir(parents=True, exist_ok=True)
        self._clock = self.folder / "clock" if own_clock else None
        self._seconds = 0
        if own_clock:
            self.advance(0)
        values = {"realm": realm, "port": self.port, "folder": self.folder, "ticket_life": ticket_life}
        self.krb5_conf = self.folder / "krb5.conf"
        self.krb5_conf.write_text(KRB5_CONF.format(**values), encoding="utf-8")
        (self.folder / "kdc.conf").write_text(KDC_CONF.format(**values), encoding="utf-8")
        self._run("kdb5_util", "create", "-s", "-r", realm, "-P", "master of this test")
        self.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    # ---- the process ----

    def start(self):
        self._process = subprocess.Popen(["krb5kdc", "-n", "-r", self.realm], env=self._tools_environment(),
                                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                raise RuntimeError(f"krb5kdc ended with {self._process.returncode}")
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            except OSError:
                time.sleep(0.02)
        raise RuntimeError("krb5kdc does not listen")

    def stop(self):
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None

    def advance(self, seconds):
        """Moves the shared clock."""
        self._seconds += seconds
        self._clock.write_text(f"{self._seconds:+d}s\n", encoding="utf-8")

    # ---- what others need ----

    def environment(self, **more):
        """Environment variables for a program that uses MIT Kerberos. The replay cache stays in the folder, too."""
        found = {**os.environ, "KRB5_CONFIG": str(self.krb5_conf), "KRB5RCACHEDIR": str(self.folder),
                 "KRB5CCNAME": f"FILE:{self.folder}/no-tickets"}
        if self._clock:
            found |= {"LD_PRELOAD": FAKETIME, "FAKETIME_TIMESTAMP_FILE": str(self._clock), "FAKETIME_NO_CACHE": "1",
                      "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
        return found | more

    def java_options(self):
        return [f"-Djava.security.krb5.conf={self.krb5_conf}"]

    def add_principal(self, name, password=None, **options):
        """Options are those of kadmin's add_principal: maxlife="5s"."""
        secret = ["-randkey"] if password is None else ["-pw", password]
        flags = [word for key, value in options.items() for word in (f"-{key}", value)]
        self._kadmin(" ".join(["add_principal", *secret, *(f'"{flag}"' for flag in flags), f'"{name}"']))

    def change_keys(self, name):
        """New random keys, of which no keytab knows yet."""
        self._kadmin(f'change_password -randkey "{name}"')

    def keytab(self, *names, file="keytab"):
        """The path of a keytab with the present keys of these principals."""
        path = self.folder / file
        for name in names:
            self._kadmin(f'ktadd -q -norandkey -k "{path}" "{name}"')
        return path

    def service(self, name, file="keytab"):
        """A principal with random keys, and the path of its keytab."""
        self.add_principal(name)
        return self.keytab(name, file=file)

    def tickets(self, name, keytab, file="tickets", life=None):
        """The path of a ticket cache of this principal."""
        path = self.folder / file
        flags = [] if life is None else ["-l", life]
        subprocess.run(["kinit", *flags, "-c", f"FILE:{path}", "-k", "-t", str(keytab), name], check=True,
                       env=self.environment(), capture_output=True)
        return path

    @staticmethod
    def with_wrong_clock(command, seconds):
        """The command as it runs on a machine whose clock is this many seconds fast, or slow if negative."""
        return ["faketime", "-f", f"{seconds:+d}s", *command]

    # ---- inside ----

    def _tools_environment(self):
        return {**self.environment(), "KRB5_KDC_PROFILE": str(self.folder / "kdc.conf"), "PATH": TOOLS}

    def _run(self, *command):
        done = subprocess.run(command, env=self._tools_environment(), capture_output=True, text=True, check=False)
        if done.returncode != 0 or "kadmin.local:" in done.stderr:
            raise RuntimeError(f"{command}: {done.stdout}{done.stderr}")
        return done.stdout

    def _kadmin(self, query):
        return self._run("kadmin.local", "-r", self.realm, "-q", query)
