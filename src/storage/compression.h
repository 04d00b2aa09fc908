// SPDX-License-Identifier: Apache-2.0
//
// Snapshots may be compressed; the file's suffix says how. gzip is RFC 1952; snappy is the framing of
// snappy-java's SnappyOutputStream, which is not the framing format of the snappy project:
//
//   82 'S' 'N' 'A' 'P' 'P' 'Y' 00   00000001 (version)   00000001 (oldest compatible version)
//   repeat: int length, raw snappy block of at most 32 KiB of input
#pragma once

#include <memory>
#include <string_view>

#include "storage/byte_stream.h"

namespace drover::storage {

enum class Compression { kNone, kGzip, kSnappy };

// "", ".gz", ".snappy".
std::string_view suffix_of(Compression compression);

// Compresses everything that is written and passes it to `to`, which outlives the returned sink.
std::unique_ptr<ByteSink> compress_to(Compression compression, ByteSink& to);
// Decompresses `from`, which outlives the returned source.
std::unique_ptr<ByteSource> decompress(Compression compression, ByteSource& from);

}  // namespace drover::storage
