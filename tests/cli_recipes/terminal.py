# SPDX-License-Identifier: Apache-2.0
#
# Runs a program in its own pseudo-terminal: reads its screen and sends keys.

import contextlib
import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import threading
import time

PATIENCE_SECONDS = 40


class Failed(Exception):
    pass


@contextlib.contextmanager
def following(command):
    """A program that says a line when something happens, ended by SIGTERM. One that says nothing is killed in time, so
    that no test waits for its next line forever."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    timer = threading.Timer(PATIENCE_SECONDS, process.kill)
    timer.start()
    try:
        yield process
    finally:
        process.terminate()
        process.stdout.read()
        status = process.wait()
        timer.cancel()
    if status != 0:
        raise Failed(f"{command} ends with {status}")


class Terminal:
    """A program on a terminal of its own."""

    def __init__(self, command):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execv(command[0], command)
        self.text = self.last = ""

    def resize(self, rows, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def wait_for(self, words):
        deadline = time.monotonic() + PATIENCE_SECONDS
        while words not in self.text:
            if time.monotonic() > deadline:
                raise Failed(f"{words!r} on the screen: {self.text[-2000:]!r}")
            if select.select([self.fd], [], [], 0.1)[0]:
                try:
                    self.text += os.read(self.fd, 65536).decode(errors="replace")
                except OSError:
                    if words not in self.text:
                        raise Failed(f"{words!r} on the screen before it ends: {self.text[-2000:]!r}") from None
        at = self.text.index(words)
        self.last = self.text[:at]  # what came before it
        self.text = self.text[at + len(words):]

    def wait_until(self, is_wanted, what):
        """Until what was drawn in one go is as wanted."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            self.wait_for("\x1b[J")
            if is_wanted(self.last):
                return
        raise Failed(f"{what}: {self.last!r}")

    def type(self, keys):
        os.write(self.fd, keys.encode())

    def wait(self):
        # A terminal that is not read blocks its writer.
        try:
            while os.read(self.fd, 65536):
                pass
        except OSError:
            pass
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is not None:
            os.kill(self.pid, 9)
            os.waitpid(self.pid, 0)
        os.close(self.fd)
