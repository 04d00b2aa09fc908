#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# One process that uses kazoo's recipes on command; peer.cc describes the commands.
import os
import sys
import threading

from kazoo.client import KazooClient
from kazoo.exceptions import LockTimeout
from kazoo.recipe.barrier import Barrier, DoubleBarrier
from kazoo.recipe.counter import Counter
from kazoo.recipe.lock import Lock
from kazoo.recipe.party import Party

PATIENCE_SECONDS = 60


class SharedLock(Lock):
    """kazoo's own names would not be seen by Curator; these are."""

    _NODE_NAME = "-lock-"
    _EXCLUDE_NAMES = ["-lock-"]


class Peer:
    def __init__(self, address):
        self.client = KazooClient(hosts=address, timeout=5)
        self.client.start(PATIENCE_SECONDS)
        self.things = {}

    def lock(self, path):
        lock = SharedLock(self.client, path)
        lock.acquire(timeout=PATIENCE_SECONDS)
        self.things[path] = lock

    def try_lock(self, path, ms):
        lock = SharedLock(self.client, path)
        try:
            lock.acquire(timeout=int(ms) / 1000)
        except LockTimeout:
            return "no"
        self.things[path] = lock
        return "yes"

    def unlock(self, path):
        self.things.pop(path).release()

    def set_barrier(self, path):
        Barrier(self.client, path).create()

    def remove_barrier(self, path):
        Barrier(self.client, path).remove()

    def wait_barrier(self, path):
        if not Barrier(self.client, path).wait(PATIENCE_SECONDS):
            raise TimeoutError("not in time")

    def enter(self, path, parties):
        barrier = DoubleBarrier(self.client, path, int(parties))
        self.things[path] = barrier
        barrier.enter()

    def leave(self, path):
        self.things.pop(path).leave()

    def add(self, path, delta):
        counter = Counter(self.client, path)
        counter += int(delta)
        return counter.post_value

    def join(self, path, identifier, *_):
        party = Party(self.client, path, identifier)
        party.join()
        self.things[path] = party

    def members(self, path):
        return ",".join(sorted(self.things[path]))

    def quit_group(self, path):
        self.things.pop(path).leave()


def main():
    peer = Peer(sys.argv[1])
    printing = threading.Lock()

    def answer(line):
        with printing:
            print(line, flush=True)

    def carry_out(number, verb, words):
        try:
            answer(f"{number} ok {getattr(peer, verb)(*words) or ''}")
        except Exception as problem:  # whatever it is, the runner wants to know
            answer(f"{number} error {problem!r}")

    answer("0 ok")
    for line in sys.stdin:
        number, verb, *words = line.split()
        threading.Thread(target=carry_out, args=(number, verb, words), daemon=True).start()
    os._exit(0)


if __name__ == "__main__":
    main()
