# SPDX-License-Identifier: Apache-2.0
#
# Clients of other projects: kazoo and ZooKeeper's C client. They reconnect, give up and start new sessions
# in their own ways. They do not record single replies, so they are checked with a ledger: each one writes below
# its own root, and every acknowledged write must exist in the end.

import atexit
import pathlib
import shutil
import subprocess
import tempfile
import threading

from harness import check, wait_until
from kazoo import exceptions
from load import KazooWriter, Ledger
from servers import MissingDependency, require

SOURCE = pathlib.Path(__file__).with_name("counting_client.c")
OPEN_SECONDS = 60
END_SECONDS = 60
ROOTS = ("/kazoo", "/c")


class Kazoo(KazooWriter):
    # A write that a full disk refuses certainly did not happen. It may as well count as unknown.
    UNKNOWN = (*KazooWriter.UNKNOWN, exceptions.SystemZookeeperError)

    def __init__(self, hosts):
        super().__init__(hosts, connection_retry={"max_tries": -1, "delay": 0.05, "backoff": 1,
                                                  "max_delay": 1})
        self.resume()

    @property
    def answered(self):
        return len(self.ledger.outcomes)

    def finish_writing(self):
        self.end()
        self.join(END_SECONDS)
        self.check_healthy()
        check(not self.is_alive(), "kazoo ends")


class CClient:
    name = "C client"

    def __init__(self, hosts):
        self.ledger = Ledger("/c")
        self.hosts = hosts
        self.process = None
        self.opened = threading.Event()

    def start(self):
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen([_program(), self.hosts], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=self.errors, text=True, bufsize=1)
        atexit.register(self.process.kill)
        self.reader = threading.Thread(target=self._listen, daemon=True)
        self.reader.start()
        wait_until(self.opened.is_set, "the C client's nodes", OPEN_SECONDS)

    @property
    def answered(self):
        return len(self.ledger.outcomes)

    def check_healthy(self):
        if self.process.poll() is not None:
            self.errors.seek(0)
            raise AssertionError(f"the C client ended with {self.process.returncode}: {self.errors.read()}")

    def end(self):
        if self.process and not self.process.stdin.closed:
            self.process.stdin.close()

    def finish_writing(self):
        self.check_healthy()
        self.end()
        check(self.process.wait(END_SECONDS) == 0, "the C client ends")
        self.reader.join(END_SECONDS)

    def _listen(self):
        for line in self.process.stdout:
            word, _, outcome = line.strip().partition(" ")
            if word == "opened":
                self.opened.set()
            else:
                self.ledger.outcomes.append(outcome == "ok")


def _program():
    if shutil.which("gcc") is None:
        raise MissingDependency("gcc is missing (Debian package: gcc)")
    require("/usr/include/zookeeper/zookeeper.h", "libzookeeper-mt-dev")
    folder = tempfile.mkdtemp(prefix="drover-c-client-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    program = pathlib.Path(folder) / "counting_client"
    subprocess.run(["gcc", "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-o", program, SOURCE,
                    "-lzookeeper_mt"], check=True)
    return program
