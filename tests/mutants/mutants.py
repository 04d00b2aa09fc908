#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Do the simulator's checkers notice real bugs? Each mutant puts one back, most of them from the history of
# ZooKeeper or its kin, by changing a line or two of one source file. A mutant that no seed and no crash point
# finds is a hole in the simulator.
#
#   mutants.py --build build/release            all of them
#   mutants.py --build build/release NAME ...   some
#   mutants.py --list
#
# The product is not touched: the changed file is compiled beside it and linked in front of the library that
# holds the right one. A mutant whose text is no longer there fails loudly, and wants to be written anew.
import argparse
import dataclasses
import json
import pathlib
import shlex
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]


@dataclasses.dataclass
class Mutant:
    name: str
    cites: str      # where the bug was seen; ZooKeeper's issue when it is only a number
    file: str       # below src/
    changes: list   # (right, wrong)
    seeds: int = 300


MUTANTS = [
    # --- agreement: the disk and what is said of it ---
    Mutant("ack-before-sync", "etcd 14370", "zab/learner.cc", [
        ("    effects.disk.emplace_back(AppendTxns{batch});\n",
         "    effects.disk.emplace_back(AppendTxns{batch});\n"
         "    if (new_leader_acked_ && !config_.observer) {\n"
         "      for (std::size_t i = 0; i < batch->size(); ++i)\n"
         "        wire::append_packet(out(effects), PacketType::kAck, wire::zxid_of_entry(batch->entry(i)));\n"
         "    }\n")]),
    Mutant("leader-counts-itself-before-sync", "etcd 14370", "zab/leader_broadcast.cc", [
        ("  if (history_.durable() >= zxid) have.insert(config_.me);", "  have.insert(config_.me);"),
        ("std::vector<Zxid> candidates{history_.durable()};", "std::vector<Zxid> candidates{history_.last()};")]),
    Mutant("epoch-before-history", "4643", "zab/learner.cc", [
        ("  flush(effects);\n  if (over()) return;\n  new_leader_seen_ = true;\n",
         "  effects.disk.emplace_back(SaveEpoch{EpochKind::kCurrent, epoch_});\n"
         "  flush(effects);\n  if (over()) return;\n  new_leader_seen_ = true;\n"),
        ("  acked_ = history_.committed();\n  effects.disk.emplace_back(SaveEpoch{EpochKind::kCurrent, epoch_});\n",
         "  acked_ = history_.committed();\n")]),
    Mutant("new-leader-acked-before-sync", "4646", "zab/learner.cc", [
        ("  acked_ = history_.committed();\n  effects.disk.emplace_back(SaveEpoch{EpochKind::kCurrent, epoch_});\n",
         "  acked_ = history_.committed();\n  effects.disk.emplace_back(SaveEpoch{EpochKind::kCurrent, epoch_});\n"
         "  new_leader_acked_ = true;\n  phase_ = Phase::kSynced;\n"
         "  wire::append_packet(out(effects), PacketType::kAck, epoch_start(epoch_));\n")]),
    Mutant("promise-before-sync", "1387, 2307", "zab/learner.cc", [
        ("  effects.disk.emplace_back(SaveEpoch{EpochKind::kAccepted, epoch_});\n}",
         "  effects.disk.emplace_back(SaveEpoch{EpochKind::kAccepted, epoch_});\n"
         "  start_.accepted = epoch_;\n  send_epoch_ack(effects);\n}")], seeds=4000),
    Mutant("second-promise-counts", "two leaders in one epoch", "zab/leader_handshake.cc", [
        ("  if (!promised_before && learner.voter && raw(packet.zxid) >= 0) promised_",
         "  if (learner.voter && raw(packet.zxid) >= 0) promised_")], seeds=4000),
    Mutant("leader-without-the-latest-history", "Zab, discovery", "zab/leader_handshake.cc", [
        ("    if (theirs > std::pair{began_with_.current, began_with_last_}) {", "    if (false && theirs > theirs) {")]),
    Mutant("vote-ignores-epoch", "Zab, election", "zab/election_votes.cc", [
        ("  return std::tuple(vote.peer_epoch, vote.zxid, vote.leader) >\n"
         "         std::tuple(other.peer_epoch, other.zxid, other.leader);",
         "  return std::tuple(vote.leader) > std::tuple(other.leader);")]),
    Mutant("observers-count", "quorums", "zab/membership.cc", [
        ("  const auto votes = std::ranges::count_if(servers, [&](ServerId s) { return membership.is_voter(s); });",
         "  const auto votes = servers.size();"),
        ("static_cast<std::size_t>(votes) > membership.voters.size() / 2", "votes > membership.voters.size() / 2")]),
    Mutant("commit-by-anybody", "quorums", "zab/leader_broadcast.cc", [
        ("  return membership_.is_quorum(have);", "  return !have.empty();")]),
    Mutant("serve-before-quorum", "3104", "zab/leader_handshake.cc", [
        ("  if (phase_ != Phase::kBroadcast) return count_new_leader_acks(now, effects);\n",
         "  if (phase_ != Phase::kBroadcast) {\n    welcome(learner, now, effects);\n"
         "    learner.stage = Stage::kSynced;\n    return count_new_leader_acks(now, effects);\n  }\n")]),
    Mutant("wiped-server-votes", "M4 of the storage experiments", "zab/peer.cc", [
        ("  const Zxid last = epochs_.knows_history ? history_.last() : Zxid{-1};", "  const Zxid last = history_.last();"),
        ("  const bool knows = epochs_.knows_history && (!epochs_.fresh || election_.everybody_is_new());",
         "  const bool knows = true;")]),
    Mutant("sync-without-asking", "1675, sync is not linearizable", "zab/leader_broadcast.cc", [
        ("  if (round_for_ == 0) begin_confirmation(now, effects);\n", "  confirmed_ = asked_;\n  commit_ready(now, effects);\n")],
        seeds=4000),
    # --- agreement: bringing a learner level ---
    Mutant("diff-over-a-stray-tail", "1154", "zab/sync_plan.cc", [
        ("  return {Kind::kTrunc, std::min(shared, history.committed())};", "  return {Kind::kDiff, std::min(shared, history.committed())};")]),
    Mutant("histories-compared-by-zxid-alone", "2832", "zab/sync_plan.cc", [
        ("  const bool provable = shared == theirs || (epoch_of(shared) == epoch_of(theirs) && counter_of(shared) > 0);",
         "  const bool provable = true;"),
        ("  if (theirs <= history.committed() && history.contains(theirs)) return {Kind::kDiff, theirs};",
         "  if (theirs <= history.committed()) return {Kind::kDiff, history.at_or_before(theirs)};")]),
    Mutant("truncation-forgets-the-disk", "3701, 1489", "zab/learner.cc", [
        ("  effects.disk.emplace_back(TruncateLog{last});\n", "")]),
    Mutant("truncation-forgets-the-memory", "2845, 5094", "zab/learner.cc", [
        ("  if (last < history_.committed()) effects.reload_state = true;\n", "")]),
    Mutant("half-a-state-stays", "3642", "zab/peer.cc", [
        ("    if (learner_->is_receiving_snapshot()) effects.reload_state = true;\n", "")]),
    Mutant("snapshot-stays-in-memory", "3642", "storage/journal.cc", [
        ("  if (zxid < Zxid{0})", "  if (zxid > Zxid{0}) { TRY(open_log(log_ ? log_->tail() : LogTail{})); return std::string(\"none\"); }\n  if (zxid < Zxid{0})")]),
    Mutant("difference-with-a-hole", "4925", "zab/leader_handshake.cc", [
        ("  history_.for_each(after, history_.committed(), [&](Zxid zxid, std::string_view entry) {\n",
         "  history_.for_each(after, history_.committed(), [&](Zxid zxid, std::string_view entry) {\n"
         "    if (counter_of(zxid) == 1 && epoch_of(zxid) > 1) return;\n")]),
    Mutant("applied-before-own-sync", "4882, M3", "replica/member.cc", [
        ("  return std::min(history.committed(), history.durable());", "  return history.committed();")]),
    Mutant("served-before-level", "found by this simulator", "replica/member.cc", [
        ("  return machine_.last_zxid < *peer_.learner()->level_at() ? Service::kNone : Service::kLearning;",
         "  return Service::kLearning;")]),
    Mutant("snapshot-of-a-state-that-goes", "found by this simulator (seed 642)", "replica/member.cc", [
        ("  return !state_unusable_ && peer_.knows_history() && machine_.last_zxid >= inexact_until_;", "  return true;")],
        seeds=4000),
    Mutant("epoch-exhausted-for-ever", "1277; found by this simulator", "replica/replica_leading.cc", [
        ("  exhausted_ = false;  // The next epoch begins anew, and may be led by this server too.\n", "")]),
    # --- storage ---
    Mutant("sync-retried", "M3; the fsync study of ATC'20", "storage/txn_log_writer.cc", [
        ("    TRY(kill(file_->sync()));\n    TRY(kill(links_.set_watermark({file_first_, last_appended_})));\n    if (watermark",
         "    if (!file_->sync()) TRY(kill(file_->sync()));\n"
         "    TRY(kill(links_.set_watermark({file_first_, last_appended_})));\n    if (watermark")], seeds=2000),
    Mutant("new-log-without-directory-sync", "ClickHouse 116316", "storage/txn_log_writer.cc", [
        ("  TRY(kill(disk_->sync_directory(directory_)));\n  named_ = true;", "  named_ = true;")]),
    Mutant("hole-is-the-end", "M1, M2", "storage/txn_log_reader.cc", [
        ("IoResult<void> TxnLogReader::check_watermark() {\n", "IoResult<void> TxnLogReader::check_watermark() {\n  if (known_ != Zxid{-7}) return {};\n"),
        ("  if (beyond && !(watermark_applies() && evidence_.watermark->durable <= known_)) {", "  if (false && beyond) {")], seeds=4000),
    Mutant("truncation-keeps-later-snapshots", "4837", "storage/truncate.cc", [
        ("  return file.zxid > zxid || info.newest > zxid || (info.digest && info.digest->zxid > zxid) ||\n"
         "         info.last_processed > zxid;", "  (void)info;\n  return file.zxid > zxid;")], seeds=4000),
    Mutant("purge-deletes-needed-logs", "3231", "storage/purge.cc", [
        ("  return above == logs.begin() ? 0 : static_cast<std::size_t>(above - logs.begin()) - 1;",
         "  return static_cast<std::size_t>(above - logs.begin());")]),
    Mutant("old-history-goes-first", "found by this simulator (seed 104)", "storage/journal.cc", [
        ("  TRY(remove_incoming(*disk_, dirs_));\n", "  TRY(remove_incoming(*disk_, dirs_));\n  TRY(set_aside_history(*disk_, dirs_));\n")],
        seeds=4000),
    # --- clients ---
    Mutant("event-after-reply", "etcd 17529", "replica/replica.cc", [
        ("  for (Front* each : fronts_) each->on_events(events_, txn->header.zxid);\n", ""),
        ("    answer_awaiting(txn->header, result, now);\n  }\n}",
         "    answer_awaiting(txn->header, result, now);\n  }\n"
         "  for (Front* each : fronts_) each->on_events(events_, txn->header.zxid);\n}")]),
    Mutant("set-watches-off-by-one", "1412, 1667", "state/read.cc", [
        ("    if (node->mzxid > since) return tell(", "    if (node->mzxid >= since) return tell(")]),
    Mutant("watches-not-set-again", "1412", "state/read.cc", [
        ("    if (node->pzxid > since) return tell(wire::EventType::kNodeChildrenChanged, path);\n", "")]),
    Mutant("reads-overtake-writes", "session FIFO", "replica/front.cc", [
        ("  if (c.waiting) return wait(c, header, body, now);\n", "")]),
    Mutant("older-server-is-good-enough", "single system image", "replica/front.cc", [
        ("  if (request->last_zxid_seen > std::max(machine_.last_zxid, floor_)) {", "  if (false && request) {")]),
    Mutant("touches-are-not-forwarded", "ClickHouse 121361", "replica/replica_learning.cc", [
        ("      touched_[touch.session] = found->second.timeout_ms;\n", "      continue;\n")]),
    Mutant("no-new-lease-from-a-new-leader", "session expiry", "replica/replica_leading.cc", [
        ("    expiry_.set(session, timeout_ms, now);\n  }\n}", "    expiry_.set(session, timeout_ms, Instant{now.ms - timeout_ms});\n  }\n}")]),
    Mutant("moved-session-still-speaks", "710, 2886", "replica/replica_leading.cc", [
        ("  return s.learner == learner ? SessionVerdict{} : kMoved;", "  return raw(session) == 0 ? kMoved : SessionVerdict{};")], seeds=2000),
    Mutant("touch-lost-with-the-connection", "found by this simulator (seed 543)", "replica/front.cc", [
        ("  if (c->touched && c->phase == Phase::kConnected) outbox_.touched.push_back({c->session, c->last_heard});\n", "")],
        seeds=4000),
]


def compile_command(build, source):
    for entry in json.loads((build / "compile_commands.json").read_text()):
        if entry["file"] == str(source):
            return shlex.split(entry["command"]), entry["directory"]
    sys.exit(f"mutants: {source} is not compiled in {build}")


def link_command(build):
    commands = subprocess.run(["ninja", "-C", str(build), "-t", "commands", "drover-sim"], check=True,
                              capture_output=True, text=True).stdout.splitlines()
    line = commands[-1].removeprefix(": && ").removesuffix(" && :")
    return shlex.split(line)


def mutate(mutant):
    source = ROOT / "src" / mutant.file
    text = source.read_text()
    for right, wrong in mutant.changes:
        if text.count(right) != 1:
            sys.exit(f"mutants: {mutant.name}: {mutant.file} has {text.count(right)} times:\n{right}")
        text = text.replace(right, wrong)
    return source, text


def build_mutant(build, mutant):
    source, text = mutate(mutant)
    place = build / "mutants" / mutant.name
    place.mkdir(parents=True, exist_ok=True)
    changed = place / source.name
    changed.write_text(text)
    command, directory = compile_command(build, source)
    out = command.index("-o")
    obj = place / (source.name + ".o")
    command[out + 1] = str(obj)
    command[command.index("-c") + 1] = str(changed)
    # Dependencies are the right file's business; so are warnings, of which a mutant may give some.
    for flag in ("-MD", "-Werror"):
        if flag in command:
            command.remove(flag)
    for flag in ("-MT", "-MF"):
        if flag in command:
            at = command.index(flag)
            del command[at:at + 2]
    subprocess.run(command + ["-w"], cwd=directory, check=True)
    link = link_command(build)
    link[link.index("-o") + 1] = str(place / "drover-sim")
    first_library = next(i for i, word in enumerate(link) if word.endswith(".a"))
    link.insert(first_library, str(obj))
    subprocess.run(link, cwd=build, check=True)
    return place / "drover-sim"


def first_line(text):
    for line in text.splitlines():
        if "FAILED" in line or "broken invariant" in line:
            return line.strip()[:160]
    return "?"


def hunt(binary, mutant, jobs):
    """How the mutant was found, or None."""
    for what, arguments in (("seeds", ["--seeds", f"1..{mutant.seeds}", "--stop"]), ("sweep", ["--sweep", "--stop"])):
        done = subprocess.run([str(binary), "--jobs", str(jobs)] + arguments, capture_output=True, text=True)
        if done.returncode != 0:
            return what, first_line(done.stdout + done.stderr)
    return None


def main():
    parser = argparse.ArgumentParser(description="puts known bugs back and looks whether the simulator finds them")
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    chosen = [m for m in MUTANTS if not arguments.names or m.name in arguments.names]
    if arguments.list:
        for mutant in chosen:
            print(f"{mutant.name:38} {mutant.cites:38} src/{mutant.file}")
        return
    build = pathlib.Path(arguments.build).resolve()
    alive = 0
    for mutant in chosen:
        binary = build_mutant(build, mutant)
        began = time.monotonic()
        found = hunt(binary, mutant, arguments.jobs)
        took = time.monotonic() - began
        alive += found is None
        how = "NOT FOUND" if found is None else f"{found[0]}: {found[1]}"
        print(f"{mutant.name:38} {took:6.1f} s  {how}", flush=True)
    print(f"{len(chosen) - alive} of {len(chosen)} mutants found")
    sys.exit(1 if alive else 0)


if __name__ == "__main__":
    main()
