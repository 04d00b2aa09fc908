#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# A proxy between servers. Every connection from server I to server J goes through its own port here, and its
# bytes can be held back or delayed in each direction.
#
# Bytes are held, not dropped, because TCP resends lost bytes until one side gives up. The proxy is a separate
# process, because the clients keep the interpreter of the test busy. Lines of JSON on standard
# input: {"links": [[from, to, listen port, target port], …]}, then any number of {"hold": [[from, to], …]}
# (all directions that are held from now on), {"weather": {…}} (see Weather) and {"reset": server}; each is
# answered by a line.

import asyncio
import contextlib
import json
import os
import random
import sys

CHUNK = 1 << 16


class Weather:
    """How long each piece of data is on its way, in seconds. A lost packet is late, with all the data
    after it: the sender waits and sends it again."""

    def __init__(self, directions=(), delay=(0.0, 0.0), loss=0.0, resend=(0.0, 0.0), bytes_per_second=0):
        self.directions = {tuple(direction) for direction in directions}
        self.delay, self.loss, self.resend, self.bytes_per_second = delay, loss, resend, bytes_per_second

    def seconds(self, size):
        seconds = random.uniform(*self.delay)
        if random.random() < self.loss:
            seconds += random.uniform(*self.resend)
        if self.bytes_per_second:
            seconds += size / self.bytes_per_second
        return seconds


class Network:
    def __init__(self):
        self.held = set()
        self.weather = Weather()
        self.changed = asyncio.Condition()
        self.connections = {}  # (from, to) -> writers of both ends

    async def hold(self, directions):
        self.held = {tuple(direction) for direction in directions}
        async with self.changed:
            self.changed.notify_all()

    def reset(self, server):
        for ends, writers in self.connections.items():
            if server in ends:
                for writer in list(writers):
                    writer.transport.abort()

    async def until_open(self, *directions):
        async with self.changed:
            await self.changed.wait_for(lambda: not self.held.intersection(directions))

    async def travel(self, direction, size):
        if direction in self.weather.directions:
            await asyncio.sleep(self.weather.seconds(size))
        await self.until_open(direction)

    async def carry(self, reader, writer, direction):
        with contextlib.suppress(ConnectionError):
            while chunk := await reader.read(CHUNK):
                await self.travel(direction, len(chunk))
                writer.write(chunk)
                await writer.drain()
        await self.travel(direction, 0)  # The close takes as long as data.
        writer.close()

    async def connect(self, reader, writer, start, end, target):
        """Handles a connection from `start` to `end`."""
        await self.travel((start, end), 0)
        await self.travel((end, start), 0)
        try:
            there_reader, there_writer = await asyncio.open_connection("127.0.0.1", target)
        except OSError:
            writer.transport.abort()
            return
        writers = self.connections.setdefault((start, end), set())
        writers.update((writer, there_writer))
        await asyncio.gather(self.carry(reader, there_writer, (start, end)),
                             self.carry(there_reader, writer, (end, start)))
        writers.difference_update((writer, there_writer))


async def listen(network, start, end, port, target):
    async def accepted(reader, writer):
        with contextlib.suppress(ConnectionError):
            await network.connect(reader, writer, start, end, target)

    return await asyncio.start_server(accepted, "127.0.0.1", port)


async def serve():
    network = Network()
    loop = asyncio.get_running_loop()
    commands = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(commands), sys.stdin)
    servers = []
    while line := await commands.readline():
        command = json.loads(line)
        for start, end, port, target in command.get("links", ()):
            servers.append(await listen(network, start, end, port, target))
        if "hold" in command:
            await network.hold(command["hold"])
        if "weather" in command:
            network.weather = Weather(**command["weather"])
        if "reset" in command:
            network.reset(command["reset"])
        print("done", flush=True)
    os._exit(0)  # Connections need no farewell: who hung on them is gone.


if __name__ == "__main__":
    asyncio.run(serve())
