// SPDX-License-Identifier: Apache-2.0
#include "storage/snapshot_stream.h"

namespace drover::storage {
namespace {

constexpr std::size_t kSignatureBytes = 4 + kSnapshotStreamSignature.size();

const std::string& signature() {
  static const std::string bytes = [] {
    std::string out;
    wire::Writer(out).string(kSnapshotStreamSignature);
    return out;
  }();
  return bytes;
}

}  // namespace

void append_snapshot_stream_end(std::string& out) {
  append_snapshot_end(out);
  out += signature();
}

std::size_t SnapshotStreamReader::needed() const {
  if (!body_.done()) return body_.needed();
  return done_ ? 0 : kSignatureBytes;
}

IoResult<std::size_t> SnapshotStreamReader::feed(std::string_view bytes) {
  if (done_) return 0;
  std::size_t taken = 0;
  if (!body_.done()) {
    TRY_ASSIGN(taken, body_.feed(bytes));
    if (!body_.done()) return taken;
  }
  TRY_ASSIGN(const std::size_t n, take_signature(bytes.substr(taken)));
  return taken + n;
}

// Rejects wrong bytes as soon as they arrive, not only when the signature is complete: a leader that sent
// something else might not send that many bytes.
IoResult<std::size_t> SnapshotStreamReader::take_signature(std::string_view bytes) {
  const std::string_view front = bytes.substr(0, kSignatureBytes);
  if (!signature().starts_with(front)) {
    return std::unexpected(data_error("corrupt snapshot at byte " + std::to_string(body_.position()) +
                                      ": it does not end with its signature"));
  }
  if (front.size() < kSignatureBytes) return 0;
  done_ = true;
  return kSignatureBytes;
}

}  // namespace drover::storage
