# SPDX-License-Identifier: Apache-2.0
#
# Scenarios for a mixed ensemble under load: how a server falls behind and returns, and which faults hit the others
# then. Each is a function of a Stage: an ensemble with a load on it.

from ensemble import JAVA, OBSERVER, other_kind, write_marker
from harness import Session, check, p, wait_until
from trees import check_same_everywhere, read_everything

COMMIT_LOG_COUNT = 3000  # what a leader keeps in memory for DIFF; the load writes less while a JVM starts
MISSED_BY_SNAP = COMMIT_LOG_COUNT + 500
PROPERTIES = {
    "zookeeper.commitLogCount": COMMIT_LOG_COUNT,
    "zookeeper.snapshotSizeFactor": -1,  # no DIFF from log files, whose choice depends on file sizes
    "zookeeper.snapCount": 2000,
}


class Stage:
    """An ensemble, its load, the kind that is to lead, and the server that falls behind."""

    def __init__(self, ensemble, load, leading, joiner):
        self.ensemble, self.load, self.leading, self.joiner = ensemble, load, leading, joiner

    def ensure_leader(self):
        """Among equals the highest sid wins: server 3 is always of the kind that is to lead."""
        if self.ensemble.settle().kind != self.leading:
            self.load.pause()
            self.ensemble.lead(self.ensemble[3])
            self.load.resume()
        check(self.ensemble.leader().kind == self.leading, f"{self.leading} leads")

    def follower(self):
        """A voter that does not lead; the one that has just joined, if it votes."""
        leader = self.ensemble.leader()
        if self.joiner.role != OBSERVER and self.joiner is not leader:
            return self.joiner
        return next(member for member in self.ensemble.voters if member is not leader)

    def compare(self):
        """The same tree on every server, and nothing acknowledged missing from it."""
        for member in self.ensemble:
            member.check_not_diverged()
        self.load.pause()
        self.load.check_in(check_same_everywhere(self.ensemble))
        self.load.resume()


# ---- how a server falls behind ---------------------------------------------------------------------------


def joins_by_diff(stage):
    stage.joiner.stop()
    stage.load.goes_on()
    stage.ensemble.start(stage.joiner.sid)
    expect_sync(stage, "DIFF")


def joins_by_snap(stage):
    stage.joiner.stop()
    write_many(stage, MISSED_BY_SNAP)
    stage.ensemble.start(stage.joiner.sid)
    expect_sync(stage, "SNAP")


def joins_with_an_empty_disk(stage):
    stage.joiner.stop()
    stage.load.goes_on()
    stage.joiner.wipe()
    stage.ensemble.start(stage.joiner.sid)
    expect_sync(stage, "SNAP", "DIFF")


def joins_by_trunc(stage):
    """The leader logs a write that no other server receives, dies, and comes back to a new leader without that write."""
    ensemble, joiner = stage.ensemble, stage.joiner
    stage.load.pause()
    ensemble.lead(joiner)
    session = Session(joiner.port)  # now, because opening one needs a quorum too
    ensemble.level()
    others = [member for member in ensemble if member is not joiner]
    for member in others:
        member.pause()
    path = "/nobody else has this"
    session.send([(p.CREATE, p.create_body(path))])
    wait_until(lambda: in_log(joiner, path), f"{path} in the log of {joiner}")
    for member in [joiner, *others]:
        member.kill()  # The others too, because their sockets may hold the proposal.
    ensemble.start(*[member.sid for member in others])
    check(ensemble.leader().kind == stage.leading, f"{stage.leading} leads")
    if stage.leading != JAVA:  # A Java leader that has committed in its own epoch answers with SNAP.
        write_marker(ensemble.leader())
    ensemble.start(joiner.sid)
    expect_sync(stage, "TRUNC")
    for member in ensemble:
        check(path not in read_everything(member), f"{member} has {path}, which was cut off")
    stage.load.resume()
    stage.load.goes_on()


def expect_sync(stage, *ways):
    """The leader's first choice of a sync: under load Java 3.8 may need several attempts (ZOOKEEPER-4394)."""
    seen = stage.ensemble.how_synced(stage.joiner)
    check(seen and seen[0] in ways, f"{stage.joiner} was to join by {ways}, joined by {seen}")


def in_log(member, path):
    return any(path.encode() in file.read_bytes() for file in member.files.glob("log.*"))


def write_many(stage, count):
    """Changes the data of one node so many times: much history, little tree."""
    with stage.ensemble.leader().client() as session:
        path = session.create("/many", flags=p.SEQUENTIAL)
        answers = session.pipeline([(p.SET_DATA, p.set_data_body(path, b"%d" % n)) for n in range(count)])
        check(all(err == 0 for err, _ in answers), "every setData succeeds")


# ---- what is done to the others --------------------------------------------------------------------------


def leader_is_killed(stage):
    leader = stage.ensemble.leader()
    leader.kill()
    stage.ensemble.settle()
    stage.load.goes_on()
    stage.ensemble.start(leader.sid)
    stage.load.goes_on()


def follower_is_killed(stage):
    follower = stage.follower()
    follower.kill()
    stage.load.goes_on()
    stage.ensemble.start(follower.sid)
    stage.load.goes_on()


def leader_is_stopped_and_continued(stage):
    """A paused leader believes that it still leads when it resumes, and must find out that it does not."""
    leader = stage.ensemble.leader()
    leader.pause()
    stage.ensemble.settle()
    stage.load.goes_on()
    leader.unpause()
    stage.ensemble.settle()
    stage.load.goes_on()


def follower_is_stopped_and_continued(stage):
    follower = stage.follower()
    follower.pause()
    stage.load.goes_on()
    follower.unpause()
    stage.ensemble.settle()
    stage.load.goes_on()


def every_server_is_replaced_by_the_other_kind_and_back(stage):
    for _ in ("there", "back"):
        for member in stage.ensemble:
            member.stop()
            stage.load.goes_on(3)
            member.become(other_kind(member.kind))
            stage.ensemble.start(member.sid)
            stage.load.goes_on(3)


JOINS = [joins_by_diff, joins_by_trunc, joins_by_snap, joins_with_an_empty_disk]
EVENTS = [leader_is_killed, follower_is_killed, leader_is_stopped_and_continued,
          follower_is_stopped_and_continued, every_server_is_replaced_by_the_other_kind_and_back]
