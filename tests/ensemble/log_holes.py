# SPDX-License-Identifier: Apache-2.0
#
# Finds holes in transaction logs after a failure. Java 3.8.0 can lose applied transactions from its own log when
# it is cut off while its disk is slow (ZOOKEEPER-4712); the loss shows after its next restart. The logs tell
# whether a failure is Java's or drover's.

import struct

from data_directory import records_of, zxid_of

ZXID_IN_HEADER = 12  # after the session's id and the request's cxid


def zxids_of(member):
    zxids = set()
    for path in member.files.glob("log.*"):
        data = path.read_bytes()
        zxids |= {struct.unpack_from(">q", data, record.entry + ZXID_IN_HEADER)[0]
                  for record in records_of(data)}
    return zxids


def holes(zxids):
    """(first, last) of every range that is missing inside an epoch, whose transactions are numbered from 1."""
    found = []
    before = 0
    for zxid in sorted(zxids):
        same_epoch = zxid >> 32 == before >> 32
        expected = before + 1 if same_epoch else (zxid >> 32 << 32) + 1
        if before and zxid != expected:
            found.append((expected, zxid - 1))
        before = zxid
    return found


def report(members):
    """One line for each server whose log has a hole. Transactions that a snapshot replaces are not a hole."""
    lines = []
    for member in members:
        newest = max((zxid_of(path.name) for path in member.files.glob("snapshot.*")), default=0)
        for first, last in holes(zxids_of(member)):
            if last > newest:
                lines.append(f"{member}: its log has no {first:#x} to {last:#x}")
    return lines
