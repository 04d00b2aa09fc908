#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# A well-behaved client in a separate process, so that only the server can make it wait. It reads and writes until
# its input ends, then prints how long its longest call took. It uses its own address, as from another machine.

import pathlib
import select
import sys
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "durability"))

from harness import OK, Session, check_equal, p  # noqa: E402

CALLS = ((p.EXISTS, p.path_watch_body("/victim")), (p.SET_DATA, p.set_data_body("/victim", b"x")))


def stopped():
    return bool(select.select([sys.stdin], [], [], 0.002)[0])


def main():
    session = Session(int(sys.argv[1]), timeout_ms=60000, patience=120.0, address="127.0.0.9")
    print("ready", flush=True)
    longest = 0.0
    while True:
        last = stopped()
        for op, body in CALLS:
            began = time.monotonic()
            check_equal(session.call(op, body)[0], OK, p.OP_NAMES[op])
            longest = max(longest, time.monotonic() - began)
        if last:  # A call that began before the end of the attack counts, and one after it as well.
            break
    session.call(p.CLOSE_SESSION)
    print(longest, flush=True)


main()
