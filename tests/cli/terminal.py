# SPDX-License-Identifier: Apache-2.0
#
# Runs the shell in a pseudo-terminal: sends keys and reads the screen.

import os
import pty
import re
import select
import signal
import time

SECONDS_MAX = 20
SEQUENCES = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]")


class Terminal:
    def __init__(self, command, home, **environment):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ.update(HOME=str(home), TERM="xterm", LC_ALL="C.UTF-8", **environment)
            os.execv(command[0], command)
        self.raw = b""
        self.taken = 0  # of the text: what a wait has passed

    @property
    def text(self):
        """Everything shown so far, without colours and movements."""
        return SEQUENCES.sub(b"", self.raw).decode(errors="replace").replace("\r", "")

    def type(self, keys):
        os.write(self.fd, keys.encode())

    def wait_for(self, what):
        """Until it is shown, behind all that was waited for before; returns what was shown up to there."""
        deadline = time.monotonic() + SECONDS_MAX
        while True:
            found = self.text.find(what, self.taken)
            if found >= 0:
                shown = self.text[self.taken:found + len(what)]
                self.taken = found + len(what)
                return shown
            if not self._read(deadline - time.monotonic()):
                raise AssertionError(f"{what!r} was not shown, but {self.text[self.taken:]!r}")

    def wait_for_end(self):
        deadline = time.monotonic() + SECONDS_MAX
        while time.monotonic() < deadline:
            self._read(0.01)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.pid = None
                return os.waitstatus_to_exitcode(status)
        raise AssertionError(f"it did not end, but showed {self.text[self.taken:]!r}")

    def _read(self, seconds):
        ready, _, _ = select.select([self.fd], [], [], max(0, seconds))
        if not ready:
            return False
        try:
            piece = os.read(self.fd, 65536)
        except OSError:  # How Linux says that the other side is gone.
            return False
        self.raw += piece
        return bool(piece)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        if self.pid is not None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.fd)
