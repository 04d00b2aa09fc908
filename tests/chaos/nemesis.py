# SPDX-License-Identifier: Apache-2.0
#
# Injects faults and heals them: each fault is a context manager that ends with everything healthy. Faults that
# really happened are counted, because a run without faults proves nothing.

import collections
import contextlib
import json
import mmap
import os
import pathlib
import struct
import subprocess
import sys

from ports import free_port
from harness import FailingDisk, check, preload_library

HOUR_MS = 3600 * 1000
LOG = "*/version-2/log.*"


class Routes:
    """The preloaded library of routes.c: a server that connects to one of these ports is connected to another one."""

    def __init__(self, ports):
        self.ports = ports

    def environment(self):
        library = preload_library(pathlib.Path(__file__).with_name("routes.c"))
        return {"LD_PRELOAD": library,
                "DROVER_ROUTES": ",".join(f"{real}:{proxy}" for real, proxy in self.ports.items())}


class Network:
    """The proxy between the servers of an ensemble. Their configuration has their real ports."""

    def __init__(self, ensemble):
        self.sids = [member.sid for member in ensemble]
        links = []
        for member in ensemble:
            ports = {}
            for other in ensemble:
                if other is not member:
                    for real in (other.quorum_port, other.election_port):
                        ports[real] = free_port()
                        links.append((member.sid, other.sid, ports[real], real))
            member.routes = Routes(ports)
        self.process = subprocess.Popen([sys.executable, pathlib.Path(__file__).with_name("proxy.py")],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        self._say(links=links)

    def _say(self, **command):
        self.process.stdin.write(json.dumps(command) + "\n")
        check(self.process.stdout.readline() == "done\n", "the proxy did not answer")

    @contextlib.contextmanager
    def cut(self, directions):
        self._say(hold=list(directions))
        try:
            yield
        finally:
            self._say(hold=[])

    @contextlib.contextmanager
    def weather(self, directions, **how):
        """See proxy.Weather."""
        self._say(weather={"directions": list(directions), **how})
        try:
            yield
        finally:
            self._say(weather={})

    def reset(self, sid):
        self._say(reset=sid)

    def between(self, ones, others):
        """Both directions."""
        return [pair for one in ones for other in others for pair in ((one, other), (other, one))]

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class FalseClock:
    """The shared file of false_clock.c: how far one server's wall clock is off."""

    def __init__(self, folder):
        self.path = pathlib.Path(folder) / "false_clock.offset"
        self.path.write_bytes(bytes(8))
        with open(self.path, "r+b") as file:
            self._memory = mmap.mmap(file.fileno(), 8)

    def environment(self):
        library = preload_library(pathlib.Path(__file__).with_name("false_clock.c"))
        return {"LD_PRELOAD": library, "DROVER_FALSE_CLOCK": str(self.path)}

    def jump_to(self, offset_ms):
        struct.pack_into("=q", self._memory, 0, offset_ms)


class SmallDisk:
    """A tmpfs under one server's data directory, which becomes as small as what is on it. It vanishes with
    the mount namespace of this process."""

    ROOMY = "4g"

    def __init__(self, member):
        self.member = member
        identity = (member.data_dir / "myid").read_text()
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={self.ROOMY}", "none", member.data_dir],
                       check=True)
        (member.data_dir / "myid").write_text(identity)

    def fill(self):
        while self.free_bytes():
            status = os.statvfs(self.member.data_dir)
            used = (status.f_blocks - status.f_bfree) * status.f_frsize
            # Fails when the server wrote something meanwhile.
            self._resize(used, check=False)

    def free_bytes(self):
        return os.statvfs(self.member.data_dir).f_bavail

    def is_full(self):
        """Only a running server notices that its disk is full."""
        return self.member.running and self.free_bytes() == 0

    def make_room(self):
        self._resize(self.ROOMY, check=True)

    def _resize(self, size, check):
        subprocess.run(["mount", "-o", f"remount,size={size}", self.member.data_dir], check=check,
                       capture_output=True)


class Nemesis:
    def __init__(self, ensemble, network, small_disk, roster, chooser):
        self.ensemble, self.network, self.random = ensemble, network, chooser
        self.small_disk, self.roster = small_disk, roster
        self.counts = collections.Counter()
        self.groups = [
            [self.kill_one, self.kill_leader, self.kill_majority, self.kill_all],
            [self.stop_one, self.stop_leader, self.stop_majority],
            [self.isolate_one, self.isolate_leader, self.split, self.bridge, self.one_way],
            [self.reset_links, self.far_apart, self.losing, self.narrow],
            [self.failing_sync, self.slow_sync, self.full_disk, self.jumping_clock],
        ]

    def next_fault(self):
        """Every kind once in random order, then again; groups in turn, so that a short run has of each."""
        while True:
            groups = [self.random.sample(group, len(group)) for group in self.groups]
            while any(groups):
                for group in self.random.sample(groups, len(groups)):
                    if group:
                        yield group.pop()

    def one(self):
        return self.random.choice(self.ensemble.running)

    def leader(self):
        return self.ensemble.leader() or self.one()

    def majority(self):
        members = self.ensemble.running
        return self.random.sample(members, len(members) // 2 + 1)

    def running_sids(self):
        """In random order."""
        sids = [member.sid for member in self.ensemble.running]
        return self.random.sample(sids, len(sids))

    # ---- processes -----------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _killed(self, members):
        with self.roster.lock:
            for member in members:
                member.kill()
        self.counts["kills"] += len(members)
        yield
        self.revive()

    def revive(self):
        self.roster.revive()

    def kill_one(self):
        return self._killed([self.one()])

    def kill_leader(self):
        return self._killed([self.leader()])

    def kill_majority(self):
        return self._killed(self.majority())

    def kill_all(self):
        return self._killed(self.ensemble.running)

    @contextlib.contextmanager
    def _stopped(self, members):
        with self.roster.lock:
            stopped = [member for member in members if member.running]
            for member in stopped:
                member.pause()
        self.counts["stops"] += len(stopped)
        yield
        for member in stopped:
            member.unpause()

    def stop_one(self):
        return self._stopped([self.one()])

    def stop_leader(self):
        return self._stopped([self.leader()])

    def stop_majority(self):
        return self._stopped(self.majority())

    # ---- network -------------------------------------------------------------------------------------

    def _cut(self, directions):
        self.counts["partitions"] += 1
        return self.network.cut(directions)

    def _alone(self, sid):
        return self.network.between([sid], [other for other in self.network.sids if other != sid])

    def isolate_one(self):
        return self._cut(self._alone(self.one().sid))

    def isolate_leader(self):
        return self._cut(self._alone(self.leader().sid))

    def split(self):
        sids = self.running_sids()
        half = len(sids) // 2
        return self._cut(self.network.between(sids[:half], sids[half:]))

    def bridge(self):
        """Two halves that only one server sees."""
        sids = self.running_sids()
        half = (len(sids) - 1) // 2
        return self._cut(self.network.between(sids[:half], sids[half:-1]))

    def one_way(self):
        """Cuts one direction of all links of a server: it receives and cannot send, or the reverse."""
        pairs = [(self.leader().sid, sid) for sid in self.network.sids if sid != self.leader().sid]
        return self._cut(pairs if self.random.random() < 0.5 else [(there, here) for here, there in pairs])

    @contextlib.contextmanager
    def reset_links(self):
        self.network.reset(self.leader().sid)
        self.counts["resets"] += 1
        yield

    def _weather(self, **how):
        """On all links, or on those of one server."""
        self.counts["bad weathers"] += 1
        everywhere = self.network.between(self.network.sids, self.network.sids)
        return self.network.weather(self.random.choice((everywhere, self._alone(self.leader().sid))), **how)

    def far_apart(self):
        return self._weather(delay=(0.01, self.random.uniform(0.02, 0.2)))

    def losing(self):
        return self._weather(loss=self.random.uniform(0.01, 0.3), resend=(0.2, 0.8))

    def narrow(self):
        return self._weather(bytes_per_second=self.random.randint(10_000, 200_000))

    # ---- disks ---------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _disk(self, name, operations, action, **how):
        member = self.one()
        member.disk.arm(operations, LOG, action, **how)
        yield
        self.counts[name] += member.disk.hits > 0
        member.disk.disarm()
        self.revive()

    def failing_sync(self):
        return self._disk("failed syncs", FailingDisk.FDATASYNC, FailingDisk.FAIL)

    def slow_sync(self):
        return self._disk("slow syncs", FailingDisk.FDATASYNC, FailingDisk.DELAY, delay_ms=200,
                          times=FailingDisk.FOR_EVER)

    @contextlib.contextmanager
    def full_disk(self):
        self.small_disk.fill()
        yield
        self.counts["full disks"] += self.small_disk.is_full()
        self.small_disk.make_room()
        self.revive()

    # ---- clocks --------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def jumping_clock(self):
        """Jumps the wall clock of the leader twice: away, and back again. A server that measures time with it
        expires sessions too early, or waits for an hour."""
        member = self.leader()
        member.clock.jump_to(self.random.choice((-1, 1)) * self.random.randint(1000, HOUR_MS))
        self.counts["clock jumps"] += 2
        yield
        member.clock.jump_to(0)
