# SPDX-License-Identifier: Apache-2.0
#
# Is this history correct? ZooKeeper numbers its writes, so their order need not be searched for: sort by zxid,
# replay on a model, and compare every reply and event.
#
#   - the order respects real time: a write called after another returned has the larger zxid, answered or not
#   - every write was answered as the model answers it, errors and Stat included; what has no answer took
#     effect once or not at all, and not after something that the same connection asked for later; what was
#     refused did not, nor what came over a connection that its session had left
#   - every read shows the state at its zxid, and in a session zxids never fall
#   - a `sync` is answered with everything that had returned, to anybody, before it was called
#   - a watch fires once, for the first change after it was set, and before any answer that shows this change
#   - each reconfiguration made the members that its request asked for, and every server shows those of its zxid

import bisect
import heapq

from harness import OK, NO_NODE
from members_model import CONFIG_NODE
from operations import PENDING
from tree_model import Tree
from txn_logs import CLOSE_SESSION, CREATE_SESSION, ERROR


class Violation(AssertionError):
    """The history is impossible."""


def expect(condition, what, *about):
    if not condition:
        raise Violation(f"{what}: " + "; ".join(map(str, about)))


def check_history(history, txns, guests=(), members=None):
    """`txns` is the agreed log. Below the roots `guests` others may write, of whom only the log tells. `members` is a
    MembersModel, if somebody changed or read the members.
    Returns the model's tree after it."""
    check_real_time(history.operations, txns)
    check_sessions(history.operations)
    tree = replay(history.operations, txns, guests, members)
    check_nothing_overtakes(history.operations, txns)
    check_watches(history, tree)
    return tree


# ---- real time -------------------------------------------------------------------------------------------


def check_real_time(operations, txns):
    """Sweeps over the calls in time, keeping the largest zxid that anybody had been told of. A write without
    an answer has its zxid from the log, if it took effect: it cannot have done so before it was called."""
    returned = sorted((op for op in operations if op.was_decided), key=lambda op: op.returned)
    zxids = [op.zxid for op in returned]
    expect(len(set(zxids)) == len(zxids), "two writes have the same zxid", _first_double(returned))
    told = [0]
    for op in returned:
        told.append(max(told[-1], op.zxid))
    times = [op.returned for op in returned]
    decided = {(txn.session, txn.cxid): txn.zxid for txn in txns}
    for op in operations:
        zxid = op.zxid if op.err is not PENDING else op.is_write and decided.get((op.session, op.xid))
        if not zxid or not (op.is_write or op.kind == "sync") or op.refused:
            continue
        before = told[bisect.bisect_left(times, op.called)]
        expect(zxid > before or (op.kind == "sync" and zxid == before),
               f"{op.kind} was called after a write with zxid {before:#x} had returned", op)


def _first_double(operations):
    seen = {}
    for op in operations:
        if op.zxid in seen:
            return (seen[op.zxid], op)
        seen[op.zxid] = op
    return None


# ---- sessions --------------------------------------------------------------------------------------------


def check_sessions(operations):
    last = {}
    for op in sorted((op for op in operations if op.err is not PENDING), key=lambda op: (op.session, op.xid)):
        before = last.get(op.session)
        expect(before is None or op.zxid >= before.zxid, "a session went back in time", before, op)
        last[op.session] = op


def check_nothing_overtakes(operations, txns):
    """The writes of a connection take effect in order and without a gap, answered or not."""
    decided = {(txn.session, txn.cxid): txn.zxid for txn in txns if not txn.came_late}
    connections = {}
    for op in operations:
        if op.is_write and not op.refused:
            connections.setdefault(op.connection, []).append(op)
    for writes in connections.values():
        last, missing = 0, None
        for op in sorted(writes, key=lambda op: op.xid):
            zxid = decided.get((op.session, op.xid))
            if zxid is None:
                missing = missing or op
                continue
            expect(missing is None, "a write took effect although an earlier one of its connection did not",
                   missing, op)
            expect(zxid > last, "the writes of a connection took effect in another order", op)
            last = zxid


# ---- replay ----------------------------------------------------------------------------------------------


def replay(operations, txns, guests=(), members=None):
    """Applies every transaction in order, compares what was told about it, and each read where it belongs."""
    writes = {(op.session, op.xid): op for op in operations if op.is_write}
    known = {op.session for op in operations}
    reads = sorted((op for op in operations if op.err is not PENDING and not op.is_write),
                   key=lambda op: op.zxid)
    tree, read = Tree(), 0
    seen = set()
    for txn in txns:
        while read < len(reads) and reads[read].zxid < txn.zxid:
            check_read(tree, reads[read], members)
            read += 1
        if txn.type == CLOSE_SESSION:
            tree.close_session(txn.session, txn.zxid)
        elif txn.type == CREATE_SESSION:
            continue
        elif txn.session not in known and guests:
            apply_guest(tree, txn, guests)
        else:
            op = writes.get((txn.session, txn.cxid))
            expect(op is not None, "nobody asked for this", txn[:5])
            expect((op.session, op.xid) not in seen, "done twice", op)
            seen.add((op.session, op.xid))
            check_write(tree, op, txn, members)
    for op in reads[read:]:
        check_read(tree, op, members)
    for key, op in writes.items():
        expect(not op.was_decided or key in seen, "acknowledged and lost", op)
    return tree


def apply_guest(tree, txn, guests):
    """The request is unknown, but it must have been possible, and where guests may write."""
    op = txn.as_operation()
    if op is None:
        expect(txn.type == ERROR, "guests do not do this", txn[:5])
        return
    expect(op.path in guests or op.path.startswith(tuple(f"{root}/" for root in guests)),
           "nobody asked for this", txn[:5], op)
    err, _ = tree.apply(op, txn.session, txn.zxid, txn.time)
    expect(err == OK, f"done, although the model says {err}", op)


def check_write(tree, op, txn, members):
    if txn.refused:  # By the leader, after a follower had sent it.
        expect(op.err is PENDING or op.refused, "refused, and reported as something else", op)
        return
    expect(not op.refused, "refused and done", op)
    if txn.came_late:  # No log says at which server a session is.
        expect(op.err in (PENDING, txn.error), "came after its session had moved, and was answered otherwise", op)
        return
    if op.kind == "reconfig":
        check_reconfiguration(members, op, txn)
        return
    err, result = tree.apply(op, txn.session, txn.zxid, txn.time)
    expect(txn.error == err, f"decided as error {txn.error}, the model says {err}", op)
    if op.err is not PENDING:
        expect(op.zxid == txn.zxid, f"its transaction has zxid {txn.zxid:#x}", op)
        expect((op.err, op.result) == (err, result), f"the model answers {err} {result}", op)


def check_reconfiguration(members, op, txn):
    problem = members.judge(op, txn)
    expect(problem is None, f"a reconfiguration that cannot be: {problem}", op, txn[:5])
    text = members.apply(op, txn) if txn.error == OK else None
    if text is not None:
        expect(txn.members == text, f"a reconfiguration made other members than it was asked for: {txn.members}",
               op, text)
    if op.err is not PENDING:
        expect((op.err, op.zxid) == (txn.error, txn.zxid), f"its transaction is {txn[:5]}", op)
        expect(text is None or op.result[0].decode() == text, "a reconfiguration is answered with other members", op)


def check_read(tree, op, members):
    node = tree.find(op.path)
    if op.kind == "sync":
        return
    if op.path == CONFIG_NODE:
        expect(op.err == OK and op.result[0].decode() == members.present.text,
               f"the members at this zxid are {members.present.text}", op)
        return
    if node is None:
        expect(op.err == NO_NODE, "there is no such node", op)
        return
    expect(op.err == OK, "the node is there", op)
    shown = {"get": lambda: (node.data, node.stat()), "exists": node.stat,
             "children": lambda: (node.children, node.stat())}[op.kind]()
    expect(op.result == shown, f"the tree at this zxid has {shown}", op)


# ---- watches ---------------------------------------------------------------------------------------------


def check_watches(history, tree):
    """Each connection's stream of answers and events, in the order of arrival."""
    streams = {}
    for item in history.events:
        streams.setdefault(item.connection, []).append(item)
    for op in history.operations:
        if op.err is not PENDING:
            streams.setdefault(op.connection, []).append(op)
    for stream in streams.values():
        stream.sort(key=lambda item: item.place)
        check_stream(stream, tree)


def check_stream(stream, tree):
    due = {}   # (is it a child watch, path) -> (zxid, event type) that must come, or None if nothing changes
    heap = []  # of the zxids in `due`
    for item in stream:
        if hasattr(item, "type"):
            fire(item, due)
            continue
        while heap and due.get(heap[0][1]) != (heap[0][0], heap[0][2]):
            heapq.heappop(heap)  # It came.
        expect(not heap or heap[0][0] > item.zxid, "an answer shows a change whose event has not come",
               item, heap and heap[0])
        key = watched(item)
        if key is not None and key not in due:
            due[key] = next_change(tree, key, item.zxid)
            if due[key] is not None:
                heapq.heappush(heap, (due[key][0], key, due[key][1]))


def fire(event, due):
    for child in (False, True):
        key = (child, event.path)
        if due.get(key) == (event.zxid, event.type):
            del due[key]
            return
    expect(False, "an event that no watch was waiting for", event,
           [due.get((child, event.path)) for child in (False, True)])


def watched(op):
    """The watch that this answer has set."""
    if not op.watch:
        return None
    if op.kind == "children":
        return (True, op.path) if op.err == OK else None
    return (False, op.path) if op.err == OK or op.kind == "exists" else None


def next_change(tree, key, zxid):
    child, path = key
    changes = (tree.child_changes if child else tree.changes).get(path, ())
    at = bisect.bisect_right(changes, (zxid, 99))
    return changes[at] if at < len(changes) else None
