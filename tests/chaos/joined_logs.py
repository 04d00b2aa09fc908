# SPDX-License-Identifier: Apache-2.0
#
# The one order of transactions of an ensemble whose members changed. A server that joins gets a snapshot, so its log
# has a hole that ends at the snapshot. What all present members have as a snapshot only is in the logs of servers that
# were members before.

import bisect

from data_directory import zxid_of
from txn_logs import read_logs


class Log:
    """The files of one server: transactions, and snapshots that may replace some of them."""

    def __init__(self, folder):
        self.txns = read_logs(folder)
        self.zxids = sorted(self.txns)
        self.snapshots = sorted(zxid_of(file.name) for file in folder.glob("snapshot.*"))

    def covers(self, zxid):
        """True if this transaction is only in a snapshot. Then nothing is logged between it and the snapshot."""
        if zxid in self.txns:
            return False
        at = bisect.bisect_left(self.snapshots, zxid)
        if at == len(self.snapshots):
            return False
        after = bisect.bisect_right(self.zxids, zxid)
        return after == len(self.zxids) or self.zxids[after] > self.snapshots[at]


def agreed_by(members, former=()):
    """`former` are folders of servers that left, whose last transactions may never have been committed."""
    return agree_on({member.sid: Log(member.files) for member in members}, [read_logs(folder) for folder in former])


def agree_on(logs, former):
    """The one order; AssertionError where two members differ. `logs` are those of the members by sid, `former` the
    transactions of others."""
    chosen = {}
    for txns in former:
        chosen.update((zxid, txn) for zxid, txn in txns.items() if all(log.covers(zxid) for log in logs.values()))
    for log in logs.values():
        chosen.update(log.txns)
    for zxid, txn in chosen.items():
        for sid, log in logs.items():
            mine = log.txns.get(zxid)
            is_right = log.covers(zxid) if mine is None else mine.entry == txn.entry
            if not is_right:
                raise AssertionError(f"transaction {zxid:#x} is not the same on every server: server {sid} has "
                                     f"{mine and mine[:5]}, not {txn[:5]}")
    return [chosen[zxid] for zxid in sorted(chosen)]
