// SPDX-License-Identifier: Apache-2.0
#include "storage/log_format.h"

#include <zlib.h>

namespace drover::storage {

std::uint32_t adler32_of(std::string_view bytes) {
  return static_cast<std::uint32_t>(
      adler32_z(1, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()));
}

void append_log_header(std::string& out) {
  wire::Writer w(out);
  w.i32(kLogMagic);
  w.i32(kLogVersion);
  w.i64(0);
}

void append_frame(std::string& out, std::string_view entry, LogChain& chain) {
  const std::uint32_t checksum = adler32_of(entry);
  chain.add(zxid_of_entry(entry), checksum, entry.size());
  wire::Writer w(out);
  w.i64(checksum);
  w.string(entry);
  w.byte(kEndOfRecord);
}

}  // namespace drover::storage
