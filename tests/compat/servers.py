# SPDX-License-Identifier: Apache-2.0
#
# Starts and stops the servers that the compatibility tests talk to: Apache ZooKeeper 3.8.0 as Debian packages
# it, 3.9 from Maven Central (maven.py), and drover. All get the same zoo.cfg and the same -D properties, so
# that a difference seen by a client is a difference of the servers.
#
# A server lives in a temporary directory on a free loopback port, is ready when its port answers `ruok`,
# and dies with this process. Only Python's standard library is used.

import atexit
import contextlib
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

import maven
from ports import free_port

COMPAT_DIR = pathlib.Path(__file__).resolve().parent
PROJECT_ROOT = COMPAT_DIR.parent.parent
JAVA_LIBRARIES = pathlib.Path("/usr/share/java")
DEFAULT_DROVER = PROJECT_ROOT / "build" / "release" / "bin" / "drover"

SUPER_AUTH = b"super:admin"
SUPER_DIGEST = "super:xQJmxLMiHGwaqBvst5y6rkB6HQs="

START_TIMEOUT_SECONDS = 60
START_ATTEMPTS = 3

# Short JVM start matters more here than peak speed: a suite starts a dozen of them.
JVM_FLAGS = ["-Xshare:auto", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx768m"]
LOG_FLAGS = ["-Dorg.slf4j.simpleLogger.defaultLogLevel=info", "-Dorg.slf4j.simpleLogger.showDateTime=true"]
SERVER_JARS = ("zookeeper.jar", "slf4j-simple.jar")
LIBRARY_JARS = ("slf4j-api.jar", "slf4j-simple.jar", "metrics-core.jar", "snappy-java.jar", "commons-cli.jar",
                "netty-buffer.jar", "netty-common.jar", "netty-handler.jar", "netty-transport.jar")
JAR_PACKAGES = {"curator-recipes.jar": "libcurator-recipes-java", "slf4j-simple.jar": "libslf4j-java"}

_live_processes = []
_directories = []


class MissingDependency(Exception):
    """A package or binary that a suite needs is not installed. A suite fails on it, it never skips."""


def require(path, package):
    if not pathlib.Path(path).exists():
        raise MissingDependency(f"{path} is missing (Debian package: {package})")
    return str(path)


def drover_binary():
    path = pathlib.Path(os.environ.get("DROVER", DEFAULT_DROVER))
    if not path.exists():
        raise MissingDependency(f"{path} is missing (build drover first, or set DROVER)")
    return str(path)


def java_binary():
    path = shutil.which("java")
    if path is None:
        raise MissingDependency("java is missing (Debian package: default-jre-headless)")
    return path


def java_classpath(*jars):
    return ":".join(require(JAVA_LIBRARIES / jar, JAR_PACKAGES.get(jar, "zookeeper")) for jar in jars)


def four_letter_word(port, word, timeout=5.0, host="127.0.0.1"):
    with socket.create_connection((host, port), timeout=timeout) as connection:
        connection.sendall(word.encode())
        answer = b""
        with contextlib.suppress(ConnectionResetError):
            while chunk := connection.recv(65536):
                answer += chunk
    return answer.decode(errors="replace")


class Server:
    """One server process with its directories. `start` may be called again after `stop` or `kill`:
    port and data stay, which is what restart tests need."""

    name = "?"
    release = (3, 9)  # whose behaviour it has

    def __init__(self, config=None, properties=None, data_dir=None, tick_ms=2000):
        self.base = pathlib.Path(tempfile.mkdtemp(prefix=f"compat-{self.name}-"))
        _directories.append(self.base)
        self.data_dir = pathlib.Path(data_dir) if data_dir else self.base / "data"
        self.data_dir.mkdir(parents=True, exist_ok=True)
        self.log_file = self.base / "server.log"
        self.config = {
            "tickTime": tick_ms,
            "dataDir": self.data_dir,
            "clientPortAddress": "127.0.0.1",
            "maxClientCnxns": 0,
            "admin.enableServer": "false",
        }
        self.config.update(config or {})
        self.properties = {
            "zookeeper.extendedTypesEnabled": "true",
            "zookeeper.4lw.commands.whitelist": "*",
            "zookeeper.DigestAuthenticationProvider.superDigest": SUPER_DIGEST,
            "zookeeper.admin.enableServer": "false",
            # Durability is not what these tests are about, and both sides are told the same.
            "zookeeper.forceSync": "no",
            "zookeeper.preAllocSize": "1024",
        }
        self.properties.update(properties or {})
        self.port = None
        self.process = None

    @property
    def address(self):
        return f"127.0.0.1:{self.port}"

    def command(self, config_file):
        raise NotImplementedError

    def start(self):
        keep_port = self.port is not None
        for attempt in range(START_ATTEMPTS):
            if not keep_port:
                self.port = free_port()
            self._launch()
            if self._wait_ready():
                return self
            status = self.process.returncode
            self.kill()
        raise RuntimeError(f"{self.name} did not start (exit status {status}); its log ends with:\n"
                           f"{self.log_tail()}")

    def _launch(self):
        config_file = self.base / "zoo.cfg"
        self.write_config(config_file)
        with open(self.log_file, "ab") as log:
            self.process = subprocess.Popen(self.command(config_file), stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=subprocess.STDOUT, cwd=self.base)
        _live_processes.append(self.process)

    def write_config(self, config_file):
        settings = dict(self.config, clientPort=self.port)
        config_file.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))

    def _wait_ready(self):
        deadline = time.monotonic() + START_TIMEOUT_SECONDS
        while time.monotonic() < deadline and self.process.poll() is None:
            # A short wait, because the Java server may never answer a connection that it accepted while it
            # was still starting. That it is our process that answers is sure: without its port it would end.
            with contextlib.suppress(OSError):
                if four_letter_word(self.port, "srvr", timeout=0.5).startswith("Zookeeper version"):
                    return True
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(timeout=0.05)
        return False

    def log_tail(self, lines=30):
        text = self.log_file.read_text(errors="replace") if self.log_file.exists() else ""
        return "\n".join(text.splitlines()[-lines:])

    def stop(self):
        self._end(signal.SIGTERM)

    def kill(self):
        """Kills the process without a chance to write anything."""
        self._end(signal.SIGKILL)

    def _end(self, how):
        if self.process is None:
            return
        if self.process.poll() is None:
            self.process.send_signal(how)
            try:
                self.process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        if self.process in _live_processes:
            _live_processes.remove(self.process)
        self.process = None

    def remove(self):
        self.kill()
        shutil.rmtree(self.base, ignore_errors=True)

    def __enter__(self):
        return self.start()

    def __exit__(self, *unused):
        self.remove()


class JavaServer(Server):
    name = "java"
    release = (3, 8)

    def classpath(self):
        return java_classpath(*SERVER_JARS)

    def command(self, config_file):
        return [java_binary(), *JVM_FLAGS, *LOG_FLAGS,
                *[f"-D{key}={value}" for key, value in self.properties.items()],
                "-cp", self.classpath(),
                "org.apache.zookeeper.server.ZooKeeperServerMain", str(config_file)]


class Java39Server(JavaServer):
    name = "java39"
    release = (3, 9)

    def classpath(self):
        return ":".join([*maven.zookeeper_jars(), java_classpath(*LIBRARY_JARS)])


class DroverServer(Server):
    name = "drover"

    def command(self, config_file):
        return [drover_binary(), "server", str(config_file),
                *[f"-D{key}={value}" for key, value in self.properties.items()]]


KINDS = {"java": JavaServer, "java39": Java39Server, "drover": DroverServer}


def start_together(*servers):
    """Launches all before waiting for any: a JVM needs a second to start."""
    for server in servers:
        server.port = free_port()
        server._launch()
    for server in servers:
        if not server._wait_ready():
            server.kill()
            server.port = None
            server.start()
    return servers


@atexit.register
def _leave_nothing_behind():
    for process in list(_live_processes):
        if process.poll() is None:
            process.kill()
            process.wait()
    for directory in _directories:
        shutil.rmtree(directory, ignore_errors=True)


def _exit_on_signal(number, _frame):
    sys.exit(128 + number)  # Runs atexit, so that no server outlives a cancelled run.


signal.signal(signal.SIGTERM, _exit_on_signal)
