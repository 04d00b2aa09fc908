// SPDX-License-Identifier: Apache-2.0
#include "storage/snapshot_reader.h"

#include <charconv>

#include "storage/snapshot_body.h"

namespace drover::storage {
namespace {

constexpr std::size_t kHeaderBytes = 16;
constexpr std::size_t kSealBytes = 8 + 4 + kEndMarker.size();
constexpr std::size_t kLastProcessedBytes = 8;
// Larger than all known seals; anything longer comes from an unknown version.
constexpr std::size_t kSealsBytesMax = 256;

std::unexpected<IoError> corrupt(const InputWindow& in, const char* what) {
  return std::unexpected(
      data_error("corrupt snapshot at byte " + std::to_string(in.position()) + ": " + what));
}

// Exactly the next `n` bytes.
IoResult<std::string_view> exactly(InputWindow& in, std::size_t n) {
  TRY_ASSIGN(const std::string_view bytes, in.need(n));
  if (bytes.size() < n) return corrupt(in, "the file ends early");
  return bytes.substr(0, n);
}

// Consumes `content` bytes and the seal after them if the seal is correct.
bool take_sealed(InputWindow& in, std::size_t content) {
  const std::string_view bytes = in.available();
  if (bytes.size() < content + kSealBytes) return false;
  // Check before consuming, because consumed bytes enter the checksum.
  const std::string_view seal = bytes.substr(content, kSealBytes);
  const std::int64_t sum = wire::load_be<std::int64_t>(seal.data());
  wire::Reader marker(seal.substr(8));
  if (marker.string() != kEndMarker) return false;
  if (in.checksum_with(content) != sum) return false;
  in.consume(content + kSealBytes);
  return true;
}

// zxid, version and digest. Before version 2 the digest was text in hex.
struct DigestField {
  SnapshotDigest digest;
  std::size_t bytes = 0;
};
std::optional<DigestField> parse_digest(std::string_view bytes) {
  wire::Reader r(bytes);
  DigestField field;
  field.digest.zxid = Zxid{r.i64()};
  field.digest.version = r.i32();
  if (field.digest.version >= kDigestVersion) {
    field.digest.tree = static_cast<std::uint64_t>(r.i64());
  } else {
    const std::string_view text = r.string();
    if (std::from_chars(text.data(), text.data() + text.size(), field.digest.tree, 16).ec != std::errc{}) {
      return std::nullopt;
    }
  }
  field.bytes = r.position();
  return r.ok() ? std::optional(field) : std::nullopt;
}

// Seals 2 and 3 are optional: they depend on the writer's version and configuration. A seal that is present
// must be correct: a damaged seal means a damaged snapshot, not an older one.
IoResult<void> read_optional_seals(InputWindow& in, SnapshotInfo& info) {
  TRY(in.need(kSealsBytesMax));
  if (const auto field = parse_digest(in.available()); field && take_sealed(in, field->bytes)) {
    info.digest = field->digest;
  }
  TRY(in.need(kSealsBytesMax));
  const std::string_view rest = in.available();
  if (rest.empty()) return {};
  const Zxid last{rest.size() < kLastProcessedBytes ? 0 : wire::load_be<std::int64_t>(rest.data())};
  if (take_sealed(in, kLastProcessedBytes)) {
    info.last_processed = last;
    return {};
  }
  // After a valid seal 2 only seal 3 is known; other lengths belong to a newer version, which we may ignore.
  if (!info.digest || rest.size() == kLastProcessedBytes + kSealBytes)
    return corrupt(in, "seal does not match");
  return {};
}

class NullSink final : public SnapshotSink {
 public:
  bool session(SessionId, std::int32_t) override { return true; }
  bool acl(std::int64_t, std::string_view) override { return true; }
  bool node(std::string_view, const wire::Nullable&, std::int64_t, const wire::StatPersisted&) override {
    return true;
  }
};

}  // namespace

IoResult<SnapshotInfo> read_snapshot_body(InputWindow& in, SnapshotSink& sink) {
  SnapshotBodyParser body(sink, {}, in.position());
  while (!body.done()) {
    TRY_ASSIGN(const std::string_view bytes, in.need(body.needed()));
    if (bytes.size() < body.needed()) return corrupt(in, "the file ends early");
    TRY_ASSIGN(const std::size_t taken, body.feed(bytes));
    in.consume(taken);
  }
  return body.info();
}

IoResult<SnapshotInfo> read_snapshot(ByteSource& source, SnapshotSink& sink) {
  InputWindow in(source);
  in.start_checksum();
  TRY_ASSIGN(const std::string_view header, exactly(in, kHeaderBytes));
  if (wire::load_be<std::int32_t>(header.data()) != kSnapshotMagic) return corrupt(in, "not a snapshot");
  in.consume(kHeaderBytes);
  TRY_ASSIGN(SnapshotInfo info, read_snapshot_body(in, sink));
  TRY(exactly(in, kSealBytes));
  if (!take_sealed(in, 0)) return corrupt(in, "checksum mismatch");
  TRY(read_optional_seals(in, info));
  return info;
}

IoResult<SnapshotInfo> read_snapshot(Disk& disk, const std::string& directory, const SnapshotFile& file,
                                     SnapshotSink& sink) {
  TRY_ASSIGN(const auto opened, disk.open(join_path(directory, file.name), OpenMode::kRead));
  FileSource source(*opened);
  const auto plain = decompress(file.compression, source);
  auto info = read_snapshot(*plain, sink);
  if (!info) info.error().what = file.name + ": " + info.error().what;
  return info;
}

IoResult<SnapshotInfo> verify_snapshot(Disk& disk, const std::string& directory, const SnapshotFile& file) {
  NullSink sink;
  return read_snapshot(disk, directory, file, sink);
}

bool reaches_beyond(const SnapshotFile& file, const SnapshotInfo& info, Zxid zxid) {
  return file.zxid > zxid || info.newest > zxid || (info.digest && info.digest->zxid > zxid) ||
         info.last_processed > zxid;
}

}  // namespace drover::storage
