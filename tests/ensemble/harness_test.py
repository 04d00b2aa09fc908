#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
#
# The judges of these tests, judged: two trees that differ in anything are different, and a ledger notices
# what is missing. No server is needed.

import pathlib
import sys

import ensemble  # noqa: F401  It makes tests/durability and tests/compat importable.
from harness import check, check_equal, p
from load import Ledger
from log_holes import holes
from suite import run
from trees import differences

STAT = tuple(range(11))
TREE = {"/": (b"", STAT, ()), "/a": (b"x", STAT, p.OPEN_ACL), "/zookeeper/config": (b"mine", STAT, ())}


def changed(path, field, value):
    entry = list(TREE[path])
    entry[field] = value
    return {**TREE, path: tuple(entry)}


def the_same_tree_has_no_differences():
    check_equal(differences(TREE, dict(TREE)), [], "differences")


def every_field_counts():
    others = [changed("/a", 0, b"y"), changed("/a", 0, None), changed("/a", 2, ())]
    others += [changed("/a", 1, (*STAT[:at], 99, *STAT[at + 1:])) for at in range(len(STAT))]
    for other in others:
        check_equal(len(differences(TREE, other)), 1, "differences")


def a_missing_node_is_a_difference_on_either_side():
    less = {path: node for path, node in TREE.items() if path != "/a"}
    check("only on the first" in differences(TREE, less)[0], "first")
    check("only on the second" in differences(less, TREE)[0], "second")


def the_configuration_is_each_servers_own():
    check_equal(differences(TREE, changed("/zookeeper/config", 0, b"yours")), [], "differences")


def ledger(outcomes):
    made = Ledger("/l")
    made.outcomes = list(outcomes)
    return made


def tree_of(counter, version, *nodes):
    stat = p.Stat(*STAT)
    stat.version = version
    return {"/l/counter": (b"%d" % counter, tuple(stat.values()), ()),
            **{f"/l/n{n}": (b"", STAT, ()) for n in nodes}}


def rejects(outcomes, tree):
    try:
        ledger(outcomes).check_in(tree)
    except AssertionError:
        return
    raise AssertionError(f"{outcomes} accepted with {tree}")


def a_ledger_accepts_what_was_acknowledged():
    ledger([True, True, True, True]).check_in(tree_of(3, 2, 0, 2))


def a_ledger_accepts_an_unknown_write_done_or_not():
    for tree in (tree_of(1, 1, 0), tree_of(3, 2, 0, 2), tree_of(1, 1, 0, 2), tree_of(3, 2, 0)):
        ledger([True, True, False, False]).check_in(tree)


def a_ledger_rejects_a_lost_node():
    rejects([True, True, True], tree_of(1, 1, 0))


def a_ledger_rejects_a_node_that_nobody_wrote():
    rejects([True, True], tree_of(1, 1, 0, 2))


def a_ledger_rejects_a_counter_that_went_back():
    rejects([True, True, True, True], tree_of(1, 2, 0, 2))
    rejects([True, False, True, True], tree_of(1, 2, 0, 2))


def a_ledger_rejects_a_write_done_twice():
    rejects([True, True], tree_of(1, 2, 0))


def a_hole_in_a_log_is_found():
    whole = [0x100000001, 0x100000002, 0x200000001, 0x200000002, 0x200000003]
    check_equal(holes(whole), [], "holes")
    check_equal(holes(set(whole) - {0x200000002}), [(0x200000002, 0x200000002)], "inside an epoch")
    check_equal(holes(set(whole) - {0x200000001}), [(0x200000001, 0x200000001)], "at its beginning")


def every_suite_is_started():
    """One was written, documented, and never ran."""
    here = pathlib.Path(__file__).resolve().parent
    started = (here / "run.sh").read_text()
    check_equal([file.name for file in here.glob("*_test.py") if f"/{file.name}\"" not in started], [], "not in run.sh")


if __name__ == "__main__":
    sys.exit(run("harness", [
        the_same_tree_has_no_differences,
        every_field_counts,
        a_missing_node_is_a_difference_on_either_side,
        the_configuration_is_each_servers_own,
        a_ledger_accepts_what_was_acknowledged,
        a_ledger_accepts_an_unknown_write_done_or_not,
        a_ledger_rejects_a_lost_node,
        a_ledger_rejects_a_node_that_nobody_wrote,
        a_ledger_rejects_a_counter_that_went_back,
        a_ledger_rejects_a_write_done_twice,
        a_hole_in_a_log_is_found,
        every_suite_is_started,
    ], only=sys.argv[1] if len(sys.argv) > 1 else None))
