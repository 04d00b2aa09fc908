# SPDX-License-Identifier: Apache-2.0
#
# The writable memory of a running process, read from /proc: what its core file would contain.

import re

WRITABLE = re.compile(r"^([0-9a-f]+)-([0-9a-f]+) rw")
PIECE = 1 << 24


def copies(pid, *needles):
    """How often each text is in the memory of the process."""
    counts = [0] * len(needles)
    words = [needle.encode() for needle in needles]
    overlap = max(map(len, words)) - 1
    with open(f"/proc/{pid}/maps", encoding="ascii") as maps, open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        for line in maps:
            found = WRITABLE.match(line)
            if not found or "[vvar" in line:
                continue
            at, end = int(found[1], 16), int(found[2], 16)
            tail = b""
            while at < end:
                memory.seek(at)
                try:
                    piece = memory.read(min(PIECE, end - at))
                except OSError:  # unmapped meanwhile
                    break
                if not piece:
                    break
                at += len(piece)
                text = tail + piece
                for i, word in enumerate(words):
                    counts[i] += text.count(word) - tail.count(word)
                tail = text[-overlap:]
    return counts
