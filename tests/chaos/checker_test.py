#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Tests the checker. Correct histories, made by the model with random clients, must be accepted. A history with
# one wrong reply of any kind that a broken server could send must be rejected with the right reason.

import pathlib
import random
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "ensemble"))

import ensemble  # noqa: E402,F401  It makes tests/durability and tests/compat importable.
from checker import Violation, check_history, next_change, watched  # noqa: E402
from client import ROOTS, Client  # noqa: E402
from harness import BAD_ARGUMENTS, BAD_VERSION, OK, check, check_equal, p  # noqa: E402
from joined_logs import Log, agree_on  # noqa: E402
from members_model import CONFIG_NODE, NO_QUORUM, Change, Members, MembersModel  # noqa: E402
from operations import PENDING, REFUSED, SESSION_MOVED, Event, History, Operation  # noqa: E402
from suite import run  # noqa: E402
from tree_model import Tree  # noqa: E402
from txn_logs import CLOSE_SESSION, ERROR, Txn  # noqa: E402

SEEDS = range(8)
STEPS = 600
CLIENTS = 4
GUESTS = ("/guest",)
SPEC = "127.0.0.1:{0}1:{0}2:{1};127.0.0.1:{0}3"
FIRST_MEMBERS = Members({sid: SPEC.format(sid, "participant") for sid in (1, 2, 3)}, 0x100000000)


class World:
    """A server without faults, in one thread and outside of time: the model with sessions around it."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.tree = Tree()
        self.history, self.txns = History(), []
        self.clients = [Client(number, seed, ()) for number in range(CLIENTS)]
        self.members = MembersModel(FIRST_MEMBERS)
        self.watches = {}  # connection -> {key: zxid of registration}
        self.zxid, self.now = 0x100000000, 0.0
        for client in self.clients:
            client.session = client.number_of_connection = client.number + 1
        for path in ROOTS:
            self.answer(self.clients[0], Operation("create", path))
        for _ in range(STEPS):
            client = self.random.choice(self.clients)
            self.answer(client, client.choose()[0])
        self.answer(self.clients[-1], Operation("create", "/eph/last", flags=p.EPHEMERAL))
        self.end_session(self.clients[-1])
        for path in ("/eph", "/reg"):
            self.answer(self.clients[0], Operation("children", path))

    def guest(self, path):
        """A client whose requests are only in the transaction log."""
        self.zxid += 1
        self.txns.append(Txn(99, 1, self.zxid, 1000, p.CREATE, entry_of_create(path)))

    def tick(self):
        self.now += 1
        return self.now

    def answer(self, client, op):
        client.xid += 1
        op.session, op.connection, op.xid = client.session, client.number_of_connection, client.xid
        op.called = self.tick()
        if op.is_write:
            self.zxid += 1
            op.err, op.result = self.tree.apply(op, op.session, self.zxid, 1000)
            kind = op.op if op.err == OK else ERROR
            self.txns.append(Txn(op.session, op.xid, self.zxid, 1000, kind, entry(op.err)))
            self.fire()
        else:
            self.read(op)
        op.zxid, op.returned = self.zxid, self.tick()
        client.place += 1
        op.place = client.place
        self.history.operations.append(op)
        if op.kind == "create" and op.err == OK and op.flags == p.SEQUENTIAL:
            client.mine.append(op.result[0])
        if (key := watched(op)) is not None:
            self.watches.setdefault(client.number, {}).setdefault(key, self.zxid)

    def read(self, op):
        node = self.tree.find(op.path)
        op.err = OK if node or op.kind == "sync" else -101
        if op.err == OK and op.kind != "sync":
            op.result = {"get": lambda: (node.data, node.stat()), "exists": node.stat,
                         "children": lambda: (frozenset(node.children), node.stat())}[op.kind]()

    def reconfigure(self, change, version=-1, err=OK):
        """The last client changes the members."""
        self.zxid += 1
        op = self.note(self.clients[-1], Operation("reconfig", change=change, version=version), err)
        kind, logged = ERROR, entry(err)
        if err == OK:
            text = self.members.apply(op, op)
            kind, logged, op.result = p.RECONFIG, entry_of_members(text), (text.encode(), (0,) * 11)
        self.txns.append(Txn(op.session, op.xid, op.zxid, 1000, kind, logged))
        return op

    def read_members(self):
        op = self.note(self.clients[0], Operation("get", CONFIG_NODE), OK)
        op.result = (self.members.present.text.encode(), (0,) * 11)
        return op

    def note(self, client, op, err):
        """The operation is answered now; the caller knows with what."""
        client.xid, client.place = client.xid + 1, client.place + 1
        op.session, op.connection = client.session, client.number_of_connection
        op.xid, op.place, op.zxid, op.err = client.xid, client.place, self.zxid, err
        op.called, op.returned = self.tick(), self.tick()
        self.history.operations.append(op)
        return op

    def check(self):
        return check_history(self.history, self.txns, GUESTS, MembersModel(FIRST_MEMBERS))

    def fire(self):
        for client in self.clients:
            table = self.watches.get(client.number, {})
            for key, since in list(table.items()):
                if (change := next_change(self.tree, key, since)) is not None:
                    del table[key]
                    client.place += 1
                    self.history.events.append(
                        event(client.number_of_connection, client.place, *change, key[1]))

    def end_session(self, client):
        self.zxid += 1
        self.tree.close_session(client.session, self.zxid)
        self.txns.append(Txn(client.session, 0, self.zxid, 1000, CLOSE_SESSION, b""))
        self.fire()

    # ---- picking something to lie about --------------------------------------------------------------

    def some(self, condition):
        found = [op for op in self.history.operations if op.err is not PENDING and condition(op)]
        check(found, "a history without anything to lie about")
        return self.random.choice(found)

    def some_write(self):
        return self.some(lambda op: op.kind in ("create", "set", "delete") and op.err == OK
                         and op.path not in ROOTS)

    def txn_of(self, op):
        return next(at for at, txn in enumerate(self.txns) if (txn.session, txn.cxid) == (op.session, op.xid))


def entry(err):
    """As much of a log entry as the checker reads: an error, or a multi without errors inside."""
    return bytes(32) + p.int32(err)


def entry_of_create(path):
    return bytes(32) + p.buffer(path) + p.buffer(b"")


def entry_of_members(text):
    return bytes(32) + p.buffer(CONFIG_NODE) + p.buffer(text) + p.int32(-1)


def joining(sid, role="participant"):
    return Change(joining=f"server.{sid}={SPEC.format(sid, role)}")


def event(connection, place, zxid, kind, path):
    made = object.__new__(Event)
    made.connection, made.place, made.zxid, made.type, made.path = connection, place, zxid, kind, path
    return made


# ---- the lies: each returns a part of the reason that must be given ----------------------------------------


def an_acknowledged_write_is_lost(world):
    del world.txns[world.txn_of(world.some_write())]


def a_write_nobody_asked_for(world):
    world.txns.append(Txn(world.clients[0].session, 10**6, world.zxid + 1, 1000, p.SET_DATA, b""))
    return "nobody asked"


def a_guest_writes_where_only_we_do(world):
    world.answer(world.clients[0], Operation("create", "/reg/by a guest"))
    txn = world.txns[-1]
    del world.history.operations[-1]
    world.txns[-1] = txn._replace(session=99, entry=entry_of_create("/reg/by a guest"))
    return "nobody asked"


def an_impossible_write_of_a_guest_is_done(world):
    world.guest("/guest/without/parent")
    return "although the model says"


def a_write_takes_effect_twice(world):
    txn = world.txns[world.txn_of(world.some_write())]
    world.txns.append(txn._replace(zxid=world.zxid + 1))


def a_failed_write_is_reported_as_done(world):
    op = world.some(lambda op: op.kind == "set" and op.err != OK)
    op.err, op.result = OK, (0,) * 11
    return "model answers"


def a_done_write_is_reported_as_failed(world):
    op = world.some_write()
    op.err, op.result = -103, None
    return "model answers"


def a_refused_write_is_done(world):
    op = world.some_write()
    op.err, op.result = REFUSED, None
    return "refused and done"


def a_write_is_acknowledged_that_the_log_refuses(world):
    op = world.some_write()
    at = world.txn_of(op)
    world.txns[at] = world.txns[at]._replace(type=ERROR, entry=entry(REFUSED))
    return "refused, and reported"


def a_wrong_version_is_accepted(world):
    op = world.some(lambda op: op.kind == "set" and op.err == OK)
    op.version = 77


def a_stat_field_is_wrong(world):
    op = world.some(lambda op: op.kind == "set" and op.err == OK)
    field = world.random.randrange(11)
    op.result = (*op.result[:field], op.result[field] + 1, *op.result[field + 1:])
    return "model answers"


def a_sequence_number_is_given_twice(world):
    made = [op for op in world.history.operations
            if op.kind == "create" and op.flags == p.SEQUENTIAL and op.err == OK]
    made[-1].result = (made[0].result[0], made[-1].result[1])
    return "model answers"


def half_a_multi_takes_effect(world):
    multi = Operation("multi", parts=(Operation("create", "/reg/one"), Operation("create", "/reg/other")))
    world.answer(world.clients[0], multi)
    world.answer(world.clients[0], Operation("get", "/reg/other"))
    multi.parts, multi.result = multi.parts[:-1], multi.result[:-1]
    return "no such node"


def two_writes_share_a_zxid(world):
    one, other = world.some_write(), world.some_write()
    while one is other:
        other = world.some_write()
    one.zxid = other.zxid
    return "same zxid"


def a_write_is_ordered_before_one_that_had_returned(world):
    writes = [op for op in world.history.operations if op.is_write and op.err == OK]
    writes[5].zxid, writes[-5].zxid = writes[-5].zxid, writes[5].zxid
    return "had returned"


def an_unanswered_write_takes_effect_before_it_was_called(world):
    op = world.some_write()
    op.err = op.zxid = op.result = op.returned = op.place = PENDING
    op.called = world.now
    return "had returned"


def a_read_shows_an_old_value(world):
    op = world.some(lambda op: op.kind == "get" and op.err == OK)
    op.result = (b"old", op.result[1])
    return "at this zxid"


def a_read_finds_nothing(world):
    op = world.some(lambda op: op.kind == "get" and op.err == OK)
    op.err, op.result = -101, None
    return "the node is there"


def a_read_shows_a_deleted_node(world):
    op = world.some(lambda op: op.kind == "get" and op.err != OK)
    op.err, op.result = OK, (b"", (0,) * 11)
    return "no such node"


def a_child_is_missing(world):
    op = world.some(lambda op: op.kind == "children" and op.result[0])
    op.result = (op.result[0] - {next(iter(op.result[0]))}, op.result[1])
    return "at this zxid"


def a_session_goes_back_in_time(world):
    op = world.some(lambda op: not op.is_write and op.kind != "sync" and op.xid > 60)
    op.zxid -= 50
    return "back in time"


def a_sync_is_answered_too_early(world):
    op = world.some(lambda op: op.kind == "sync" and op.xid > 20)
    op.zxid -= 3
    return "had returned"


def an_ephemeral_outlives_its_session(world):
    at = next(at for at, txn in enumerate(world.txns) if txn.type == CLOSE_SESSION)
    world.txns[at] = world.txns[at]._replace(session=12345)


def an_unanswered_write_is_overtaken(world):
    writes = [op for op in world.history.operations if op.is_write and op.connection == 2]
    lost = writes[len(writes) // 2]
    lost.err = PENDING
    del world.txns[world.txn_of(lost)]


def an_event_is_lost(world):
    lost = world.random.choice(world.history.events)
    followed = any(op.connection == lost.connection and op.place > lost.place and op.zxid >= lost.zxid
                   for op in world.history.operations)
    check(followed, "no later reply shows that the event is missing")
    world.history.events.remove(lost)


def an_event_comes_after_the_answer_that_shows_its_change(world):
    late = world.random.choice(world.history.events)
    after = [op for op in world.history.operations
             if op.connection == late.connection and op.place > late.place and op.zxid >= late.zxid]
    late.place = min(op.place for op in after) + 0.5


def an_event_comes_twice(world):
    first = world.random.choice(world.history.events)
    again = event(first.connection, first.place + 0.25, first.zxid, first.type, first.path)
    world.history.events.append(again)
    return "no watch was waiting"


def an_event_is_of_another_type(world):
    changed = world.random.choice(world.history.events)
    changed.type = 1 + changed.type % 4


def an_event_comes_without_a_watch(world):
    world.history.events.append(event(1, 0.5, world.zxid, 3, "/reg/r0"))
    return "no watch was waiting"


def a_write_that_came_late_is_acknowledged(world):
    op = world.some_write()
    at = world.txn_of(op)
    world.txns[at] = world.txns[at]._replace(type=ERROR, entry=entry(SESSION_MOVED))
    return "answered otherwise"


def a_write_takes_effect_after_one_that_came_late(world):
    first, second = writes_of_a_connection_that_its_session_left()
    world.history.operations += [first, second]
    come_late(world, [first])
    world.zxid += 1
    world.tree.apply(second, second.session, world.zxid, 1000)
    world.txns.append(Txn(second.session, second.xid, world.zxid, 1000, p.CREATE2, entry_of_create(second.path)))
    return "did not"


def an_acknowledged_reconfiguration_is_lost(world):
    world.reconfigure(joining(4))
    world.txns.pop()
    return "acknowledged and lost"


def a_reconfiguration_makes_other_members(world):
    world.reconfigure(joining(4))
    other = world.members.present.text.replace("participant", "observer")
    world.txns[-1] = world.txns[-1]._replace(entry=entry_of_members(other))
    return "other members than it was asked for"


def a_reconfiguration_is_answered_with_other_members(world):
    op = world.reconfigure(Change(leaving="2"))
    op.result = (FIRST_MEMBERS.text.encode(), op.result[1])
    return "answered with other members"


def a_reconfiguration_of_older_members_is_done(world):
    world.reconfigure(joining(4))
    world.reconfigure(Change(leaving="2"), version=FIRST_MEMBERS.version)
    return "the version is not"


def a_reconfiguration_of_the_present_members_is_refused_as_an_older_one(world):
    world.reconfigure(joining(4), version=FIRST_MEMBERS.version, err=BAD_VERSION)
    return "the version is the present one"


def a_good_reconfiguration_is_refused(world):
    world.reconfigure(joining(4), err=BAD_ARGUMENTS)
    return "decided as error"


def members_are_shown_that_are_not_in_force_any_more(world):
    world.reconfigure(joining(4))
    world.read_members().result = (FIRST_MEMBERS.text.encode(), (0,) * 11)
    return "the members at this zxid"


def members_are_shown_that_are_not_in_force_yet(world):
    early = world.read_members()
    world.reconfigure(joining(4))
    early.result = (world.members.present.text.encode(), (0,) * 11)
    return "the members at this zxid"


LIES = [an_acknowledged_write_is_lost, a_write_nobody_asked_for, a_guest_writes_where_only_we_do,
        an_impossible_write_of_a_guest_is_done, a_write_takes_effect_twice,
        a_failed_write_is_reported_as_done, a_done_write_is_reported_as_failed, a_refused_write_is_done,
        a_write_is_acknowledged_that_the_log_refuses, a_wrong_version_is_accepted, a_stat_field_is_wrong,
        a_sequence_number_is_given_twice, half_a_multi_takes_effect,
        two_writes_share_a_zxid, a_write_is_ordered_before_one_that_had_returned,
        an_unanswered_write_takes_effect_before_it_was_called, a_read_shows_an_old_value,
        a_read_finds_nothing, a_read_shows_a_deleted_node, a_child_is_missing, a_session_goes_back_in_time,
        a_sync_is_answered_too_early, an_ephemeral_outlives_its_session, an_unanswered_write_is_overtaken,
        an_event_is_lost, an_event_comes_after_the_answer_that_shows_its_change, an_event_comes_twice,
        an_event_is_of_another_type, an_event_comes_without_a_watch,
        a_write_that_came_late_is_acknowledged, a_write_takes_effect_after_one_that_came_late,
        an_acknowledged_reconfiguration_is_lost,
        a_reconfiguration_makes_other_members, a_reconfiguration_is_answered_with_other_members,
        a_reconfiguration_of_older_members_is_done,
        a_reconfiguration_of_the_present_members_is_refused_as_an_older_one, a_good_reconfiguration_is_refused,
        members_are_shown_that_are_not_in_force_any_more, members_are_shown_that_are_not_in_force_yet]


def a_right_history_is_accepted():
    for seed in SEEDS:
        world = World(seed)
        check(len(world.history.events) > 10, "events")
        check_history(world.history, world.txns)


def a_guest_may_write_below_its_root():
    for seed in SEEDS:
        world = World(seed)
        world.guest("/guest")
        world.guest("/guest/n0")
        tree = check_history(world.history, world.txns, GUESTS)
        check("/guest/n0" in tree.nodes, "what the guest wrote")


def an_unanswered_write_may_have_happened():
    for seed in SEEDS:
        world = World(seed)
        op = world.some_write()
        op.err = op.zxid = op.result = op.returned = PENDING
        check_history(world.history, world.txns)


def come_late(world, writes):
    """Their session had moved to another server when they arrived."""
    for op in writes:
        world.zxid += 1
        world.txns.append(Txn(op.session, op.xid, world.zxid, 1000, ERROR, entry(SESSION_MOVED)))


def writes_of_a_connection_that_its_session_left():
    """Sent one after the other, without answers."""
    writes = [Operation("create", f"/reg/late{number}") for number in range(2)]
    for number, op in enumerate(writes):
        op.session, op.connection, op.xid, op.called = 2, 99, 10**6 + number, 0
    return writes


def a_write_may_come_after_its_session_has_moved():
    for seed in SEEDS:
        world = World(seed)
        writes = writes_of_a_connection_that_its_session_left()
        world.history.operations += writes
        come_late(world, writes)
        check_history(world.history, world.txns)


def members_may_change():
    for seed in SEEDS:
        world = World(seed)
        world.read_members()
        world.reconfigure(joining(4, "observer"), version=FIRST_MEMBERS.version)
        world.reconfigure(joining(4), version=FIRST_MEMBERS.version, err=BAD_VERSION)
        world.reconfigure(joining(4), version=world.members.present.version)
        world.reconfigure(Change(leaving="1,2", joining=joining(5).joining))
        world.reconfigure(Change(leaving="3"), err=NO_QUORUM)
        world.read_members()
        unanswered = world.reconfigure(Change(members=",".join(FIRST_MEMBERS.lines)))
        unanswered.err = unanswered.zxid = unanswered.result = unanswered.returned = PENDING
        world.read_members()
        world.check()
        past = world.members.past
        kinds = [before.kinds_of_change_to(after) for before, after in zip(past, past[1:])]
        check_equal(kinds, [["added"], ["promoted"], ["replaced"], ["replaced"]], "kinds of changes")


# ---- logs with holes ---------------------------------------------------------------------------------------


def a_log(zxids, snapshots=()):
    """A server's log, without its files."""
    made = object.__new__(Log)
    made.txns = {zxid: Txn(1, zxid, zxid, 1000, p.SET_DATA, b"%d" % zxid) for zxid in zxids}
    made.zxids, made.snapshots = sorted(made.txns), sorted(snapshots)
    return made


def order_of(*logs, former=()):
    return [txn.zxid for txn in agree_on(dict(enumerate(logs)), [log.txns for log in former])]


def a_snapshot_stands_for_what_is_missing_before_it():
    complete = a_log(range(1, 10))
    check(order_of(complete, a_log((7, 8, 9), snapshots=[6])) == [*range(1, 10)], "joined late")
    check(order_of(complete, a_log((1, 2, 8, 9), snapshots=[7])) == [*range(1, 10)], "was away for a while")
    check(order_of(complete, a_log((), snapshots=[3, 9])) == [*range(1, 10)], "only a snapshot")


def nothing_stands_for_other_holes():
    complete = a_log(range(1, 10))
    for other in (a_log((7, 8, 9)), a_log((1, 2, 8, 9), snapshots=[6]), a_log((1, 2, 3, 5, 6, 8, 9), snapshots=[7]),
                  a_log(range(1, 9), snapshots=[8])):
        try:
            order_of(complete, other)
        except AssertionError as error:
            check("not the same on every server" in str(error), f"another reason: {error}")
        else:
            raise AssertionError(f"accepted: {other.zxids} with snapshots {other.snapshots}")


def former_members_fill_holes_that_all_have():
    late = a_log((5, 6, 7), snapshots=[4])
    check(order_of(late, late, former=[a_log((1, 2, 3, 4))]) == [*range(1, 8)], "from a former member")
    check(order_of(late, a_log(range(1, 8)), former=[a_log((1, 2, 3, 4, 99))]) == [*range(1, 8)], "never committed")


def rejected(lie):
    def case():
        for seed in SEEDS:
            world = World(seed)
            reason = lie(world)
            try:
                world.check()
            except Violation as violation:
                check(reason is None or reason in str(violation), f"another reason: {violation}")
            else:
                raise AssertionError(f"accepted with seed {seed}")

    case.__name__ = f"rejected: {lie.__name__}"
    return case


if __name__ == "__main__":
    sys.exit(run("checker", [
        a_right_history_is_accepted,
        a_guest_may_write_below_its_root,
        an_unanswered_write_may_have_happened,
        a_write_may_come_after_its_session_has_moved,
        members_may_change,
        a_snapshot_stands_for_what_is_missing_before_it,
        nothing_stands_for_other_holes,
        former_members_fill_holes_that_all_have,
        *[rejected(lie) for lie in LIES],
    ], only=sys.argv[1] if len(sys.argv) > 1 else None))
