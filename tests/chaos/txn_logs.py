# SPDX-License-Identifier: Apache-2.0
#
# Reads the servers' transaction logs: which transactions were committed, in which order, for which session.

import collections
import struct

from data_directory import records_of, zxid_of
from harness import p
from operations import REFUSED, SESSION_MOVED, Operation

HEADER = struct.Struct(">qiqqi")
CREATE_SESSION, CLOSE_SESSION, ERROR = -10, -11, -1


class Txn(collections.namedtuple("Txn", "session cxid zxid time type entry")):
    __slots__ = ()

    @property
    def error(self):
        """The error of a request that failed as a whole; 0 for others."""
        return struct.unpack_from(">i", self.entry, HEADER.size)[0] if self.type == ERROR else 0

    @property
    def refused(self):
        return REFUSED in (self._errors_of_parts() if self.type == p.MULTI else (self.error,))

    @property
    def came_late(self):
        """The session had moved to another server when this write arrived."""
        return self.error == SESSION_MOVED

    def as_operation(self):
        """The operation of a client whose requests were not recorded; None if it failed, or is not one of the
        two operations of guests."""
        decoder = p.Decoder(self.entry)
        decoder.at = HEADER.size
        if self.type in (p.CREATE, p.CREATE2):
            return Operation("create", decoder.string(), decoder.buffer() or b"")
        if self.type == p.SET_DATA:
            return Operation("set", decoder.string(), decoder.buffer() or b"")
        return None

    @property
    def members(self):
        """The text that a reconfiguration puts into /zookeeper/config."""
        decoder = p.Decoder(self.entry)
        decoder.at = HEADER.size
        decoder.string()
        return decoder.string()

    def _errors_of_parts(self):
        decoder = p.Decoder(self.entry)
        decoder.at = HEADER.size
        parts = decoder.vector(lambda: (decoder.int32(), decoder.buffer()))
        return [struct.unpack(">i", data)[0] for kind, data in parts if kind == ERROR]


def read_logs(folder):
    """Every transaction in the log files of one server, by zxid."""
    txns = {}
    for path in sorted(folder.glob("log.*"), key=lambda file: zxid_of(file.name)):
        data = path.read_bytes()
        for record in records_of(data):
            entry = data[record.entry:record.trailer]
            txn = Txn(*HEADER.unpack_from(entry), entry)
            txns[txn.zxid] = txn
    return txns


def agreed(members):
    """The one order of transactions that all servers have; AssertionError where two of them differ.

    Nobody was sent a snapshot and nothing was purged, so every log begins at the beginning."""
    logs = {member.sid: read_logs(member.files) for member in members}
    order = sorted(set().union(*logs.values()))
    for zxid in order:
        entries = {log[zxid].entry if zxid in log else None for log in logs.values()}
        if len(entries) != 1:
            raise AssertionError(f"transaction {zxid:#x} is not the same on every server: "
                                 f"{ {sid: zxid in log and log[zxid][:5] for sid, log in logs.items()} }")
    first = next(iter(logs.values()))
    return [first[zxid] for zxid in order]
