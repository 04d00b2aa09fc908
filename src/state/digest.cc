// SPDX-License-Identifier: Apache-2.0
#include "state/digest.h"

#include "base/crc32.h"

namespace drover::state {

std::uint32_t content_crc(std::string_view path, const wire::Nullable& data) {
  const std::uint32_t crc = crc32(0, path);
  return data ? crc32(crc, *data) : crc;
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
  return crc32(crc, {b, sizeof b});
}

}  // namespace drover::state
