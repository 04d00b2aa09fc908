// SPDX-License-Identifier: Apache-2.0
#include "storage/snapshot_writer.h"

#include <zlib.h>

#include "base/ensure.h"
#include "storage/file_names.h"
#include "storage/snapshot_body.h"

namespace drover::storage {
namespace {

constexpr std::size_t kFlushBytes = std::size_t{256} << 10;
// For callers that do not call sync(): one flush of the whole snapshot at its end would block the log's sync
// for seconds.
constexpr std::uint64_t kSyncEveryBytes = std::uint64_t{16} << 20;

class FileSink final : public ByteSink {
 public:
  explicit FileSink(std::unique_ptr<File> file) : file_(std::move(file)) {}

  IoResult<void> write(std::string_view bytes) override {
    TRY(file_->write_at(position_, bytes));
    position_ += bytes.size();
    unsynced_ += bytes.size();
    return unsynced_ < kSyncEveryBytes ? IoResult<void>{} : finish();
  }
  IoResult<void> finish() override {
    unsynced_ = 0;
    return file_->sync();
  }
  std::uint64_t unsynced() const { return unsynced_; }

 private:
  std::unique_ptr<File> file_;
  std::uint64_t position_ = 0;
  std::uint64_t unsynced_ = 0;
};

}  // namespace

struct SnapshotWriter::State {
  Disk& disk;
  std::string directory;
  std::string name;
  FileSink file;
  std::unique_ptr<ByteSink> out{};
  std::string buffer{};
  std::uint32_t adler = 1;
  std::size_t summed = 0;  // how much of the buffer is in adler
  std::uint32_t sessions_due = 0;
  std::uint32_t acls_due = 0;
  bool acls_begun = false;
  bool finished = false;
  IoResult<void> result{};

  void fold() {
    adler = static_cast<std::uint32_t>(adler32_z(
        adler, reinterpret_cast<const unsigned char*>(buffer.data()) + summed, buffer.size() - summed));
    summed = buffer.size();
  }

  void flush() {
    fold();
    if (result) result = out->write(buffer);
    buffer.clear();
    summed = 0;
  }

  void seal() {
    fold();
    wire::Writer w(buffer);
    w.i64(adler);
    w.string(kEndMarker);
  }
};

SnapshotWriter::SnapshotWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
SnapshotWriter::SnapshotWriter(SnapshotWriter&&) noexcept = default;

SnapshotWriter::~SnapshotWriter() {
  if (!state_ || state_->finished) return;
  (void)state_->disk.unlink(join_path(state_->directory, temporary_name(state_->name)));
}

IoResult<SnapshotWriter> SnapshotWriter::open(Disk& disk, const std::string& directory, Zxid zxid,
                                              const SnapshotOptions& options) {
  const std::string plain = snapshot_name(zxid, options.compression);
  const std::string name = options.incoming ? incoming_name(plain) : plain;
  TRY_ASSIGN(auto file, disk.open(join_path(directory, temporary_name(name)), OpenMode::kCreate));
  auto state = std::unique_ptr<State>(new State{disk, directory, name, FileSink(std::move(file))});
  state->out = compress_to(options.compression, state->file);
  wire::Writer w(state->buffer);
  w.i32(kSnapshotMagic);
  w.i32(kSnapshotVersion);
  w.i64(kSnapshotDbId);
  return SnapshotWriter(std::move(state));
}

void SnapshotWriter::begin_sessions(std::uint32_t count) {
  state_->sessions_due = count;
  append_snapshot_count(state_->buffer, count);
}

void SnapshotWriter::session(SessionId id, std::int32_t timeout_ms) {
  ENSURE(state_->sessions_due > 0, "the sessions match the announced count");
  --state_->sessions_due;
  append_snapshot_session(state_->buffer, id, timeout_ms);
  flush_if_large();
}

void SnapshotWriter::begin_acls(std::uint32_t count) {
  ENSURE(state_->sessions_due == 0, "the sessions match the announced count");
  state_->acls_due = count;
  state_->acls_begun = true;
  append_snapshot_count(state_->buffer, count);
}

void SnapshotWriter::acl(std::int64_t key, std::string_view jute_list) {
  ENSURE(state_->acls_due > 0, "the ACLs match the announced count");
  --state_->acls_due;
  append_snapshot_acl(state_->buffer, key, jute_list);
  flush_if_large();
}

void SnapshotWriter::node(std::string_view path, const wire::Nullable& data, std::int64_t acl,
                          const wire::StatPersisted& stat) {
  ENSURE(state_->acls_begun && state_->acls_due == 0, "nodes come after sessions and ACLs");
  append_snapshot_node(state_->buffer, path, data, acl, stat);
  flush_if_large();
}

void SnapshotWriter::flush_if_large() {
  if (state_->buffer.size() >= kFlushBytes) state_->flush();
}

bool SnapshotWriter::failed() const { return !state_->result; }

std::uint64_t SnapshotWriter::unsynced_bytes() const { return state_->file.unsynced(); }

void SnapshotWriter::sync() {
  if (state_->result) state_->result = state_->file.finish();
}

IoResult<std::string> SnapshotWriter::finish(const SnapshotSeals& seals) {
  ENSURE(state_->acls_begun && state_->acls_due == 0, "a snapshot has all its parts");
  append_snapshot_end(state_->buffer);
  state_->seal();
  wire::Writer w(state_->buffer);
  if (seals.digest) {
    w.i64(raw(seals.digest->zxid));
    w.i32(seals.digest->version);
    w.i64(static_cast<std::int64_t>(seals.digest->tree));
    state_->seal();
  }
  if (seals.last_processed) {
    w.i64(raw(*seals.last_processed));
    state_->seal();
  }
  state_->flush();
  TRY(state_->result);
  TRY(state_->out->finish());
  TRY(state_->disk.rename(join_path(state_->directory, temporary_name(state_->name)),
                          join_path(state_->directory, state_->name)));
  state_->finished = true;
  TRY(state_->disk.sync_directory(state_->directory));
  return state_->name;
}

}  // namespace drover::storage
