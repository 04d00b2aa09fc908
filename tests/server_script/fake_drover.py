#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
#
# Stands in for the drover binary: answers `srvr` on the configured port and records how it was called.
# FAKE_BEHAVIOUR: "dies" (at once, with a reason), "stubborn" (ignores the request to end).
import json
import os
import signal
import socket
import sys

SRVR = b"Zookeeper version: fake\nLatency min/avg/max: 0/0.0/0\nMode: standalone\nNode count: 5\n"


def client_port(arguments):
    """Reads a setting from -D or the file, as the real server does, for the few files of the tests."""
    port = 0
    with open(arguments[1], encoding="utf-8") as config:
        for line in config:
            key, _, value = line.partition("=")
            if key.strip() == "clientPort":
                port = int(value)
            elif key.strip() == "server.1" and ";" in value:
                port = int(value.split(";")[1].split(":")[-1])
    for argument in arguments[2:]:
        if argument.startswith("-DclientPort="):
            port = int(argument.split("=")[1])
    return port


def main(arguments):
    if arguments == ["--version"]:
        print("fake drover, version 3.9.5-drover-0.1.0")
        return 0
    record = os.environ.get("FAKE_RECORD")
    if record:
        with open(record, "w", encoding="utf-8") as out:
            json.dump(arguments, out)
    behaviour = os.environ.get("FAKE_BEHAVIOUR", "")
    if behaviour == "dies":
        print("zoo.cfg:1: a reason to die", file=sys.stderr)
        return 2
    if behaviour == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    with socket.create_server(("127.0.0.1", client_port(arguments))) as listener:
        while True:
            connection, _ = listener.accept()
            with connection:
                if connection.recv(4) == b"srvr":
                    connection.sendall(SRVR)


sys.exit(main(sys.argv[1:]))
