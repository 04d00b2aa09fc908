// SPDX-License-Identifier: Apache-2.0
#include "sim/server.h"

#include <cerrno>

#include "base/ensure.h"
#include "replica/snapshot_cursor.h"
#include "storage/data_dir.h"
#include "storage/epoch_files.h"
#include "storage/file_names.h"
#include "storage/snapshot_writer.h"
#include "zab/membership_text.h"

namespace drover::sim {
namespace {

using storage::Survival;

const std::string kDataDir = "/data";

// Of the history that all voters share, and of a stranger's history.
constexpr std::uint64_t kHistoryId = 0x1111;
constexpr std::uint64_t kStrangeHistoryId = 0x2222;

void must(const IoResult<void>& result) { ENSURE(result.has_value(), "a new disk takes what it is given"); }

}  // namespace

SimServer::SimServer(const Parts& parts, ServerId id)
    : parts_(parts),
      id_(id),
      actor_(parts.world.new_actor()),
      random_(parts.world.fork(100 + static_cast<std::uint64_t>(raw(id)))),
      disk_(random_.next()),
      clock_{.world = &parts.world} {
  if (parts.plan.clock_drift) {
    clock_.drift_ppm = between(random_, -50'000, 50'000);
    parts_.world.count(Did::kDrift);
  }
  prepare_disk();
  operations_at_first_ = disk_.operations();
}

SimServer::~SimServer() {
  const storage::MemoryDisk::Incidents& incidents = disk_.incidents();
  parts_.world.count(Did::kIoError, incidents.failed);
  parts_.world.count(Did::kSyncError, incidents.failed_syncs);
  parts_.world.count(Did::kDiskFull, incidents.full);
  parts_.world.count(Did::kBadSector, incidents.unreadable);
  parts_.world.count(Did::kUnsyncedLost, incidents.lost);
  parts_.world.count(Did::kUnsyncedKept, incidents.kept);
  parts_.world.count(Did::kUnsyncedTorn, incidents.torn);
  parts_.world.count(Did::kEntryLost, incidents.entries_lost);
}

// As an operator leaves it: empty on purpose, or with an old history that all voters share.
void SimServer::prepare_disk() {
  const storage::DataDirs dirs = storage::data_dirs(kDataDir);
  must(disk_.make_directories(dirs.snapshots));
  must(disk_.make_directories("/conf"));
  disk_.set_contents(kStaticFile,
                     zab::file_text(parts_.plan.file_of(id_), zab::VersionLine::kLeftOut) + "\n");
  const bool wiped = parts_.plan.boot.wiped.contains(id_);
  // A server that is empty without the mark, or starts late, and has not yet seen a leader, holds nothing
  // that others could need.
  impaired_ = wiped || parts_.plan.boot.late.contains(id_);
  stranger_ = parts_.plan.boot.stranger == id_;
  if (stranger_) return write_history(parts_.plan.boot.strange_history, kStrangeHistoryId);
  if (wiped) return;
  if (raw(parts_.plan.begins_at) == 0) {
    if (parts_.plan.initialized) disk_.set_contents(storage::join_path(kDataDir, "initialize"), "");
    impaired_ = impaired_ || !parts_.plan.initialized;
    return;
  }
  write_history(parts_.plan.begins_at, kHistoryId);
  has_history_ = true;
}

// One transaction that changed nothing, and everything before it as a snapshot.
void SimServer::write_history(Zxid last, std::uint64_t id) {
  const storage::DataDirs dirs = storage::data_dirs(kDataDir);
  state::Machine machine(state::Options{});
  auto writer = storage::SnapshotWriter::open(disk_, dirs.snapshots, last);
  ENSURE(writer.has_value(), "a new disk takes what it is given");
  writer->begin_sessions(0);
  writer->begin_acls(0);
  replica::SnapshotCursor cursor(machine);
  (void)cursor.begin();
  replica::SnapshotNodes nodes;
  while (cursor.step(nodes) == replica::SnapshotCursor::Progress::kMore) {
  }
  nodes.for_each([&](const auto&... node) { writer->node(node...); });
  const storage::SnapshotDigest digest{last, storage::kDigestVersion, machine.tree.digest()};
  ENSURE(writer->finish({.digest = digest}).has_value(), "a new disk takes what it is given");
  for (const storage::EpochFile file : {storage::EpochFile::kAccepted, storage::EpochFile::kCurrent})
    must(storage::write_epoch(disk_, dirs.snapshots, file, epoch_of(last), id));
}

std::string SimServer::history_files() {
  std::string all;
  const std::string directory = storage::data_dirs(kDataDir).snapshots;
  const auto names = disk_.list(directory);
  for (const std::string& name : *names) {
    if (storage::parse_log_name(name) || storage::parse_snapshot_name(name))
      all += name + ":" + disk_.contents(storage::join_path(directory, name)) + ";";
  }
  return all;
}

void SimServer::start() {
  if (process_) return;
  ++restarts_;
  process_ = std::make_unique<Process>(Process::Parts{.world = parts_.world,
                                                      .network = parts_.network,
                                                      .election = parts_.election,
                                                      .disk = disk_,
                                                      .clock = clock_,
                                                      .plan = parts_.plan,
                                                      .observer = parts_.observer,
                                                      .owner = *this,
                                                      .id = id_,
                                                      .actor = actor_,
                                                      .life = ++life_,
                                                      .stranger = stranger_});
  parts_.network.attach(host_of(id_), *this, actor_);
  parts_.election.attach(id_, *this, actor_);
  if (parts_.world.tracing()) parts_.world.say("server " + std::to_string(raw(id_)) + ": starts");
  if (const auto started = process_->start(); !started) {
    if (parts_.world.tracing())
      parts_.world.say("server " + std::to_string(raw(id_)) + ": cannot start: " + started.error().what);
    crash(Farewell::kReset, next_survival());
    // An unreadable sector stays unreadable; any other failure may pass.
    const int code = started.error().code;
    if (code == 0 || (code == EIO && damaged_ && impaired_)) call_the_operator(started.error().what);
    restart_later();
    return;
  }
  check_memory();
}

// Its files cannot be read, or are impossible. No crash may cause that. A disk may; then the operator
// replaces it, and the server starts as one that does not know its history.
void SimServer::call_the_operator(const std::string& why) {
  if (!damaged_)
    return parts_.world.fail("a crash keeps server " + std::to_string(raw(id_)) + " from starting: " + why);
  parts_.world.count(Did::kOperatorHelped);
  wipe();
}

// Only a disk that loses data may cost a server its history; no crash does, whenever it comes.
void SimServer::check_memory() {
  const zab::Peer& peer = process_->member().peer();
  if (impaired_ || damaged_ || peer.knows_history()) return;
  parts_.world.fail("a crash has cost server " + std::to_string(raw(id_)) + " its history");
}

void SimServer::crash(Farewell farewell, Survival survival) {
  if (!process_) return;
  if (parts_.world.tracing()) {
    parts_.world.say("server " + std::to_string(raw(id_)) + ": crashes" +
                     (farewell == Farewell::kSilent ? " silently" : "") +
                     (survival == Survival::kLose   ? ", unsynced data is lost"
                      : survival == Survival::kKeep ? ", unsynced data is kept"
                                                    : ", unsynced data is torn"));
  }
  parts_.world.stop(actor_);
  parts_.network.detach(host_of(id_), farewell);
  parts_.election.detach(id_, farewell);
  process_.reset();
  disk_.crash(survival);
  arm_crash_point();
}

// --- crash points ---

void SimServer::set_crash_point(const CrashPoint& point) {
  crash_point_ = point;
  arm_crash_point();
}

// Any other crash also clears the disk's own crash point.
void SimServer::arm_crash_point() {
  if (!crash_point_ || crash_point_->kind != CrashPoint::Kind::kDisk) return;
  if (crash_point_->number >= disk_operations())
    disk_.power_off_after(crash_point_->number - disk_operations());
}

bool SimServer::on_send() {
  ++sends_;
  if (!crash_point_ || crash_point_->kind != CrashPoint::Kind::kSend || sends_ != crash_point_->number + 1)
    return true;
  parts_.world.count(Did::kCrashAtSend);
  return false;
}

// The planned crash has the planned survival; any other a random one.
Survival SimServer::next_survival() {
  if (!crash_point_) return static_cast<Survival>(random_.below(3));
  const Survival survival = crash_point_->survival;
  crash_point_.reset();
  return survival;
}

void SimServer::restart_later() {
  parts_.world.after(between(random_, restart_low_, restart_high_), [this, restart = ++restarts_] {
    if (restart == restarts_) start();
  });
}

void SimServer::pause() {
  if (process_) parts_.world.pause(actor_);
}

void SimServer::resume() {
  if (process_) parts_.world.resume(actor_);
}

void SimServer::wipe() {
  ENSURE(!process_, "a disk is wiped while nobody uses it");
  disk_.clear_faults();
  const storage::DataDirs dirs = storage::data_dirs(kDataDir);
  const auto names = disk_.list(dirs.snapshots);
  for (const std::string& name : *names) (void)disk_.unlink(storage::join_path(dirs.snapshots, name));
  must(disk_.sync_directory(dirs.snapshots));
  must(storage::remove_initialize_mark(disk_, dirs));
  impaired_ = has_lost_disk_ = true;
  stranger_ = has_history_ = false;
  arm_crash_point();
}

// The process is the caller: it may not end before it has returned.
void SimServer::on_over() {
  parts_.world.stop(actor_);
  parts_.world.after(0, [this, life = life_] {
    if (!process_ || life != life_) return;
    if (disk_.is_off()) parts_.world.count(Did::kCrashAtDisk);
    const Survival survival = next_survival();
    crash(one_in(random_, 4) ? Farewell::kSilent : Farewell::kReset, survival);
    restart_later();
  });
}

}  // namespace drover::sim
