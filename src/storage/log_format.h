// SPDX-License-Identifier: Apache-2.0
//
// The transaction log's bytes, as ZooKeeper writes them:
//
//   5a4b4c47 ("ZKLG")  00000002 (version)  0000000000000000 (dbid)            16 bytes, then per txn:
//   00000000 aaaaaaaa (Adler-32 of the entry)  nnnnnnnn (its length)  entry  42 ('B')
//   zeros up to the preallocated size: a length of 0 is the end
//
// This layer reads only the zxid of an entry: clientId i64, cxid i32, zxid i64, ...
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/hash.h"
#include "base/ids.h"
#include "wire/jute.h"

namespace drover::storage {

inline constexpr std::int32_t kLogMagic = 0x5A4B4C47;
inline constexpr std::int32_t kLogVersion = 2;
inline constexpr std::size_t kLogHeaderBytes = 16;
inline constexpr std::size_t kFrameHeaderBytes = 12;
inline constexpr std::size_t kFrameOverheadBytes = kFrameHeaderBytes + 1;
inline constexpr char kEndOfRecord = 'B';
// Every entry starts with a TxnHeader.
inline constexpr std::size_t kEntryBytesMin = 32;
inline constexpr std::size_t kEntryZxidOffset = 12;

inline Zxid zxid_of_entry(std::string_view entry) {
  return Zxid{wire::load_be<std::int64_t>(entry.data() + kEntryZxidOffset)};
}

// Returns whether `zxid` may come right after `previous`. An epoch has no gaps, and every leader's first
// proposal has counter 1. (A standalone server's counter overflows from 0xffffffff to 0.)
constexpr bool follows(Zxid previous, Zxid zxid) {
  return zxid == next(previous) || (epoch_of(zxid) > epoch_of(previous) && counter_of(zxid) == 1);
}
static_assert(follows(Zxid{5}, Zxid{6}) && !follows(Zxid{5}, Zxid{7}) && !follows(Zxid{5}, Zxid{5}));
static_assert(follows(Zxid{5}, Zxid{0x1'0000'0001}) && !follows(Zxid{5}, Zxid{0x1'0000'0002}));

// A hash over the whole content of a log file. The next file stores it to identify its predecessor.
class LogChain {
 public:
  void add(Zxid zxid, std::uint32_t checksum, std::size_t length) {
    const std::uint64_t record = (std::uint64_t{checksum} << 32) | static_cast<std::uint32_t>(length);
    value_ = mix64(value_ ^ record ^ 0x9E3779B97F4A7C15ull, static_cast<std::uint64_t>(raw(zxid)) | 1);
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0;
};

std::uint32_t adler32_of(std::string_view bytes);
void append_log_header(std::string& out);
// Frames one entry.
void append_frame(std::string& out, std::string_view entry, LogChain& chain);

}  // namespace drover::storage
