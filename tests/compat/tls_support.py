# SPDX-License-Identifier: Apache-2.0
#
# Support for the TLS suite: certificates, servers with a secure port, and a raw client that
# speaks the protocol over Python's ssl.

import contextlib
import pathlib
import socket
import ssl
import tempfile
import time

import protocol as p
from certificates import SERVER_NAMES, Authority
from ports import free_port
from servers import JAVA_LIBRARIES, SERVER_JARS, DroverServer, JavaServer, java_classpath, require
from suite import check, check_equal

PASSWORD = "hunter2-for-stores"
PATIENCE = 30
OK, NOAUTH = 0, -102
EXTENSIONS = {"PEM": ".pem", "PKCS12": ".p12", "JKS": ".jks"}
NETTY_JARS = [f"netty-{part}.jar" for part in (
    "buffer", "codec", "common", "handler", "resolver", "transport", "transport-native-epoll",
    "transport-native-unix-common")]

# As Java's getSubjectX500Principal().getName() writes the subjects below, which is what an ACL has to say.
ALICE = "CN=alice,OU=dogs,O=Wool\\, Sheep \\+ Co,C=DE"
BOB = "CN=bob,O=drover"
ADMIN = "CN=admin,O=drover"


def netty_classpath():
    """Settings for TLS with Java's server and client, which only their Netty transport supports."""
    netty = [require(JAVA_LIBRARIES / jar, "libnetty-java") for jar in NETTY_JARS]
    return ":".join([java_classpath(*SERVER_JARS), *netty])


class Pki:
    """The identities: a server, two clients, an administrator, somebody without a name, and a stranger."""

    def __init__(self):
        self._directory = tempfile.TemporaryDirectory(prefix="compat-tls-")
        self.files = pathlib.Path(self._directory.name)
        self.authority = Authority(self.files, "authority")
        self.strange_authority = Authority(self.files, "stranger's authority")
        self.server = self.authority.issue("/O=drover/CN=server", SERVER_NAMES)
        self.alice = self.authority.issue("/C=DE/O=Wool, Sheep \\+ Co/OU=dogs/CN=alice")
        self.bob = self.authority.issue("/O=drover/CN=bob")
        self.admin = self.authority.issue("/O=drover/CN=admin")
        self.nameless = self.authority.issue("/", "DNS:nameless")
        self.stranger = self.strange_authority.issue("/O=drover/CN=alice")

    def stores(self, kind="PEM", key=None, pem_cipher=()):
        """The settings that name a key store and a trust store of this kind, which are created again."""
        key = key or self.server
        key_file, trust_file = [self.files / (name + EXTENSIONS[kind]) for name in ("keys", "trusted")]
        if kind == "PEM":
            key.pem(key_file, PASSWORD, pem_cipher)
        else:
            {"PKCS12": key.pkcs12, "JKS": key.jks}[kind](key_file, PASSWORD)
        self.authority.trust(trust_file, kind, PASSWORD)
        return {"ssl.keyStore.location": key_file, "ssl.keyStore.password": PASSWORD,
                "ssl.trustStore.location": trust_file, "ssl.trustStore.password": PASSWORD}

    def context(self, certificate=None, trusted=None):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.load_verify_locations((trusted or self.authority).certificate)
        if certificate:
            context.load_cert_chain(certificate.certificate, certificate.key)
        return context


class TlsServer:
    """Additional settings for both kinds of server."""

    pem_cipher = ()

    def __init__(self, pki, settings=None, **options):
        secure = {"secureClientPortAddress": "127.0.0.1", "ssl.clientAuth": "need",
                  "serverCnxnFactory": "org.apache.zookeeper.server.NettyServerCnxnFactory"}
        stores = pki.stores(pem_cipher=self.pem_cipher)
        super().__init__(config={**secure, **stores, **(settings or {})}, **options)

    def _launch(self):
        self.secure_port = self.config["secureClientPort"] = free_port()
        super()._launch()


    def _wait_ready(self):
        return super()._wait_ready() and self._secure_port_is_open()

    # The Java server answers on its plain port a moment before it opens the other one.
    def _secure_port_is_open(self):
        with contextlib.suppress(AssertionError):
            wait_until(lambda: is_open(self.secure_port), "")
            return True
        return False


class TlsDrover(TlsServer, DroverServer):
    pass


class TlsJava(TlsServer, JavaServer):
    pem_cipher = ("-v1", "PBE-SHA1-3DES")  # What JDK 17 can open; newer ones it does not find by their name.

    def command(self, config_file):
        return [netty_classpath() if word.endswith("slf4j-simple.jar") else word
                for word in super().command(config_file)]


class TlsConnection(p.Connection):
    """A client over TLS. With TLS 1.3 a server's refusal comes behind the handshake, so it counts as a closed
    connection wherever it shows."""

    def __init__(self, port, context):
        super().__init__(port, timeout=PATIENCE)
        try:
            self.socket = context.wrap_socket(self.socket, server_hostname="localhost")
        except OSError:
            self.close()
            raise

    def send(self, data):
        with contextlib.suppress(ssl.SSLError):
            super().send(data)

    def receive(self):
        try:
            return super().receive()
        except ssl.SSLError:
            return None


def is_open(port):
    with contextlib.suppress(ConnectionRefusedError), socket.create_connection(("127.0.0.1", port)):
        return True
    return False


def session_on(port, context):
    """A session, or None where the server refuses one. Silence is no refusal."""
    try:
        connection = TlsConnection(port, context)
        if connection.handshake() is not None:
            return connection
        connection.close()
    except (ssl.SSLError, ConnectionError):
        pass
    return None


def error_of(connection, op, body, xid=1):
    _, payload = connection.call(xid, op, body)
    check(payload is not None, "the server closed the connection")
    return p.reply_header(payload)[2]


def data_of(connection, path):
    _, payload = connection.call(1, p.GET_DATA, p.path_watch_body(path))
    check(payload is not None and p.reply_header(payload)[2] == OK, f"cannot read {path}")
    return p.Decoder(payload[16:]).buffer()


def identities_of(connection):
    """Scheme to id, of those the server knows this connection by."""
    _, payload = connection.call(1, p.WHO_AM_I)
    decoder = p.Decoder(payload[16:])
    return dict(decoder.vector(lambda: (decoder.string(), decoder.string())))


def check_round_trip(connection, path, data=b"over TLS"):
    check_equal(error_of(connection, p.CREATE, p.create_body(path, data)), OK, "error of create")
    check_equal(data_of(connection, path), data)


def word_over_tls(port, word, context):
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as plain:
        with context.wrap_socket(plain, server_hostname="localhost") as connection:
            connection.sendall(word)
            answer = b""
            while chunk := connection.recv(65536):
                answer += chunk
            return answer.decode()


def wait_until(condition, what):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        check(time.monotonic() < deadline, what)
        time.sleep(0.05)
