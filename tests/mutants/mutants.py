#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Do the simulator's checkers notice real bugs? Each mutant puts one back, most of them from the history of
# ZooKeeper or its kin, by changing a line or two of one source file. A mutant that no seed and no crash point
# finds is a hole in the simulator.
#
#   mutants.py --build build/plain            all of them
#   mutants.py --build build/plain NAME ...   some
#   mutants.py --record                         and remember how they were found (found.json), for --document
#   mutants.py --check                          builds nothing: can all be made, and were all found?
#   mutants.py --list, --table, --document
#
# The product is not touched: the changed file is compiled beside it and linked in front of the library that
# holds the right one. A mutant whose text is no longer there is an error, and must be rewritten.
import argparse
import dataclasses
import hashlib
import json
import pathlib
import re
import shlex
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
FINDS = ROOT / "tests/mutants/found.json"
DOCUMENT = ROOT / "docs/testing.md"
TABLE_BEGIN = "<!-- mutants.py --document writes from here -->"
TABLE_END = "<!-- to here -->"


class MutantError(Exception):
    """A mutant cannot be made any more."""


@dataclasses.dataclass
class Mutant:
    name: str
    cites: str      # where the bug was seen; ZooKeeper's issue when it is only a number
    file: str       # below src/
    changes: list   # (right, wrong), or (right, wrong, file) in another file
    seeds: int = 300  # within which it must be found, or else by the sweep
    first: int = 1    # of the seeds
    script: str = ""  # the sweep of this script must find it, and no seed is tried


MUTANTS = [
    # --- members that change ---
    Mutant("reconfig-by-the-old-members-alone", "reconfig", "zab/memberships.cc", [
        ("  return committed_.is_quorum(servers) && (!proposed_ || proposed_->is_quorum(servers));",
         "  return committed_.is_quorum(servers);")]),
    Mutant("reconfig-by-the-new-members-alone", "reconfig", "zab/memberships.cc", [
        ("  return committed_.is_quorum(servers) && (!proposed_ || proposed_->is_quorum(servers));",
         "  return last_seen().is_quorum(servers);")]),
    Mutant("two-reconfigs-at-once", "two operators", "replica/member.cc", [
        ("  if (raw(prepared) > members.last_seen().version()) return", "  if (false) return")], seeds=3000),
    Mutant("reconfig-during-the-sync-is-forgotten", "2172", "zab/learner.cc", [
        ("    case PacketType::kCommitAndActivate: return on_commit_and_activate(packet, effects);\n"
         "    case PacketType::kInform: on_proposal(packet, effects); return on_commit(packet.zxid);\n"
         "    case PacketType::kInformAndActivate: return on_inform_and_activate(packet, effects);\n"
         "    case PacketType::kNewLeader:",
         "    case PacketType::kCommitAndActivate: return on_commit(packet.zxid);\n"
         "    case PacketType::kInform: on_proposal(packet, effects); return on_commit(packet.zxid);\n"
         "    case PacketType::kInformAndActivate: return on_inform_and_activate(packet, effects);\n"
         "    case PacketType::kNewLeader:"),
        ("  const Zxid agreed = std::max(committed_, epoch_start(epoch_));", "  const Zxid agreed = epoch_start(epoch_);",
         "zab/learner_membership.cc")]),
    Mutant("leader-commits-nothing-and-stays", "3829", "zab/leader_membership.cc", [
        ("  if (phase_ != Phase::kHandingOver || (has_learners() && now < next_time())) return;",
         "  if (phase_ != Phase::kHandingOver || now < next_time() || true) return;")]),
    Mutant("removed-leader-leads-on", "reconfig", "zab/leader_membership.cc", [
        ("  if (leader == config_.me) return;\n  successor_ = leader;\n  hand_over(now, effects);\n", "  (void)now;\n")]),
    Mutant("observer-votes-as-soon-as-it-is-promoted", "a promoted observer that is behind",
           "zab/leader_membership.cc", [
        ("      learner.voter = !learner.observer && memberships_.is_voter(learner.server);",
         "      learner.voter = memberships_.is_voter(learner.server);")]),
    Mutant("removed-servers-count", "a removed server makes a quorum", "zab/leader_membership.cc", [
        ("  count_voters_again();\n  if (leader == config_.me) return;", "  if (leader == config_.me) return;")]),
    Mutant("removed-server-serves", "reconfig", "replica/member.cc", [
        ("  if (!peer_.active() || state_unusable_ || removed_) return Service::kNone;",
         "  if (!peer_.active() || state_unusable_) return Service::kNone;")]),
    Mutant("changed-role-is-not-taken", "reconfig", "zab/learner_membership.cc", [
        ("  return memberships_.committed().observers().contains(config_.me) != config_.observer;",
         "  return false;")]),
    Mutant("uncommitted-members-stay", "a reconfig that is truncated", "zab/memberships.cc", [
        ("  if (!proposed_ || proposed_->version() <= raw(last)) return false;", "  return false;"),
        ("    if (!proposed_) return false;\n    proposed_.reset();", "    return false;\n    proposed_.reset();")],
        seeds=1, first=300032297),
    Mutant("members-of-newleader-are-ignored", "a server that was away", "zab/memberships.cc", [
        ("  if (leaders.version() == last_seen().version()) return false;", "  return false;")]),
    Mutant("superseded-members-vote-on", "a server that was away", "zab/peer.cc", [
        ("  if (!config_.reconfig_enabled || role_ != Role::kLooking || notification.config.empty()) return false;",
         "  return false;")]),
    Mutant("logged-members-are-not-heard-of", "Java's servers wait; found by this simulator", "zab/peer.cc", [
        ("  if (!theirs || !memberships_.hear(std::move(*theirs))) return false;", "  return false;")],
        seeds=1, first=300192675),
    Mutant("zoo-cfg-names-members-that-are-not-there", "crash between two files", "host/membership_files.cc", [
        ("    TRY(replace(dynamic_name, zab::file_text(membership, zab::VersionLine::kLeftOut)));\n", ""),
        ("    TRY(point_to(static_file, dynamic_name, has_client_port));\n",
         "    TRY(point_to(static_file, dynamic_name, has_client_port));\n"
         "    TRY(replace(dynamic_name, zab::file_text(membership, zab::VersionLine::kLeftOut)));\n")],
        script="members-change"),
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
    Mutant("standalone-answers-before-sync", "etcd 14370", "zab/leader_broadcast.cc", [
        ("  if (config_.standalone) return history_.durable();", "  if (config_.standalone) return history_.last();")],
        script="standalone"),
    Mutant("standalone-forgets-sessions", "a start of the default server", "replica/replica_leading.cc", [
        ("  for (const auto& [session, timeout_ms] : machine_.sessions) {",
         "  for (const auto& [session, timeout_ms] : decltype(machine_.sessions){}) {")], script="standalone"),
    Mutant("epoch-before-history", "4643", "zab/learner.cc", [
        ("  flush(effects);\n  if (over()) return;\n  take_membership(",
         "  effects.disk.emplace_back(SaveEpoch{EpochKind::kCurrent, epoch_, start_.history_id});\n"
         "  flush(effects);\n  if (over()) return;\n  take_membership("),
        ("  acked_ = history_.committed();\n  effects.disk.emplace_back(SaveEpoch{EpochKind::kCurrent, epoch_, start_.history_id});\n",
         "  acked_ = history_.committed();\n")]),
    Mutant("new-leader-acked-before-sync", "4646", "zab/learner.cc", [
        ("  acked_ = history_.committed();\n  effects.disk.emplace_back(SaveEpoch{EpochKind::kCurrent, epoch_, start_.history_id});\n",
         "  acked_ = history_.committed();\n  effects.disk.emplace_back(SaveEpoch{EpochKind::kCurrent, epoch_, start_.history_id});\n"
         "  new_leader_acked_ = true;\n  phase_ = Phase::kSynced;\n"
         "  wire::append_packet(out(effects), PacketType::kAck, epoch_start(epoch_));\n")]),
    Mutant("promise-before-sync", "1387, 2307", "zab/learner.cc", [
        ("  effects.disk.emplace_back(SaveEpoch{EpochKind::kAccepted, epoch_});\n}",
         "  effects.disk.emplace_back(SaveEpoch{EpochKind::kAccepted, epoch_});\n"
         "  start_.accepted = epoch_;\n  send_epoch_ack(effects);\n}")]),
    Mutant("second-promise-counts", "two leaders in one epoch", "zab/leader_handshake.cc", [
        ("  if (!promised_before && learner.voter && raw(packet.zxid) >= 0) promised_",
         "  if (learner.voter && raw(packet.zxid) >= 0) promised_")]),
    Mutant("promise-refused-for-ever", "found by this simulator; Java has it", "zab/leader_handshake.cc", [
        ("    if (memberships_.is_member(learner.server)) return make_way(learner, accepted, effects);\n", "")],
        script="promise-to-nobody"),
    Mutant("leader-without-the-latest-history", "Zab, discovery", "zab/leader_handshake.cc", [
        ("    if (theirs > std::pair{began_with_.current, began_with_last_}) {", "    if (false && theirs > theirs) {")]),
    Mutant("vote-ignores-epoch", "Zab, election", "zab/election_votes.cc", [
        ("  return std::tuple(vote.peer_epoch, vote.zxid, vote.leader) >\n"
         "         std::tuple(other.peer_epoch, other.zxid, other.leader);",
         "  return std::tuple(vote.leader) > std::tuple(other.leader);")]),
    Mutant("observers-count", "quorums", "zab/membership.cc", [
        ("  const auto votes = std::ranges::count_if(servers, [&](ServerId s) { return membership.is_voter(s); });",
         "  const auto votes = servers.size();"),
        ("static_cast<std::size_t>(votes) > membership.voters().size() / 2", "votes > membership.voters().size() / 2"),
        ("  learner.voter = !observer && memberships_.is_voter(info->server);", "  learner.voter = true;",
         "zab/leader_handshake.cc")]),
    Mutant("commit-by-anybody", "quorums", "zab/leader_broadcast.cc", [
        ("  return memberships_.is_quorum_for(zxid, have);", "  return !have.empty();")]),
    Mutant("serve-before-quorum", "3104", "zab/leader_handshake.cc", [
        ("  if (phase_ != Phase::kBroadcast) return count_new_leader_acks(now, effects);\n",
         "  if (phase_ != Phase::kBroadcast) {\n    welcome(learner, now, effects);\n"
         "    learner.stage = Stage::kSynced;\n    return count_new_leader_acks(now, effects);\n  }\n")]),
    Mutant("wiped-server-votes", "M4 of the storage experiments", "zab/peer.cc", [
        ("  const bool knows = epochs_.knows_history && !(epochs_.fresh && !history_heard_.empty());",
         "  const bool knows = true;"),
        ("                             .knows_history = epochs_.knows_history,\n"
         "                             .fresh = epochs_.fresh,\n",
         "                             .knows_history = true,\n"
         "                             .fresh = false,\n")]),
    Mutant("empty-servers-outvote-a-history", "M4 of the storage experiments", "zab/learner.cc", [
        ("  if (doubts_history()) start_.knows_history = false;\n", ""),
        ("epochs_.knows_history && !(epochs_.fresh && !history_heard_.empty())", "epochs_.knows_history", "zab/peer.cc")]),
    Mutant("fresh-servers-wait-for-everybody", "a new ensemble starts", "zab/learner.cc", [
        ("(start_.history_exists || !start_.leader_seems_empty)", "(true || start_.history_exists)")]),
    Mutant("an-epoch-alone-is-no-history", "M4 of the storage experiments; found by this simulator", "zab/peer.cc", [
        ("  return holds || (begun && (doubts || !marked_));\n", "  return holds || (begun && doubts);\n")],
        script="wiped-and-only-begun"),
    Mutant("lies-about-a-history-are-believed-for-ever", "an intruder; found by this simulator", "zab/peer.cc", [
        ("  return holds || (begun && (doubts || !marked_));\n",
         "  return holds || (marked_ ? doubts && begun : doubts || begun);\n")],
        script="intruder-at-the-first-start"),
    Mutant("late-history-is-truncated", "two histories", "zab/learner.cc", [
        ("  if (parted_from(*info, effects)) return;\n", ""),
        ("  return start_.knows_history && raw(history_.last()) > 0 ? start_.history_id : 0;", "  return 0;")]),
    Mutant("sync-without-asking", "1675, sync is not linearizable", "zab/leader_broadcast.cc", [
        ("  if (round_for_ == 0) begin_confirmation(now, effects);\n", "  confirmed_ = asked_;\n  commit_ready(now, effects);\n")]),
    # --- strangers on the ports between servers ---
    Mutant("any-epoch-is-believed", "epochs burnt by one claim", "zab/leader_handshake.cc", [
        ("  if (!is_believable_epoch(epoch_of(packet.zxid), known_epoch()))",
         "  if (epoch_of(packet.zxid) >= kEpochMax)")]),
    Mutant("strangers-get-the-tree", "a learner that is no member", "zab/leader_membership.cc", [
        ("  if (memberships_.is_member(learner.server)) return true;", "  return true;"),
        ("  const bool is_welcome = reconfig_enabled_ || memberships.is_member(info->server);",
         "  const bool is_welcome = true;", "host/link_guard.cc")]),
    Mutant("refused-greeting-takes-the-link", "a member's id, claimed by a stranger", "zab/leader_handshake.cc", [
        ("  if (!is_believable_epoch(epoch_of(packet.zxid), known_epoch()))",
         "  for (auto other = learners_.begin(); other != learners_.end();) {\n"
         "    const auto& [link, rival] = *other++;\n"
         "    if (link != learner.link && rival.server == learner.server && rival.stage != Stage::kGreeting)\n"
         "      drop(link, \"the same server has come again\", effects);\n"
         "  }\n"
         "  if (!is_believable_epoch(epoch_of(packet.zxid), known_epoch()))")],
        script="intruder"),
    Mutant("votes-end-a-reign", "a foreign voice in the election", "zab/peer.cc", [
        ("  const bool waiting = leader_ && leader_->phase() == Leader::Phase::kDiscovery;\n"
         "  if (!waiting ||", "  const bool waiting = leader_ != nullptr;\n  if (!waiting ||")],
        script="intruder"),
    Mutant("any-ack-counts", "acknowledges what was never proposed", "zab/leader_broadcast.cc", [
        ("  if (!was_proposed(zxid))\n", "  if (false)\n")]),
    # --- agreement: states that differ ---
    Mutant("differing-follower-discards-at-once", "one bad tree becomes everybody's", "zab/peer.cc", [
        ("  election_.refuse(leader, config_.timing.sync_ms());\n",
         "  return discard_history(why, now, effects);\n")],
        script="wrong-leader"),
    Mutant("differing-follower-does-not-wait", "one bad tree becomes everybody's", "zab/peer.cc", [
        ("  election_.refuse(leader, config_.timing.sync_ms());\n", "  election_.refuse(leader, 0);\n")],
        script="wrong-leader"),
    Mutant("contested-leader-is-elected-again", "a majority disagrees with its leader", "zab/election_votes.cc", [
        ("  if (memberships_.weight_of(vote.leader) == 0 || refuses(vote.leader)) return false;\n"
         "  return std::tuple(vote.peer_epoch",
         "  if (memberships_.weight_of(vote.leader) == 0) return false;\n"
         "  return std::tuple(vote.peer_epoch"),
        ("  if (refuses(vote.leader) || memberships_", "  if (memberships_")],
        script="wrong-leader"),
    Mutant("digests-of-former-leaders-count", "found in review", "replica/member.cc", [
        ("  replica_.set_inexact_until(std::max(inexact_until_, digests_from()));\n",
         "  replica_.set_inexact_until(inexact_until_);\n")],
        script="wrong-leader"),
    Mutant("contradicted-server-leads", "a server whose replay contradicts its digests", "zab/peer.cc", [
        ("  election_.set_may_lead(may_lead());\n", "")],
        script="wrong-leader"),
    # --- agreement: syncing a learner ---
    Mutant("diff-over-a-stray-tail", "1154", "zab/sync_plan.cc", [
        ("  return {Kind::kTrunc, std::min(shared, history.committed())};", "  return {Kind::kDiff, std::min(shared, history.committed())};")]),
    Mutant("diff-from-a-log-without-their-last-transaction", "1154", "host/log_stream.cc", [
        ("  if (!std::exchange(has_begun_, true) && record->zxid != range_.after)\n", "  if (false)\n")],
        script="stray-leader-is-not-in-the-log"),
    Mutant("histories-compared-by-zxid-alone", "2832", "zab/sync_plan.cc", [
        ("  const bool provable = shared == theirs || (epoch_of(shared) == epoch_of(theirs) && counter_of(shared) > 0);",
         "  const bool provable = true;"),
        ("  if (theirs <= history.committed() && history.contains(theirs)) return {Kind::kDiff, theirs};",
         "  if (theirs <= history.committed()) return {Kind::kDiff, history.at_or_before(theirs)};")]),
    Mutant("truncation-forgets-the-disk", "3701, 1489", "zab/learner.cc", [
        ("  effects.disk.emplace_back(TruncateLog{last});\n", "")]),
    Mutant("truncation-forgets-the-memory", "2845, 5094", "zab/learner.cc", [
        ("  if (last < history_.committed()) effects.disk.emplace_back(ReloadState{});\n", "")]),
    Mutant("half-a-state-stays", "3642", "zab/peer.cc", [
        ("    if (learner_->is_receiving_snapshot()) effects.disk.emplace_back(ReloadState{});\n", "")], script="follower-gets-half-a-snap"),
    Mutant("state-read-behind-proposals", "2845; found by reading", "zab/peer.cc", [
        ("  if (learner_ && learner_->link() == link) learner_->flush(effects);\n",
         "  if (learner_ && learner_->link() == link) learner_->flush(effects);\n"
         "  std::stable_partition(effects.disk.begin(), effects.disk.end(), [](const DiskOrder& order) {\n"
         "    return !std::holds_alternative<ReloadState>(order);\n  });\n")]),
    Mutant("slow-snap-is-cut-off", "found on real servers", "zab/leader.cc", [
        ("  if (found != learners_.end() && found->second.is_synchronising()) found->second.last_heard = now;\n", "")],
        script="follower-gets-slow-snap"),
    Mutant("snapshot-stays-in-memory", "3642", "storage/journal.cc", [
        ("  if (zxid < Zxid{0})", "  if (zxid > Zxid{0}) { TRY(open_log(log_ ? log_->tail() : LogTail{})); return std::string(\"none\"); }\n  if (zxid < Zxid{0})")]),
    Mutant("difference-with-a-hole", "4925", "zab/leader_handshake.cc", [
        ("  history_.for_each(after, history_.committed(), [&](Zxid zxid, std::string_view entry) {\n",
         "  history_.for_each(after, history_.committed(), [&](Zxid zxid, std::string_view entry) {\n"
         "    if (counter_of(zxid) == 1 && epoch_of(zxid) > 1) return;\n")]),
    Mutant("applied-before-own-sync", "4882, M3", "replica/member.cc", [
        ("  return std::min(history.committed(), history.durable());", "  return history.committed();")]),
    Mutant("snapshot-of-a-state-that-goes", "found by this simulator", "replica/member.cc", [
        ("  return !state_unusable_ && peer_.knows_history() && !peer_.doubts_state() &&\n"
         "         machine_.last_zxid >= inexact_until_;", "  return true;")]),
    Mutant("epoch-exhausted-for-ever", "1277; found by this simulator", "replica/replica_leading.cc", [
        ("  exhausted_ = false;  // The next epoch begins anew, and may be led by this server too.\n", "")]),
    Mutant("election-while-the-disk-writes", "4712", "zab/peer.cc", [
        ("  if (election_due_ && orders_open_ == 0 && !discarding_) begin_election",
         "  if (election_due_ && !discarding_) begin_election")]),
    # --- storage ---
    Mutant("epoch-written-in-place", "ClickHouse 113654; 2307", "storage/epoch_files.cc", [
        ("  return replace_file(disk, {directory, name_of(which), temporary_of(which)}, text);",
         "  TRY_ASSIGN(const auto file, disk.open(join_path(directory, name_of(which)), OpenMode::kCreate));\n"
         "  TRY(file->write_at(0, std::to_string(epoch)));\n  TRY(file->sync());\n"
         "  return disk.sync_directory(directory);")], script="alone"),
    Mutant("truncation-keeps-later-logs", "ClickHouse 112101", "storage/truncate.cc", [
        ("  TRY(disk.unlink(join_path(directory, name)));\n  TRY(disk.sync_directory(directory));\n"
         "  report.removed.push_back(name);",
         "  if (!name.starts_with(\"log.\")) TRY(disk.unlink(join_path(directory, name)));\n"
         "  TRY(disk.sync_directory(directory));\n  report.removed.push_back(name);")]),
    Mutant("snapshot-without-sessions", "RaftKeeper 1c70550", "replica/snapshot_cursor.cc", [
        ("  beginning.sessions.assign(machine_.sessions.begin(), machine_.sessions.end());\n", "")]),
    Mutant("replayed-delete-leaves-pzxid", "3125", "state/apply.cc", [
        ("  const Node& above = tree_.at(parent);\n"
         "  if (header_.zxid > above.pzxid) tree_.set_child_version(parent, parent_of, above.cversion, header_.zxid);\n"
         "  const NodeRef ref = tree_.find(path);\n  if (ref == kNoNode) return ErrorCode::kNoNode;\n",
         "  const NodeRef ref = tree_.find(path);\n  if (ref == kNoNode) return ErrorCode::kNoNode;\n"
         "  const Node& above = tree_.at(parent);\n"
         "  if (header_.zxid > above.pzxid) tree_.set_child_version(parent, parent_of, above.cversion, header_.zxid);\n")]),
    Mutant("sync-retried", "M3; the fsync study of ATC'20", "storage/txn_log_writer.cc", [
        ("    TRY(kill(file_->sync()));\n    TRY(kill(links_.set_watermark({file_first_, last_appended_})));\n    if (watermark",
         "    if (!file_->sync()) TRY(kill(file_->sync()));\n"
         "    TRY(kill(links_.set_watermark({file_first_, last_appended_})));\n    if (watermark")]),
    Mutant("new-log-without-directory-sync", "ClickHouse 116316", "storage/txn_log_writer.cc", [
        ("  TRY(kill(disk_->sync_directory(directory_)));\n  named_ = true;", "  named_ = true;")]),
    Mutant("hole-is-the-end", "M1, M2", "storage/txn_log_reader.cc", [
        ("IoResult<void> TxnLogReader::check_watermark() {\n", "IoResult<void> TxnLogReader::check_watermark() {\n  if (known_ != Zxid{-7}) return {};\n"),
        ("  if (beyond && !(watermark_applies() && evidence_.watermark->durable <= known_)) {", "  if (false && beyond) {")],
        script="damaged-and-stale"),
    Mutant("purge-deletes-needed-logs", "3231", "storage/purge.cc", [
        ("  const std::size_t needed = index_of_file_with(history.logs, oldest);",
         "  const std::size_t needed = std::min(history.logs.size(), index_of_file_with(history.logs, oldest) + 1);")]),
    Mutant("old-history-goes-first", "found by this simulator", "storage/journal.cc", [
        ("  TRY(remove_incoming(*disk_, dirs_));\n", "  TRY(remove_incoming(*disk_, dirs_));\n  TRY(set_aside_history(*disk_, dirs_));\n")],
        script="follower-gets-snap"),
    # --- clients ---
    Mutant("event-after-reply", "etcd 17529", "replica/replica.cc", [
        ("  for (Front* each : fronts_) each->on_events(events_, txn->header.zxid);\n", ""),
        ("    answer_awaiting(txn->header, result, now);\n  }\n}",
         "    answer_awaiting(txn->header, result, now);\n  }\n"
         "  for (Front* each : fronts_) each->on_events(events_, txn->header.zxid);\n}")]),
    Mutant("set-watches-off-by-one", "1412, 1667", "state/read.cc", [
        ("    if (node->mzxid > since) return tell_of(", "    if (node->mzxid >= since) return tell_of(")]),
    Mutant("watches-not-set-again", "1412", "state/read.cc", [
        ("    if (node->pzxid > since) return tell_of(*node, wire::EventType::kNodeChildrenChanged, path);\n", "")]),
    Mutant("reads-overtake-writes", "session FIFO", "replica/front.cc", [
        ("  if (c.waiting) return wait(c, header, body, now);\n", "")]),
    Mutant("older-server-is-good-enough", "single system image", "replica/front.cc", [
        ("  if (request->last_zxid_seen > std::max(machine_.last_zxid, floor_)) {", "  if (false && request) {")]),
    Mutant("touches-are-not-forwarded", "ClickHouse 121361", "replica/replica_learning.cc", [
        ("      touched_.add(touch.session, found->second.timeout_ms);\n", "      continue;\n")]),
    Mutant("no-new-lease-from-a-new-leader", "session expiry", "replica/replica_leading.cc", [
        ("    expiry_.set(session, timeout_ms, now);\n  }\n}", "    expiry_.set(session, timeout_ms, Instant{now.ms - timeout_ms});\n  }\n}")]),
    # --- sizes ---
    Mutant("failed-multi-stays-pending", "1624; a multi is all or nothing", "state/prepare.cc", [
        ("    } else if (const auto done = multi_element(op, record); !done) {\n      pending_.rollback();",
         "    } else if (const auto done = multi_element(op, record); !done) {\n      pending_.commit();")]),
    Mutant("sequence-ignores-what-is-pending", "1046", "state/prepare.cc", [
        ("static_cast<std::int32_t>(static_cast<std::uint32_t>(parent.stat.cversion) + 1u);\n  }",
         "static_cast<std::int32_t>(static_cast<std::uint32_t>(parent.stat.cversion));\n  }")]),
    Mutant("end-of-a-session-forgets-what-is-pending", "1208", "state/prepare_sessions.cc", [
        ("    if (node.exists && node.stat.ephemeral_owner == raw(request_.session)) found.changing.push_back(path);\n",
         "")]),
    Mutant("propose-above-the-limit", "a transaction that no follower reads", "state/prepare.cc", [
        ("  if (out.size() - record_start_ + kAroundRecordBytes <= m_.options.txn_bytes_max) return {};\n"
         "  too_large_ = true;\n  return std::unexpected(ErrorCode::kMarshallingError);\n",
         "  too_large_ = out.size() < record_start_;\n  return {};\n")]),
    Mutant("close-session-lists-everything", "4306", "state/prepare_sessions.cc", [
        ("    if (bytes + more > m_.options.txn_bytes_max) return false;\n", "")]),
    Mutant("moved-session-still-speaks", "710, 2886", "replica/replica_leading.cc", [
        ("  return s.learner == learner ? SessionVerdict{} : kMoved;", "  return raw(session) == 0 ? kMoved : SessionVerdict{};")]),
    Mutant("left-connection-writes-while-its-session-moves", "found by this simulator",
           "replica/replica_learning.cc", [
        ("  const bool moved = revalidating_.contains(write.session) ||\n"
         "                     (known && (found->second.front != front || found->second.conn != write.conn));\n",
         "  const bool moved = known && (found->second.front != front || found->second.conn != write.conn);\n")],
        script="paused-follower-is-tried-again"),
    Mutant("late-close-lets-the-session-go-on", "closeSession from a server that was left", "replica/replica_leading.cc", [
        ("    if (request.op == OpCode::kCloseSession && found != sessions_.end()) found->second.closing = true;\n",
         "    if (request.op == OpCode::kCloseSession && found != sessions_.end() && verdict.error == ErrorCode::kOk)\n"
         "      found->second.closing = true;\n")]),
    Mutant("resumed-timeout-is-ignored", "REVALIDATE carries a timeout", "replica/replica_leading.cc", [
        ("  if (timeout_ms > 0) session->second.timeout_ms = timeout_ms;\n",
         "  if (timeout_ms == 0) session->second.timeout_ms = timeout_ms;\n")]),
    Mutant("left-connections-stay", "connections whose client vanished", "replica/front.cc", [
        ("    if (c->closing || read_until - c->last_heard <= c->timeout_ms) continue;\n",
         "    if (c->closing || read_until.ms >= 0) continue;\n")]),
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
    """The changed files: path to text."""
    texts = {}
    for right, wrong, *elsewhere in mutant.changes:
        source = ROOT / "src" / (elsewhere[0] if elsewhere else mutant.file)
        text = texts.get(source) or source.read_text()
        if text.count(right) != 1:
            raise MutantError(f"{mutant.name}: {source.name} has {text.count(right)} times:\n{right}")
        texts[source] = text.replace(right, wrong)
    return texts


def compile_mutated(build, place, source, text):
    changed = place / source.name
    changed.write_text(text)
    command, directory = compile_command(build, source)
    obj = place / (source.name + ".o")
    command[command.index("-o") + 1] = str(obj)
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
    return obj


def build_mutant(build, mutant):
    place = build / "mutants" / mutant.name
    place.mkdir(parents=True, exist_ok=True)
    objects = [compile_mutated(build, place, source, text) for source, text in mutate(mutant).items()]
    link = link_command(build)
    link[link.index("-o") + 1] = str(place / "drover-sim")
    first_library = next(i for i, word in enumerate(link) if word.endswith(".a"))
    link[first_library:first_library] = [str(obj) for obj in objects]
    subprocess.run(link, cwd=build, check=True)
    return place / "drover-sim"


@dataclasses.dataclass
class Find:
    """How the simulator found a mutant."""
    by: str      # the rule that was broken, or how the process ended
    where: str   # "seed 17" or "sweep of leader-change"


def name_rule(why):
    """The rule that was broken, in a few words."""
    broken = re.match(r"Zab: .*?not true that (.*?) \(", why)
    if broken:
        return f"Zab, {broken[1]}"
    number = re.match(r"(I\d+)", why)
    if number:
        return number[1]
    late = re.match(r"not within \d+ s: (.*?);", why)
    return f"not in time: {late[1]}" if late else re.sub(r"[\d|].*", "...", why)


def read_failure(output, seeds):
    """The first failure of a run of drover-sim."""
    aborted = re.search(r"FAILED by a broken invariant; to see it again: (.*)", output)
    failed = re.search(r"^FAILED (?:seed (\d+) at [\d.]+ s|([\w-]+)): (.*)", output, re.M)
    if failed:
        where = f"seed {failed[1]}" if failed[1] else f"sweep of {failed[2]}"
        return Find(name_rule(failed[3]), where)
    if aborted:
        where = re.search(r"--seed (\d+)", aborted[1])
        script = re.search(r"--sweep (\S+)", aborted[1])
        sentence = re.search(r"broken invariant: (.*) \(", output)
        return Find(f"ENSURE, {sentence[1]}" if sentence else "a crash", f"seed {where[1]}" if where else f"sweep of {script[1]}")
    return Find("a crash", "seeds" if seeds else "sweep")


def hunt(binary, mutant, jobs):
    """How the mutant was found, or None."""
    hunts = [["--seeds", f"{mutant.first}..{mutant.first + mutant.seeds - 1}"], ["--sweep"]]
    if mutant.script:
        hunts = [["--sweep", mutant.script]]
    for arguments in hunts:
        done = subprocess.run([str(binary), "--jobs", str(jobs), "--stop"] + arguments, capture_output=True, text=True)
        if done.returncode != 0:
            return read_failure(done.stdout + done.stderr, arguments[0] == "--seeds")
    return None


def digest_of(mutant):
    """Changes with what the mutant does, so that a find speaks of this very mutant."""
    return hashlib.sha256(repr((mutant.file, mutant.changes)).encode()).hexdigest()[:12]


def load_finds():
    return json.loads(FINDS.read_text()) if FINDS.exists() else {}


def cite(text):
    """ZooKeeper's issues, which are only numbers, become their names."""
    return re.sub(r"(?<![\w-])(?<!RaftKeeper )(?<!ClickHouse )(?<!etcd )(\d{3,4})(?!\w)", r"ZOOKEEPER-\1", text)


def table():
    """The table of docs/testing.md."""
    finds = load_finds()
    rows = ["| mutant | what it puts back | in | found by | at | allowed |", "|---|---|---|---|---|---|"]
    for m in MUTANTS:
        find = finds.get(m.name, {})
        seeds = f"seed {m.first}" if m.seeds == 1 else f"{m.seeds} seeds"
        allowed = f"sweep of {m.script}" if m.script else f"{seeds}, sweep"
        rows.append(f"| `{m.name}` | {cite(m.cites)} | `{m.file}` | {find.get('by', 'not hunted')} | "
                    f"{find.get('where', '')} | {allowed} |")
    return "\n".join(rows) + "\n"


def document(write):
    """Returns whether docs/testing.md has the current table; writes it if asked to."""
    text = DOCUMENT.read_text()
    begin, end = text.index(TABLE_BEGIN) + len(TABLE_BEGIN), text.index(TABLE_END)
    right = text[:begin] + "\n" + table() + text[end:]
    if write:
        DOCUMENT.write_text(right)
    return text == right


def check():
    """Cheap, for CI: each mutant can still be made, was found in its present form, and docs/testing.md says how."""
    finds = load_finds()
    wrong = []
    for mutant in MUTANTS:
        try:
            mutate(mutant)
        except MutantError as error:
            wrong.append(str(error))
        if finds.get(mutant.name, {}).get("mutant") != digest_of(mutant):
            wrong.append(f"{mutant.name} was not found since it was last changed: ./dev mutants --record {mutant.name}")
    if len({m.name for m in MUTANTS}) != len(MUTANTS):
        wrong.append("two mutants have one name")
    if not document(write=False):
        wrong.append("the table of docs/testing.md is not that of mutants.py --table: ./dev mutants --document")
    for line in wrong:
        print(f"mutants: {line}")
    print(f"{len(MUTANTS)} mutants, {len(wrong)} complaints")
    return not wrong


def run(chosen, arguments):
    build = pathlib.Path(arguments.build).resolve()
    finds = load_finds()
    alive = 0
    for mutant in chosen:
        binary = build_mutant(build, mutant)
        began = time.monotonic()
        find = hunt(binary, mutant, arguments.jobs)
        took = time.monotonic() - began
        alive += find is None
        print(f"{mutant.name:38} {took:6.1f} s  " + (f"{find.by}, {find.where}" if find else "NOT FOUND"), flush=True)
        if arguments.record:
            finds.pop(mutant.name, None)
            if find:
                finds[mutant.name] = {"mutant": digest_of(mutant), "by": find.by, "where": find.where}
            FINDS.write_text(json.dumps(dict(sorted(finds.items())), indent=1) + "\n")
    print(f"{len(chosen) - alive} of {len(chosen)} mutants found")
    return alive == 0


def main():
    parser = argparse.ArgumentParser(description="puts known bugs back and looks whether the simulator finds them")
    parser.add_argument("--build", default="build/plain")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--list", action="store_true", help="only name them")
    parser.add_argument("--check", action="store_true", help="only look whether all can be made, and were found")
    parser.add_argument("--table", action="store_true", help="only print the table of docs/testing.md")
    parser.add_argument("--document", action="store_true", help="only write that table there")
    parser.add_argument("--record", action="store_true", help="remember how each was found, for the table")
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    chosen = [m for m in MUTANTS if not arguments.names or m.name in arguments.names]
    if arguments.list:
        for mutant in chosen:
            print(f"{mutant.name:38} {cite(mutant.cites):50} src/{mutant.file}")
    elif arguments.table:
        print(table(), end="")
    elif arguments.document:
        document(write=True)
    elif arguments.check:
        sys.exit(0 if check() else 1)
    else:
        try:
            sys.exit(0 if run(chosen, arguments) else 1)
        except MutantError as error:
            sys.exit(f"mutants: {error}")


if __name__ == "__main__":
    main()
