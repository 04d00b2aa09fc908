# SPDX-License-Identifier: Apache-2.0
#
# The client's side of DIGEST-MD5 (RFC 2831), byte by byte: a test can send a response that no client library would
# compute.

import hashlib
import re

URI = "zookeeper/zk-sasl-md5"  # the same for every ZooKeeper server
NONCE = "OA6MHXh6VqTrRk"


def parse(challenge):
    """{"nonce": "...", ...} of a challenge's directives."""
    pairs = re.findall(r'([a-z-]+)=(?:"((?:[^"\\]|\\.)*)"|([^,]*))', challenge.decode())
    return {name: quoted or plain for name, quoted, plain in pairs}


def _hex(data):
    return hashlib.md5(data).hexdigest().encode()


def _narrow(text):
    """Names and passwords are hashed in Latin-1 if they can be."""
    try:
        return text.encode("latin-1")
    except UnicodeEncodeError:
        return text.encode()


def _quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


class Login:
    """One answer to a challenge, and the server's proof that follows."""

    def __init__(self, challenge, user, password, authzid=None):
        server = parse(challenge)
        self.realm, self.nonce, self.user, self.authzid = server["realm"], server["nonce"], user, authzid
        a1 = hashlib.md5(_narrow(user) + b":" + _narrow(self.realm) + b":" + _narrow(password)).digest()
        a1 += f":{self.nonce}:{NONCE}".encode()
        if authzid is not None:
            a1 += b":" + authzid.encode()
        self._secret = _hex(a1)

    def _hash(self, method):
        return _hex(self._secret + f":{self.nonce}:00000001:{NONCE}:auth:".encode() +
                    _hex(f"{method}:{URI}".encode())).decode()

    def response(self, **changes):
        """`changes` replace directives after the hash was computed; None removes one."""
        directives = {
            "charset": "utf-8", "username": _quoted(self.user), "realm": _quoted(self.realm),
            "nonce": _quoted(self.nonce), "nc": "00000001", "cnonce": _quoted(NONCE), "digest-uri": _quoted(URI),
            "maxbuf": "65536", "response": self._hash("AUTHENTICATE"), "qop": "auth",
        }
        if self.authzid is not None:
            directives["authzid"] = _quoted(self.authzid)
        directives.update({name.replace("_", "-"): value for name, value in changes.items()})
        return ",".join(f"{name}={value}" for name, value in directives.items() if value is not None).encode()

    def proof(self):
        return f"rspauth={self._hash('')}".encode()
