// SPDX-License-Identifier: Apache-2.0
#include "http/admin_restore.h"

#include <fmt/format.h>

#include "http/trial_state.h"
#include "log/log.h"
#include "runtime/clock.h"
#include "storage/data_dir.h"
#include "storage/file_names.h"
#include "storage/posix_disk.h"
#include "storage/set_aside.h"
#include "storage/snapshot_reader.h"

namespace drover::server {
namespace {

// Reserved for the log, which shares the disk with uploads.
constexpr std::uint64_t kSpaceForOthers = 256 << 20;
constexpr std::uint64_t kLookForSpaceEvery = 4 << 20;

storage::Compression compression_of(std::string_view first_bytes) {
  if (first_bytes.starts_with("\x1f\x8b")) return storage::Compression::kGzip;
  if (first_bytes.starts_with("\x82SNAPPY")) return storage::Compression::kSnappy;
  return storage::Compression::kNone;
}

class RestoreSink : public BodySink {
 public:
  RestoreSink(const ServerInside& inside, std::string_view command, std::atomic<bool>& busy)
      : inside_(inside),
        command_(command),
        busy_(busy),
        dirs_(storage::data_dirs(inside.config.data_dir, inside.config.data_log_dir)),
        name_(storage::temporary_name("restore")),
        begun_(monotonic_now()) {}
  ~RestoreSink() override {
    file_.reset();
    (void)storage::unlink_if_exists(disk_, path());
    // After the mark this server accepts no other restore: it ends.
    if (marked_) return;
    inside_.limits.counts.count([](auto& values) { ++values.restores_failed; });
    inside_.limits.restores.give_back();
    if (!stopped_) busy_ = false;
  }

  bool write(std::string_view piece) override {
    if (auto written = append(piece); !written) failure_ = written.error();
    return !failure_;
  }

  HttpResponse finish() override {
    if (failure_) return answer(500, failure_->what);
    const auto zxid = install();
    if (!zxid) {
      log_warn("http", "restore: {}", zxid.error().what);
      const int status = too_large_ ? 413 : zxid.error().code == 0 ? 400 : 500;
      HttpResponse refusal = answer(status, zxid.error().what);
      if (stopped_) refusal.after_sent = inside_.start_anew;  // serve the old state again
      return refusal;
    }
    log_warn("http", "restore: restarting from the uploaded snapshot of zxid {:#x}", raw(*zxid));
    PrettyJson json;
    json.begin_object().field("last_zxid", raw(*zxid));
    HttpResponse response = json_response(200, finish_answer(std::move(json), command_));
    response.after_sent = inside_.start_anew;
    return response;
  }

 private:
  std::string path() const { return storage::join_path(dirs_.snapshots, name_); }
  HttpResponse answer(int status, std::string_view error) {
    return json_response(status, bare_answer(command_, error));
  }

  IoResult<void> append(std::string_view piece) {
    if (!file_) {
      TRY_ASSIGN(file_, disk_.open(path(), storage::OpenMode::kCreate));
      compression_ = compression_of(piece);
    }
    if (bytes_ >= look_again_at_) {
      look_again_at_ = bytes_ + kLookForSpaceEvery;
      TRY_ASSIGN(const std::uint64_t free, disk_.free_bytes(dirs_.snapshots));
      if (free < kSpaceForOthers)
        return std::unexpected(io_error(ENOSPC, "cannot store the uploaded snapshot"));
    }
    TRY(file_->write_at(bytes_, piece));
    bytes_ += piece.size();
    return {};
  }

  // A write that is acknowledged after the mark would be lost. So clients are disconnected first. After the
  // mark the next start decides, and uses the old state as long as the new one is not loaded.
  IoResult<Zxid> install() {
    if (!file_) return std::unexpected(data_error("the body is empty"));
    TRY(file_->sync());
    file_.reset();
    TRY_ASSIGN(const storage::SnapshotInfo info, try_to_load());
    if (!info.last_processed)
      return std::unexpected(
          data_error("the snapshot does not contain its last zxid (serializeLastProcessedZxid)"));
    if (*info.last_processed < Zxid{0})
      return std::unexpected(data_error("the snapshot's last zxid is negative"));
    TRY(storage::keep_sent_snapshot(disk_, dirs_, name_,
                                    storage::snapshot_name(*info.last_processed, compression_)));
    stopped_ = true;
    inside_.stop_serving();
    TRY(storage::set_replacing_mark(disk_, dirs_, storage::Replacing::kTrying));
    marked_ = true;
    const auto took_ms = static_cast<std::uint64_t>(monotonic_now() - begun_);
    inside_.limits.counts.count([&](auto& values) { values.restore_ms.add(took_ms); });
    return *info.last_processed;
  }

  // Loads into a temporary state: everything that the next start would reject is rejected now.
  IoResult<storage::SnapshotInfo> try_to_load() {
    TrialState state(inside_.machine.options, trial_bounds(inside_.config.admin.restore_max_state_mb));
    auto info = storage::read_snapshot(disk_, dirs_.snapshots, {Zxid{0}, compression_, name_}, state);
    too_large_ = !state.beyond().empty();
    if (too_large_) return std::unexpected(data_error(state.beyond()));
    return info;
  }

  const ServerInside& inside_;
  const std::string_view command_;
  std::atomic<bool>& busy_;
  storage::PosixDisk disk_;
  const storage::DataDirs dirs_;
  const std::string name_;
  const Instant begun_;
  std::unique_ptr<storage::File> file_;
  storage::Compression compression_ = storage::Compression::kNone;
  bool too_large_ = false;
  bool stopped_ = false;
  bool marked_ = false;
  std::uint64_t bytes_ = 0;
  std::uint64_t look_again_at_ = 0;
  std::optional<IoError> failure_;
};

}  // namespace

std::string_view Restore::hindrance() const {
  if (!inside_.config.admin.restore_enabled) return "admin.restore.enabled is false";
  if (inside_.config.ensemble.is_distributed())
    return "a single member of an ensemble cannot be restored: stop all members and give each the snapshot";
  if (!inside_.start_anew) return "this process cannot restart its server";
  return {};
}

UploadStart Restore::begin(const AdminCommand& command) {
  if (busy_.exchange(true))
    return json_response(429, bare_answer(command.name, "another restore is in progress"));
  if (!inside_.limits.restores.allow(monotonic_now(), inside_.config.admin.rate_limit_interval_ms)) {
    busy_ = false;
    inside_.limits.counts.count([](auto& values) { ++values.restores_limited; });
    return json_response(
        429, bare_answer(command.name, "only one restore is allowed per admin.rateLimiterIntervalInMS"));
  }
  return std::make_unique<RestoreSink>(inside_, command.name, busy_);
}

}  // namespace drover::server
