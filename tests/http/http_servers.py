# SPDX-License-Identifier: Apache-2.0
#
# Servers of both kinds with their HTTP port open, and a client for it.

import contextlib
import dataclasses
import http.client
import pathlib
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
for folder in ("compat", "durability", "ensemble"):
    sys.path.append(str(HERE.parent / folder))

import servers  # noqa: E402
from ports import free_port  # noqa: E402

START_SECONDS = 60
SUPER = {"Authorization": "digest super:admin"}

servers.JAR_PACKAGES["servlet-api.jar"] = "libservlet-api-java"
# Java's AdminServer needs this one besides what its own jar names.
servers.SERVER_JARS = (*servers.SERVER_JARS, "servlet-api.jar")
for jar, package in (("jetty9-server.jar", "libjetty9-java"), ("jackson-databind.jar", "libjackson2-databind-java")):
    servers.require(servers.JAVA_LIBRARIES / jar, package)


@dataclasses.dataclass
class Answer:
    status: int
    headers: dict
    body: bytes

    @property
    def text(self):
        return self.body.decode()


def ask(port, path, method="GET", body=None, headers=None, context=None):
    if context:
        connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=30, context=context)
    else:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    with contextlib.closing(connection):
        connection.request(method, path, body=body, headers=headers or {})
        response = connection.getresponse()
        return Answer(response.status, {k.lower(): v for k, v in response.getheaders()}, response.read())


def http_settings(port):
    return ({"admin.enableServer": "true", "admin.serverPort": port, "admin.serverAddress": "127.0.0.1"},
            {"zookeeper.admin.enableServer": "true"})


def with_http(kind, config=None, properties=None):
    """A server of this kind whose `http_port` answers once it is started."""
    port = free_port()
    on, switch = http_settings(port)
    server = servers.KINDS[kind]({**on, **(config or {})}, {**switch, **(properties or {})})
    server.http_port = port
    return server


def wait_for_http(port, path="/commands/ruok", context=None):
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            return ask(port, path, context=context)
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)  # Between two tries; the condition ends the wait.
