# SPDX-License-Identifier: Apache-2.0
#
# The servers that should run. The nemesis kills servers and revives them; an operator switches servers on and off
# meanwhile. So both start and end processes only under one lock.

import threading

from harness import STORAGE_FAILURE_EXIT, check

START_FAILURE_EXIT, WRONG_CONFIG_EXIT = 1, 2
NO_SPACE = "No space left on device"
REMOVED = "may have removed this server"


class Roster:
    def __init__(self, ensemble, off=()):
        self.ensemble = ensemble
        self.lock = threading.RLock()
        self.off = set(off)       # sids of servers that stay down
        self.leavers = set(off)   # sids of servers that may not be members: they may end because of that

    def switch_on(self, member):
        with self.lock:
            self.off.discard(member.sid)
            member.launch()

    def switch_off(self, member):
        with self.lock:
            self.off.add(member.sid)
            member.kill()

    def revive(self):
        """Restarts servers that have ended, as an init system would. A server may end because its disk failed, or
        because it was removed from the ensemble, and for no other reason of its own."""
        with self.lock:
            for member in self.ensemble:
                if member.sid in self.off or member.running:
                    continue
                if self._was_removed(member):
                    self.switch_off(member)
                    continue
                check(self._was_killed_or_lost_its_disk(member),
                      f"{member} ended with {self._exit_code(member)}:\n{member.log_tail()}")
                member.kill()  # Only to collect its end.
                member.launch()

    def _was_killed_or_lost_its_disk(self, member):
        code = self._exit_code(member)
        # An operator may start a server while its disk is full.
        could_not_start = code == START_FAILURE_EXIT and NO_SPACE in member.said()
        return code in (None, STORAGE_FAILURE_EXIT) or could_not_start

    def _was_removed(self, member):
        return (self._exit_code(member) == WRONG_CONFIG_EXIT and member.sid in self.leavers
                and REMOVED in member.said())

    @staticmethod
    def _exit_code(member):
        return member.process and member.process.returncode
