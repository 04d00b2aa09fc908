// SPDX-License-Identifier: Apache-2.0
//
// A server's work on its files besides logging: snapshots in small steps, purge, and reloading its state.
#include "sim/process.h"
#include "storage/purge.h"

namespace drover::sim {

namespace {

using host::WalkProgress;

void write_all(host::SnapshotWalk& walk, storage::SnapshotWriter& writer) {
  walk.begin();
  walk.write_beginning(writer);
  auto progress = WalkProgress::kMore;
  while (progress == WalkProgress::kMore) {
    progress = walk.step();
    walk.write_nodes(writer);
  }
}

}  // namespace

// --- snapshots of our own ---

// Like the server's: one at a time, and only of a state that may be written down.
bool Process::want_snapshot() {
  if (snapshot_ || snapshot_wanted_ || !member_->is_state_exact()) return false;
  begin_snapshot_later();
  return true;
}

void Process::begin_snapshot_later() {
  snapshot_wanted_ = true;
  parts_.world.after(hop(), parts_.actor, [this] { begin_snapshot(); });
}

void Process::begin_snapshot() {
  if (!std::exchange(snapshot_wanted_, false) || why_over_) return;
  if (!member_->is_state_exact()) return;  // The log asks again when it has grown.
  auto task = std::make_unique<SnapshotTask>(machine_);
  task->walk.begin();
  auto writer = storage::SnapshotWriter::open(parts_.disk, data_dir_->dirs().snapshots, task->walk.zxid());
  if (!writer) {
    say("no snapshot: " + writer.error().what);
    return look_at_power();
  }
  task->writer.emplace(std::move(*writer));
  task->walk.write_beginning(*task->writer);
  snapshot_ = std::move(task);
  step_snapshot(++snapshots_begun_);
}

void Process::step_snapshot(std::uint64_t number) {
  if (!snapshot_ || why_over_ || number != snapshots_begun_) return;
  if (snapshot_->walked) return end_snapshot();
  const WalkProgress progress = snapshot_->walk.step({.nodes = parts_.plan.disk.snapshot_step_nodes});
  snapshot_->walk.write_nodes(*snapshot_->writer);
  if (progress == WalkProgress::kCutOff) return end_snapshot();
  snapshot_->walked = progress == WalkProgress::kEnd;
  parts_.world.after(hop(), parts_.actor, [this, number] { step_snapshot(number); });
}

void Process::end_snapshot() {
  if (snapshot_->walked) {
    const auto name = snapshot_->writer->finish(snapshot_->walk.seals());
    say(name ? "wrote " + *name : "no snapshot: " + name.error().what);
    if (name) parts_.world.count(Did::kSnapshot);
    if (name) snapshot_bytes_ = snapshot_->walk.bytes();
  }
  snapshot_.reset();
  look_at_power();
}

void Process::cancel_snapshot() {
  if (!snapshot_) return;
  snapshot_.reset();
  begin_snapshot_later();
}

void Process::purge() {
  if (why_over_) return;
  parts_.world.after(parts_.plan.disk.purge_every, parts_.actor, [this] { purge(); });
  if (snapshot_) return;
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

// --- for the start and the log device ---

IoResult<std::string> Process::write_first_snapshot() {
  TRY_ASSIGN(auto writer,
             storage::SnapshotWriter::open(parts_.disk, data_dir_->dirs().snapshots, machine_.last_zxid));
  host::SnapshotWalk walk(machine_);
  write_all(walk, writer);
  return writer.finish(walk.seals());
}

IoResult<void> Process::write_state(storage::SnapshotWriter& writer) {
  host::SnapshotWalk walk(machine_);
  write_all(walk, writer);
  return {};
}

IoResult<bool> Process::reload_state() {
  std::vector<std::string> contradictions;
  TRY_ASSIGN(const bool exact,
             host::reload(parts_.disk, data_dir_->dirs(), machine_, {.autocreate = true}, contradictions));
  check(contradictions);
  spoiled_ = false;
  say("read its state anew, up to " + std::to_string(raw(machine_.last_zxid)));
  return exact;
}

void Process::check(const std::vector<std::string>& contradictions) {
  for (const std::string& line : contradictions) {
    if (!parts_.plan.spoiled_states) parts_.world.fail(line);
  }
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

}  // namespace drover::sim
