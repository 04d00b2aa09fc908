#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# kazoo's part in a mutex that it shares with other libraries: contender.cc says what a contender does.
#
#   contender.py ADDRESS mutex PATH ROUNDS
import sys

from kazoo.client import KazooClient
from kazoo.recipe.lock import Lock


class SharedLock(Lock):
    """kazoo's lock with Curator's names. With its own ones the two would not see each other."""

    _NODE_NAME = "-lock-"
    _EXCLUDE_NAMES = ["-lock-"]


def be_inside(client, path):
    client.create(path + ".inside", ephemeral=True)
    count = int(client.get(path + ".count")[0])
    client.sync(path)  # time in which somebody else could count from the same number
    client.set(path + ".count", str(count + 1).encode())
    client.delete(path + ".inside")


def main():
    address, kind, path, rounds = sys.argv[1:]
    assert kind == "mutex", "the others have other nodes"
    client = KazooClient(hosts=address)
    client.start(timeout=30)
    print("ready", flush=True)
    sys.stdin.readline()
    for _ in range(int(rounds)):
        with SharedLock(client, path):
            be_inside(client, path)
    client.stop()


if __name__ == "__main__":
    main()
