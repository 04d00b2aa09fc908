// SPDX-License-Identifier: Apache-2.0
//
// Arbitrary snapshots, plain, gzip and snappy. The reader must not crash, and must not allocate memory based
// on lengths in the file.
//
// Input: the first byte chooses the compression, the rest is the file.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "storage/byte_stream.h"
#include "storage/compression.h"
#include "storage/snapshot_reader.h"

namespace {

using namespace drover;
using namespace drover::storage;

// Reads every byte of its arguments, so that a sanitizer detects an invalid view.
class TouchingSink final : public SnapshotSink {
 public:
  bool session(SessionId id, std::int32_t timeout_ms) override {
    sum_ += static_cast<std::uint64_t>(raw(id)) + static_cast<std::uint64_t>(timeout_ms);
    return true;
  }
  bool acl(std::int64_t key, std::string_view jute_list) override {
    sum_ += static_cast<std::uint64_t>(key);
    touch(jute_list);
    return true;
  }
  bool node(std::string_view path, const wire::Nullable& data, std::int64_t acl,
            const wire::StatPersisted& stat) override {
    touch(path);
    if (data) touch(*data);
    sum_ += static_cast<std::uint64_t>(acl) + static_cast<std::uint64_t>(raw(stat.czxid));
    return true;
  }

 private:
  void touch(std::string_view bytes) {
    for (const char c : bytes) sum_ += static_cast<unsigned char>(c);
  }
  volatile std::uint64_t sum_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  constexpr Compression kChoices[] = {Compression::kNone, Compression::kGzip, Compression::kSnappy};
  MemorySource file(std::string_view(reinterpret_cast<const char*>(data) + 1, size - 1));
  const auto plain = decompress(kChoices[data[0] % 3], file);
  TouchingSink sink;
  (void)read_snapshot(*plain, sink);
  return 0;
}
