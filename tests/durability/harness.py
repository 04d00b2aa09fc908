# SPDX-License-Identifier: Apache-2.0
#
# A drover process that tests can kill and expose to faults, and a session that speaks the raw protocol to it.
#
# The protocol's encoder and the list of cases with its countable last line come from tests/compat, whose
# authors wrote them from the protocol's description: a second copy could only differ by mistake.

import atexit
import collections
import contextlib
import mmap
import os
import pathlib
import resource
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "compat"))

import protocol as p  # noqa: E402
from ports import free_port  # noqa: E402
from servers import drover_binary, four_letter_word  # noqa: E402
from suite import check, check_equal, run  # noqa: E402,F401

START_SECONDS = 30
EXIT_SECONDS = 30
STORAGE_FAILURE_EXIT = 3
BATCH = 200

OK, BAD_ARGUMENTS, NO_NODE, BAD_VERSION, NODE_EXISTS = 0, -8, -101, -103, -110

_live = []


@atexit.register
def _end_live_processes():
    for process in _live:
        if process.poll() is None:
            process.kill()
            process.wait()


def wait_until(condition, what, seconds=20.0):
    """Polls, because most of what a test waits for happens inside another process."""
    deadline = time.monotonic() + seconds
    while True:
        if result := condition():
            return result
        if time.monotonic() > deadline:
            raise AssertionError(f"{what}: not within {seconds} s")
        time.sleep(0.005)


class NotStarted(Exception):
    """The server ended instead of serving; `lines` is what it said."""

    def __init__(self, code, lines):
        super().__init__(f"exit code {code}:\n" + "\n".join(lines))
        self.code = code
        self.lines = lines


_preload_libraries = {}


def preload_library(source):
    """A shared library for LD_PRELOAD, compiled once for this process."""
    if source not in _preload_libraries:
        folder = tempfile.mkdtemp(prefix="drover-preload-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        target = os.path.join(folder, source.stem + ".so")
        subprocess.run(["gcc", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", target,
                        str(source)], check=True)
        _preload_libraries[source] = target
    return _preload_libraries[source]


class FailingDisk:
    """The control file of failing_disk.c: what is armed here happens inside the server."""

    FDATASYNC, FSYNC, PWRITE, RENAME, FTRUNCATE, FALLOCATE, UNLINK = (1 << bit for bit in range(7))
    ANY = 127
    FAIL, KILL, DELAY, TEAR = 1, 2, 3, 4
    FOR_EVER = 1 << 30
    _LAYOUT = struct.Struct("=IIiiIiIII256s")

    def __init__(self, folder):
        self.path = pathlib.Path(folder) / "failing_disk.control"
        self.path.write_bytes(bytes(self._LAYOUT.size))
        with open(self.path, "r+b") as file:
            self._memory = mmap.mmap(file.fileno(), self._LAYOUT.size)

    def environment(self):
        library = preload_library(pathlib.Path(__file__).with_name("failing_disk.c"))
        return {"LD_PRELOAD": library, "DROVER_FAILING_DISK": str(self.path)}

    def arm(self, operations, pattern, action, nth=1, times=1, error=5, delay_ms=0):
        """The nth matching call from now on is hit (5 is EIO), and the `times - 1` after it."""
        self.disarm()
        self._LAYOUT.pack_into(self._memory, 0, 0, operations, nth - 1, times, action, error, delay_ms, 0, 0,
                               pattern.encode())
        struct.pack_into("=I", self._memory, 0, 1)

    def disarm(self):
        struct.pack_into("=I", self._memory, 0, 0)

    @property
    def hits(self):
        return struct.unpack_from("=I", self._memory, 28)[0]

    @property
    def inside(self):
        """Calls that hang at this moment."""
        return struct.unpack_from("=I", self._memory, 32)[0]


class Drover:
    """One server with its directories; may be started, killed and started again on the same data."""

    def __init__(self, properties=None, config=None, data_dir=None, failing_disk=False, separate_logs=False,
                 descriptors=None):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="drover-durability-"))
        self.data_dir = pathlib.Path(data_dir) if data_dir else self.folder / "data"
        self.log_file = self.folder / "server.log"
        self.port = None
        self.process = None
        self.properties = {"zookeeper.admin.enableServer": "false", **(properties or {})}
        self.config = {"tickTime": 2000, "dataDir": self.data_dir, "clientPortAddress": "127.0.0.1",
                       "maxClientCnxns": 0, **(config or {})}
        if separate_logs:
            self.config["dataLogDir"] = self.folder / "logs"
        self.disk = FailingDisk(self.folder) if failing_disk else None
        self.descriptors = descriptors  # the limit of open files; None: as here

    @property
    def snapshots(self):
        return self.data_dir / "version-2"

    @property
    def logs(self):
        return pathlib.Path(self.config.get("dataLogDir", self.data_dir)) / "version-2"

    def launch(self):
        self.port = free_port()
        settings = {**self.config, "clientPort": self.port}
        config_file = self.folder / "zoo.cfg"
        config_file.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
        self._said_before = self.log_file.stat().st_size if self.log_file.exists() else 0
        environment = {**os.environ, **(self.disk.environment() if self.disk else {})}
        with open(self.log_file, "ab") as log:
            self.process = subprocess.Popen(
                [drover_binary(), "server", str(config_file),
                 *[f"-D{key}={value}" for key, value in self.properties.items()]],
                stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, cwd=self.folder,
                env=environment, preexec_fn=self._limit_descriptors if self.descriptors else None)
        _live.append(self.process)

    def _limit_descriptors(self):
        resource.setrlimit(resource.RLIMIT_NOFILE, (self.descriptors, self.descriptors))

    def start(self):
        """Returns when it serves; NotStarted when it ended instead."""
        for _ in range(3):
            self.launch()
            if self.wait_ready():
                return self
            lines = self.said()
            code = self.wait_exit()
            if not any("Address already in use" in line for line in lines):
                break  # Somebody else may have taken the free port: only then another try makes sense.
        raise NotStarted(code, lines)

    def wait_ready(self):
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                return False
            with contextlib.suppress(OSError):
                if four_letter_word(self.port, "ruok", timeout=2) == "imok":
                    return True
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(timeout=0.01)
        raise AssertionError(f"the server neither serves nor ends within {START_SECONDS} s: {self.said()}")

    def kill(self):
        """Kills the process without a chance to write anything."""
        self.process.kill()
        return self.wait_exit()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.wait_exit()

    def wait_exit(self, seconds=EXIT_SECONDS):
        try:
            code = self.process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"the server did not end within {seconds} s") from None
        if self.process in _live:
            _live.remove(self.process)
        return code

    def alive(self):
        return self.process is not None and self.process.poll() is None

    def said(self, all_runs=False):
        """Log lines since the last start."""
        data = self.log_file.read_bytes()[0 if all_runs else self._said_before:]
        return data.decode(errors="replace").splitlines()

    def word(self, word, timeout=20):
        return four_letter_word(self.port, word, timeout=timeout)

    def monitor(self):
        pairs = (line.split("\t") for line in self.word("mntr").splitlines())
        return {pair[0]: pair[1] for pair in pairs if len(pair) == 2}

    def memory_mb(self, field="VmRSS"):
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith(field + ":"):
                return int(line.split()[1]) / 1024
        raise AssertionError(f"no {field} in /proc")

    def session(self, **fields):
        return Session(self.port, **fields)

    def remove(self):
        if self.alive():
            self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is None:
            self.remove()
            return
        if self.alive():
            self.kill()
        print(f"kept for inspection: {self.folder}", flush=True)


class Session:
    """A connection whose requests are sent in batches and whose answers must come in order."""

    def __init__(self, port, timeout_ms=30000, resume=None, last_zxid=0, patience=30.0, address=None):
        self.connection = p.Connection(port, timeout=patience)
        if address:  # of loopback, as a client on another machine would have another one
            self.connection.socket.close()
            self.connection.socket = socket.create_connection(("127.0.0.1", port), patience, (address, 0))
        self.xid = 0
        self.expected = collections.deque()  # xids of the replies to come
        self.last_zxid = last_zxid
        fields = {"session_id": resume.id, "password": resume.password} if resume else {}
        answer = self.connection.handshake(timeout_ms=timeout_ms, last_zxid=last_zxid, **fields)
        check(answer is not None, "closed without an answer to ConnectRequest, as it is right for a server "
              f"whose history ends before the zxid that the client has seen, {last_zxid:#x}")
        self.id = self.connection.session_id
        self.password = self.connection.password
        self.timeout_ms = self.connection.timeout_ms

    @property
    def valid(self):
        return self.timeout_ms > 0

    def send(self, requests):
        """One write for all of them; may be called again before the answers are read."""
        self.connection.socket.sendall(b"".join(self.frame(op, body) for op, body in requests))

    def frame(self, op, body):
        """The bytes of one request, whose answer is from now on expected."""
        self.xid += 1
        self.expected.append(p.PING_XID if op == p.PING else self.xid)
        return p.frame(struct.pack(">ii", self.xid, op) + body)

    def answer(self):
        """(error, decoder of the body) of the next reply; events are passed over."""
        while True:
            payload = self.connection.receive()
            if payload is None:
                raise ConnectionError("the server closed the connection")
            xid, zxid, err = p.reply_header(payload)
            if xid == p.EVENT_XID:
                continue
            check_equal(xid, self.expected.popleft(), "order of replies")
            self.last_zxid = max(self.last_zxid, zxid)
            decoder = p.Decoder(payload)
            decoder.at = 16
            return err, decoder

    def pipeline(self, requests):
        answers = []
        for start in range(0, len(requests), BATCH):
            batch = requests[start:start + BATCH]
            self.send(batch)
            answers += [self.answer() for _ in batch]
        return answers

    def call(self, op, body=b""):
        return self.pipeline([(op, body)])[0]

    def create(self, path, data=b"", flags=p.PERSISTENT):
        err, decoder = self.call(p.CREATE, p.create_body(path, data, flags=flags))
        check_equal(err, OK, f"create {path}")
        return decoder.string()

    def create_all(self, nodes, flags=p.PERSISTENT):
        """`nodes` are (path, data) pairs."""
        requests = [(p.CREATE, p.create_body(path, data, flags=flags)) for path, data in nodes]
        for (path, _), (err, _decoder) in zip(nodes, self.pipeline(requests)):
            check_equal(err, OK, f"create {path}")

    def exists(self, path):
        err, _ = self.call(p.EXISTS, p.path_watch_body(path))
        check(err in (OK, NO_NODE), f"exists {path}: error {err}")
        return err == OK

    def children(self, path):
        err, decoder = self.call(p.GET_CHILDREN, p.path_watch_body(path))
        check_equal(err, OK, f"getChildren {path}")
        return decoder.vector(decoder.string)

    def nodes(self, paths):
        """{path: (data, Stat)} of those that exist."""
        found = {}
        answers = self.pipeline([(p.GET_DATA, p.path_watch_body(path)) for path in paths])
        for path, (err, decoder) in zip(paths, answers):
            check(err in (OK, NO_NODE), f"getData {path}: error {err}")
            if err == OK:
                found[path] = (decoder.buffer(), decoder.stat())
        return found

    def below(self, parent):
        return self.nodes([f"{parent}/{name}" for name in self.children(parent)])

    def close(self):
        self.connection.close()


def is_closed(connection, seconds=20.0):
    """True if the server ends this connection in time, whatever it sends before."""
    connection.socket.settimeout(seconds)
    try:
        while connection.receive() is not None:
            pass
    except socket.timeout:
        return False
    return True
