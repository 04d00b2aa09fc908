# SPDX-License-Identifier: Apache-2.0
#
# The process of CountingClient.java: compiled and started once, then told which ensemble to write to.

import atexit
import pathlib
import shutil
import subprocess
import tempfile
import threading

from harness import wait_until
from servers import JVM_FLAGS, MissingDependency, java_binary, java_classpath

SOURCE = pathlib.Path(__file__).with_name("CountingClient.java")
JARS = ("zookeeper.jar", "slf4j-nop.jar")
OPEN_SECONDS = 60

_shared = None


def shared():
    global _shared
    if _shared is None or _shared.failure is not None:
        _shared = JavaClient()
    return _shared


class JavaClient:
    def __init__(self):
        if shutil.which("javac") is None:
            raise MissingDependency("javac is missing (Debian package: default-jdk-headless)")
        classes = tempfile.mkdtemp(prefix="drover-java-client-")
        atexit.register(shutil.rmtree, classes, ignore_errors=True)
        classpath = java_classpath(*JARS)
        subprocess.run(["javac", "-nowarn", "-d", classes, "-cp", classpath, str(SOURCE)], check=True)
        self.errors = open(pathlib.Path(classes) / "errors", "w+", encoding="utf-8")
        self.process = subprocess.Popen(
            [java_binary(), *JVM_FLAGS, "-Xmx128m", "-cp", f"{classes}:{classpath}", "CountingClient"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, text=True, bufsize=1)
        atexit.register(self.process.kill)
        self.failure = None
        self.idle = True
        self.opened = False
        self.outcomes = []
        threading.Thread(target=self._listen, daemon=True).start()

    def open(self, hosts, outcomes):
        """Starts writing: `outcomes` grows with every write that ends."""
        self.outcomes = outcomes
        self.opened = False
        self.say(f"open {hosts}")
        wait_until(lambda: self.opened or self.failure, "the Java client opens its session", OPEN_SECONDS)

    def say(self, command):
        if command == "resume":
            self.idle = False
        self.process.stdin.write(command + "\n")

    def close(self):
        self.say("close")
        wait_until(lambda: not self.opened or self.failure, "the Java client ends its session", OPEN_SECONDS)

    def _listen(self):
        for line in self.process.stdout:
            word, _, outcome = line.strip().partition(" ")
            if word == "opened":
                self.opened = True
            elif word == "closed":
                self.opened = False
            elif word == "paused":
                self.idle = True
            else:
                self.outcomes.append(outcome == "ok")
        self.errors.seek(0)
        self.failure = f"it ended: {self.errors.read()}"
