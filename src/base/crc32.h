// SPDX-License-Identifier: Apache-2.0
//
// CRC-32 as zlib, gzip and Java compute it, fast on short inputs.
//
// The server digests each changed node before and after the change, once in prepare and again in apply.
// zlib's crc32 was 29 % of the server's samples under load; carry-less multiplication folds 16 bytes at a
// time.
#pragma once

#include <cstdint>
#include <string_view>

namespace drover {

// The checksum of data followed by `bytes`, where `crc` is the checksum of that data (0 if there is none).
std::uint32_t crc32(std::uint32_t crc, std::string_view bytes);

// The same with tables only. Used on processors without carry-less multiplication.
std::uint32_t crc32_by_table(std::uint32_t crc, std::string_view bytes);

}  // namespace drover
