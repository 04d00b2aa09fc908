# SPDX-License-Identifier: Apache-2.0
#
# Certificates and the files that people keep them in, made for one test run: an authority, what it issues,
# and stores as PEM, PKCS12 and JKS. Made by openssl and by keytool, because what drover has to read is what
# those two write.

import dataclasses
import itertools
import pathlib
import shutil
import subprocess

from servers import MissingDependency

PACKAGES = {"openssl": "openssl", "keytool": "default-jdk-headless"}
KEY_OPTIONS = {"ec": ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"], "rsa": ["rsa:2048"]}
SERVER_NAMES = "DNS:localhost,IP:127.0.0.1"

_numbers = itertools.count(1)


def run_tool(tool, *arguments):
    if shutil.which(tool) is None:
        raise MissingDependency(f"{tool} is missing (Debian package: {PACKAGES[tool]})")
    done = subprocess.run([tool, *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{tool} {arguments[0]}: {done.stdout}{done.stderr}")
    return done.stdout


@dataclasses.dataclass
class Certificate:
    """A key with its certificate, as two PEM files."""
    key: pathlib.Path
    certificate: pathlib.Path
    authority: pathlib.Path

    def pem(self, path, password, cipher=()):
        """Key and chain in one file, as ZooKeeper wants it; `cipher` are options of openssl pkcs8."""
        key = run_tool("openssl", "pkcs8", "-topk8", *cipher, "-in", self.key, "-passout", f"pass:{password}")
        path.write_text(key + self.certificate.read_text() + self.authority.read_text())
        return path

    def pkcs12(self, path, password):
        run_tool("openssl", "pkcs12", "-export", "-name", "own", "-inkey", self.key, "-in", self.certificate,
                 "-certfile", self.authority, "-passout", f"pass:{password}", "-out", path)
        return path

    def jks(self, path, password):
        passage = self.pkcs12(path.with_suffix(".passage"), password)
        path.unlink(missing_ok=True)
        run_tool("keytool", "-importkeystore", "-noprompt",
                 "-srckeystore", passage, "-srcstoretype", "PKCS12", "-srcstorepass", password,
                 "-destkeystore", path, "-deststoretype", "JKS", "-deststorepass", password)
        return path


def expired(directory, name, password, *options):
    """Signed by itself, and valid for one day a month ago. Only keytool can set the clock back."""
    store, key, certificate = [pathlib.Path(directory) / f"{name}{suffix}" for suffix in (".p12", ".key", ".crt")]
    run_tool("keytool", "-genkeypair", "-alias", "own", "-keyalg", "EC", "-dname", f"CN={name}",
             "-startdate", "-30d", "-validity", "1", *options, "-keystore", store, "-storetype", "PKCS12",
             "-storepass", password)
    for output, what in ((key, ("-nocerts", "-noenc")), (certificate, ("-nokeys",))):
        run_tool("openssl", "pkcs12", "-in", store, "-passin", f"pass:{password}", *what, "-out", output)
    return Certificate(key, certificate, certificate)


class Authority:
    def __init__(self, directory, name, version=3):
        self.directory = pathlib.Path(directory)
        self.key, self.certificate = self._files()
        if version == 1:
            self._make_of_version_1(name)
            return
        run_tool("openssl", "req", "-x509", "-newkey", *KEY_OPTIONS["ec"], "-noenc", "-days", "30",
                 "-subj", f"/CN={name}", "-keyout", self.key, "-out", self.certificate)

    @classmethod
    def expired(cls, directory, name, password):
        made = cls.__new__(cls)
        made.directory = pathlib.Path(directory)
        old = expired(directory, name, password, "-ext", "bc:c")
        made.key, made.certificate = old.key, old.certificate
        return made

    def _make_of_version_1(self, name):
        request = self.certificate.with_suffix(".csr")
        run_tool("openssl", "req", "-new", "-newkey", *KEY_OPTIONS["ec"], "-noenc", "-subj", f"/CN={name}",
                 "-keyout", self.key, "-out", request)
        run_tool("openssl", "x509", "-req", "-in", request, "-signkey", self.key, "-days", "30",
                 "-out", self.certificate)

    def _files(self):
        stem = self.directory / f"certificate{next(_numbers)}"
        return stem.with_suffix(".key"), stem.with_suffix(".crt")

    def issue(self, subject, names=None, kind="ec"):
        """`subject` in openssl's form (/O=x/CN=y); `names` are subject alternative names."""
        key, certificate = self._files()
        extensions = ["-addext", f"subjectAltName={names}"] if names else []
        run_tool("openssl", "req", "-x509", "-CA", self.certificate, "-CAkey", self.key,
                 "-newkey", *KEY_OPTIONS[kind], "-noenc", "-days", "30", "-subj", subject,
                 "-addext", "basicConstraints=critical,CA:FALSE", *extensions,
                 "-keyout", key, "-out", certificate)
        return Certificate(key, certificate, self.certificate)

    def issue_plain(self, name):
        """An X.509 version 1 certificate, as in the tests of ZooKeeper's C client: only its key shows who signed it."""
        key, certificate = self._files()
        request = certificate.with_suffix(".csr")
        run_tool("openssl", "req", "-new", "-newkey", *KEY_OPTIONS["ec"], "-noenc", "-subj", f"/CN={name}",
                 "-keyout", key, "-out", request)
        run_tool("openssl", "x509", "-req", "-in", request, "-CA", self.certificate, "-CAkey", self.key,
                 "-CAcreateserial", "-days", "30", "-out", certificate)
        return Certificate(key, certificate, self.certificate)

    def trust(self, path, kind, password):
        """A trust store of `kind` that holds this authority alone."""
        if kind == "PEM":
            path.write_text(self.certificate.read_text())
        else:
            path.unlink(missing_ok=True)
            run_tool("keytool", "-importcert", "-noprompt", "-alias", "authority", "-file", self.certificate,
                     "-keystore", path, "-storetype", kind, "-storepass", password)
        return path
