// SPDX-License-Identifier: Apache-2.0
//
// A server's work on its files besides logging: snapshots in small steps, purge, and reloading its state.
#include "sim/process.h"
#include "sim/recover.h"
#include "storage/purge.h"

namespace drover::sim {
namespace {

using Progress = replica::SnapshotCursor::Progress;

void write_beginning(storage::SnapshotWriter& writer, const replica::SnapshotBeginning& beginning) {
  writer.begin_sessions(static_cast<std::uint32_t>(beginning.sessions.size()));
  for (const auto& [session, timeout_ms] : beginning.sessions) writer.session(session, timeout_ms);
  writer.begin_acls(static_cast<std::uint32_t>(beginning.acls.size()));
  for (const auto& [key, list] : beginning.acls) writer.acl(key, list->bytes);
}

void write_nodes(storage::SnapshotWriter& writer, replica::SnapshotCursor& cursor) {
  replica::SnapshotNodes nodes;
  auto progress = Progress::kMore;
  while (progress == Progress::kMore) {
    progress = cursor.step(nodes);
    nodes.for_each([&](const auto&... node) { writer.node(node...); });
  }
}

storage::SnapshotSeals seals_of(const state::Machine& machine) {
  return {
      .digest = storage::SnapshotDigest{machine.last_zxid, storage::kDigestVersion, machine.tree.digest()},
      .last_processed = machine.last_zxid};
}

}  // namespace

// --- snapshots of our own ---

void Process::want_snapshot() {
  snapshot_wanted_ = true;
  begin_snapshot();
}

void Process::begin_snapshot() {
  if (snapshot_ || snapshots_paused_ || !snapshot_wanted_ || !member_->is_state_exact()) return;
  snapshot_wanted_ = false;
  parts_.world.after(hop(), parts_.actor, [this] {
    if (snapshot_ || snapshots_paused_ || !member_->is_state_exact()) {
      snapshot_wanted_ = true;
      return;
    }
    auto writer = storage::SnapshotWriter::open(parts_.disk, data_dir_->dirs().snapshots, machine_.last_zxid);
    if (!writer) {
      say("no snapshot: " + writer.error().what);
      return look_at_power();
    }
    snapshot_ = std::make_unique<SnapshotTask>(machine_, std::move(*writer));
    write_beginning(snapshot_->writer, snapshot_->cursor.begin());
    step_snapshot();
  });
}

void Process::step_snapshot() {
  if (!snapshot_ || why_over_) return;
  if (snapshot_->seals) return end_snapshot();
  replica::SnapshotNodes nodes;
  const Progress progress = snapshot_->cursor.step(nodes, {.nodes = parts_.plan.disk.snapshot_step_nodes});
  nodes.for_each([&](const auto&... node) { snapshot_->writer.node(node...); });
  if (progress == Progress::kCutOff) return end_snapshot();
  if (progress == Progress::kEnd) snapshot_->seals = seals_of(machine_);
  parts_.world.after(hop(), parts_.actor, [this] { step_snapshot(); });
}

void Process::end_snapshot() {
  if (snapshot_->seals) {
    const auto name = snapshot_->writer.finish(*snapshot_->seals);
    say(name ? "wrote " + *name : "no snapshot: " + name.error().what);
    if (name) parts_.world.count(Did::kSnapshot);
  }
  snapshot_.reset();
  look_at_power();
  // An order that waited to rewrite history goes first.
  log_->resume();
  begin_snapshot();
}

bool Process::pause_snapshots() {
  if (snapshot_) return false;
  snapshots_paused_ = true;
  return true;
}

void Process::resume_snapshots() {
  snapshots_paused_ = false;
  begin_snapshot();
}

void Process::purge() {
  if (why_over_) return;
  parts_.world.after(parts_.plan.disk.purge_every, parts_.actor, [this] { purge(); });
  if (snapshots_paused_ || snapshot_) return;
  const auto report =
      storage::purge(parts_.disk, data_dir_->dirs(), {.retain = parts_.plan.disk.snapshots_kept});
  if (!report) say("purge: " + report.error().what);
  if (report && !report->removed.empty()) parts_.world.count(Did::kPurge);
  look_at_power();
}

// If an operation fails that may fail without ending the process, perhaps the power of the machine is off.
void Process::look_at_power() {
  if (parts_.disk.is_off()) end("the power is off");
}

IoResult<void> Process::write_whole_snapshot(const storage::DataDirs& dirs) {
  TRY_ASSIGN(auto writer, storage::SnapshotWriter::open(parts_.disk, dirs.snapshots, machine_.last_zxid));
  replica::SnapshotCursor cursor(machine_);
  write_beginning(writer, cursor.begin());
  write_nodes(writer, cursor);
  TRY(writer.finish(seals_of(machine_)));
  return {};
}

// --- for the log device ---

IoResult<void> Process::write_state(storage::SnapshotWriter& writer) {
  replica::SnapshotCursor cursor(machine_);
  write_beginning(writer, cursor.begin());
  write_nodes(writer, cursor);
  return {};
}

IoResult<bool> Process::reload_state() {
  TRY_ASSIGN(const Recovered found, recover_state(parts_.disk, data_dir_->dirs(), machine_,
                                                  parts_.plan.window_of(parts_.id), on_known(),
                                                  /*repair=*/false));
  for (const std::string& line : found.contradictions) {
    if (!parts_.plan.spoiled_states) parts_.world.fail(line);
  }
  spoiled_ = false;
  say("read its state anew, up to " + std::to_string(raw(found.report.last)));
  if (found.report.damaged()) return std::unexpected(data_error(found.report.damage));
  return found.exact;
}

bool Process::spoil_state() {
  const zab::History& history = member_->peer().history();
  if (!is_serving() || history.last() != machine_.last_zxid || history.durable() != history.last())
    return false;
  state::Tree& tree = machine_.tree;
  const std::string_view path = "/zookeeper";  // which no client reads
  const state::NodeRef ref = tree.find(path);
  tree.set_data(ref, path, "spoiled", state::persisted_stat(tree.at(ref)));
  spoiled_ = true;
  parts_.world.count(Did::kSpoiled);
  return true;
}

void Process::clear_state() {
  replica::StateBuilder builder(machine_);
  builder.reset();
  builder.finish();
}

}  // namespace drover::sim
