// SPDX-License-Identifier: Apache-2.0
//
// Arbitrary log files and side files. Recovery must not crash, hang, or return a transaction that does not
// follow its predecessor.
//
// Input: the first byte chooses where the rest is split into a first log, a second log and a side file.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/ensure.h"
#include "storage/log_format.h"
#include "storage/log_links.h"
#include "storage/memory_disk.h"
#include "storage/txn_log_reader.h"

namespace {

using namespace drover;
using namespace drover::storage;

void read_all(Disk& disk) {
  auto reader = TxnLogReader::open(disk, "/d", {.after = Zxid{0}});
  ENSURE(reader.has_value(), "a directory that exists can be listed");
  Zxid last{0};
  for (;;) {
    const auto record = reader->next();
    if (!record || !*record) break;
    ENSURE(follows(last, (*record)->zxid), "the reader never jumps over a hole");
    ENSURE((*record)->entry.size() >= kEntryBytesMin, "an entry has a header");
    last = (*record)->zxid;
  }
  ENSURE(reader->last() == last, "the reader knows where it stands");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  const std::size_t first_end = bytes.size() * data[0] / 255;
  const std::size_t second_end = first_end + (bytes.size() - first_end) * data[1] / 255;
  MemoryDisk disk(1);
  ENSURE(disk.make_directories("/d").has_value(), "an empty disk has room");
  disk.set_contents("/d/log.1", std::string(bytes.substr(0, first_end)));
  if (second_end > first_end) {
    disk.set_contents("/d/log.100000001", std::string(bytes.substr(first_end, second_end - first_end)));
  }
  if (bytes.size() > second_end) {
    disk.set_contents("/d/" + std::string(kLogLinksName), std::string(bytes.substr(second_end)));
  }
  read_all(disk);
  return 0;
}
