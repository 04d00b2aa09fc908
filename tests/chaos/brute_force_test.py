#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Checks the checker, which trusts zxids, with a brute-force search over small histories that tries every order.
# Every history that the checker accepts must have a valid order. Many histories must be accepted and many
# refused, or the comparison proves nothing.
#
# The judge has its own, smaller idea of a node: data and version, nothing else.

import itertools
import pathlib
import random
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "ensemble"))

import ensemble  # noqa: E402,F401  It makes tests/durability and tests/compat importable.
from checker import Violation, check_history  # noqa: E402
from harness import BAD_VERSION, NO_NODE, NODE_EXISTS, OK, check, p  # noqa: E402
from operations import PENDING, History, Operation  # noqa: E402
from suite import run  # noqa: E402
from tree_model import Tree  # noqa: E402
from txn_logs import ERROR, Txn  # noqa: E402

PATH = "/r"
HISTORIES = 3000
WRITES_MAX = 5
VERSION = 4  # a field of Stat


# ---- the judge who tries everything ------------------------------------------------------------------------


def effect(op, node):
    """((error, version shown), node afterwards) of one write; a node is (data, version) or None."""
    if op.kind == "create":
        return ((NODE_EXISTS, None), node) if node else ((OK, 0), (op.data, 0))
    if node is None:
        return (NO_NODE, None), None
    if op.version not in (-1, node[1]):
        return (BAD_VERSION, None), node
    if op.kind == "delete":
        return (OK, None), None
    return (OK, node[1] + 1), (op.data, node[1] + 1)


def told(op):
    """As effect() has it, what the client was told."""
    if op.err != OK or op.kind == "delete":
        return op.err, None
    return OK, (op.result[1] if op.kind == "create" else op.result)[VERSION]


def is_explained(writes):
    """Is there an order in which the answers are right, and nobody comes before what had returned? A write
    without an answer may be left out."""
    unanswered = [op for op in writes if op.err is PENDING]
    for count in range(len(unanswered) + 1):
        for left_out in itertools.combinations(unanswered, count):
            done = [op for op in writes if op not in left_out]
            if any(_fits(order) for order in itertools.permutations(done)):
                return True
    return False


def _fits(order):
    node = None
    for at, op in enumerate(order):
        if any(later.returned is not None and later.returned < op.called for later in order[at + 1:]):
            return False
        answer, node = effect(op, node)
        if op.err is not PENDING and answer != told(op):
            return False
    return True


# ---- histories, right and wrong ----------------------------------------------------------------------------


class Story:
    """A few overlapping writes to one node, decided in the order of their zxids, at some moment between call
    and return."""

    def __init__(self, chooser):
        self.random = chooser
        self.writes, self.txns = [], []
        tree = Tree()
        moments = sorted(chooser.uniform(0, 10) for _ in range(chooser.randint(2, WRITES_MAX)))
        for number, moment in enumerate(moments, 1):
            op = self._write(number)
            op.called = moment - chooser.uniform(0, 3)
            op.zxid = 0x100000000 + number
            op.err, op.result = tree.apply(op, op.session, op.zxid, 1000)
            op.returned = moment + chooser.uniform(0, 3)
            kind = op.op if op.err == OK else ERROR
            self.txns.append(Txn(op.session, op.xid, op.zxid, 1000, kind, bytes(32) + p.int32(op.err)))
            self.writes.append(op)

    def _write(self, number):
        kind = self.random.choice(("create", "create", "set", "set", "delete"))
        version = self.random.choice((-1, -1, 0, 1)) if kind != "create" else -1
        op = Operation(kind, PATH, b"%d" % number, version)
        # Each on a connection of its own: what one connection asks for is ordered by more than time.
        op.session = op.connection = op.xid = op.place = number
        return op

    def lie(self):
        """A wrong reply or change of a broken server."""
        answered = [op for op in self.writes if op.err is not PENDING]
        if not answered:
            return
        op, other = self.random.choice(answered), self.random.choice(answered)
        self.random.choice((self._swap_zxids, self._swap_answers, self._other_error, self._other_version,
                            self._lose, self._forget_answer, self._later))(op, other)

    def _swap_zxids(self, op, other):
        """In the answers and in the log: then the log was really decided in that order."""
        swapped = {op.zxid: other.zxid, other.zxid: op.zxid}
        op.zxid, other.zxid = other.zxid, op.zxid
        self.txns = sorted((txn._replace(zxid=swapped.get(txn.zxid, txn.zxid)) for txn in self.txns),
                           key=lambda txn: txn.zxid)

    def _swap_answers(self, op, other):
        if op.kind != other.kind:
            return
        op.err, other.err = other.err, op.err
        op.result, other.result = other.result, op.result

    def _other_error(self, op, _):
        op.err, op.result = self.random.choice((NO_NODE, NODE_EXISTS, BAD_VERSION)), None

    def _other_version(self, op, _):
        if op.err == OK and op.kind == "set":
            op.result = (*op.result[:VERSION], self.random.randrange(3), *op.result[VERSION + 1:])

    def _lose(self, op, _):
        self.txns = [txn for txn in self.txns if txn.cxid != op.xid]

    def _forget_answer(self, op, _):
        op.err = op.zxid = op.result = op.returned = op.place = PENDING

    def _later(self, op, _):
        """Called and answered at another time, with the same outcome."""
        shift = self.random.uniform(-8, 8)
        op.called += shift
        op.returned += shift

    def is_accepted(self):
        try:
            check_history(History(self.writes), self.txns)
        except Violation:
            return False
        return True


def stories(lies):
    for seed in range(HISTORIES):
        story = Story(random.Random(seed))
        for _ in range(lies):
            story.lie()
        yield seed, story


def both_checkers_accept_correct_histories():
    for seed, story in stories(lies=0):
        check(story.is_accepted(), f"the checker refuses seed {seed}")
        check(is_explained(story.writes), f"no order explains seed {seed}")


def agrees(lies):
    def case():
        accepted = refused = 0
        for seed, story in stories(lies):
            if story.is_accepted():
                accepted += 1
                check(is_explained(story.writes), f"accepted, but no order explains seed {seed}")
            else:
                refused += 1
        check(accepted >= HISTORIES // 50 and refused >= HISTORIES // 4,
              f"{accepted} accepted, {refused} refused: nothing was compared")

    case.__name__ = f"what is accepted after {lies} lies can be explained without zxids"
    return case


if __name__ == "__main__":
    sys.exit(run("brute_force", [both_checkers_accept_correct_histories, *[agrees(lies) for lies in (1, 2, 3)]],
                 only=sys.argv[1] if len(sys.argv) > 1 else None))
