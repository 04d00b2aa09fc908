// SPDX-License-Identifier: Apache-2.0
#include "state/digest.h"

#include <zlib.h>

namespace drover::state {
namespace {

const Bytef* bytes_of(std::string_view s) { return reinterpret_cast<const Bytef*>(s.data()); }

}  // namespace

std::uint32_t content_crc(std::string_view path, const wire::Nullable& data) {
  uLong crc = path.empty() ? 0 : crc32(0, bytes_of(path), static_cast<uInt>(path.size()));
  // crc32() with a null pointer would start afresh, so empty data must not reach it.
  if (data && !data->empty()) crc = crc32(crc, bytes_of(*data), static_cast<uInt>(data->size()));
  return static_cast<std::uint32_t>(crc);
}

std::uint64_t node_digest(std::uint32_t crc, const wire::StatPersisted& s) {
  char b[60];
  wire::store_be(b, raw(s.czxid));
  wire::store_be(b + 8, raw(s.mzxid));
  wire::store_be(b + 16, raw(s.pzxid));
  wire::store_be(b + 24, s.ctime);
  wire::store_be(b + 32, s.mtime);
  wire::store_be(b + 40, s.version);
  wire::store_be(b + 44, s.cversion);
  wire::store_be(b + 48, s.aversion);
  wire::store_be(b + 52, s.ephemeral_owner);
  return crc32(crc, reinterpret_cast<const Bytef*>(b), sizeof b);
}

}  // namespace drover::state
