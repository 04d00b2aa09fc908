// SPDX-License-Identifier: Apache-2.0
//
// Helpers for protocol tests: bytes as hex, and request bodies as clients send them.
#pragma once

#include <cctype>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error_code.h"
#include "wire/jute.h"
#include "wire/records.h"
#include "wire/requests.h"

namespace drover {

// For GoogleTest's messages.
inline void PrintTo(ErrorCode code, std::ostream* out) { *out << name_of(code); }

}  // namespace drover

namespace drover::wire::testing {

inline std::string to_hex(std::string_view bytes) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    text += kDigits[static_cast<unsigned char>(c) >> 4];
    text += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return text;
}

// Ignores all characters except hex digits: "00000001 | 2f61".
inline std::string from_hex(std::string_view text) {
  std::string bytes;
  int high = -1;
  for (const char c : text) {
    if (!std::isxdigit(static_cast<unsigned char>(c))) continue;
    const int digit = c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
    if (high < 0) {
      high = digit;
    } else {
      bytes.push_back(static_cast<char>(high << 4 | digit));
      high = -1;
    }
  }
  return bytes;
}

// The bytes that `write(Writer&)` appends.
template <class Write>
std::string written(Write write) {
  std::string bytes;
  Writer w(bytes);
  write(w);
  return bytes;
}

inline std::string acl_bytes(const std::vector<Acl>& list) {
  return written([&](Writer& w) { encode_acl_list(w, list); });
}

struct CreateArgs {
  Nullable data = std::string_view{};
  std::string acl = open_acl_bytes();
  std::int32_t flags = kPersistent;
};
inline std::string create_body(const Nullable& path, const CreateArgs& args = {}) {
  return written([&](Writer& w) {
    w.buffer(path);
    w.buffer(args.data);
    w.raw(args.acl);
    w.i32(args.flags);
  });
}
inline std::string create_ttl_body(const Nullable& path, std::int64_t ttl_ms,
                                   std::int32_t flags = kPersistentTtl) {
  return create_body(path, {.flags = flags}) + written([&](Writer& w) { w.i64(ttl_ms); });
}
// delete, check
inline std::string path_version_body(const Nullable& path, std::int32_t version = -1) {
  return written([&](Writer& w) {
    w.buffer(path);
    w.i32(version);
  });
}
inline std::string set_data_body(const Nullable& path, const Nullable& data, std::int32_t version = -1) {
  return written([&](Writer& w) {
    w.buffer(path);
    w.buffer(data);
    w.i32(version);
  });
}
inline std::string set_acl_body(const Nullable& path, std::string_view acl, std::int32_t version = -1) {
  return written([&](Writer& w) {
    w.buffer(path);
    w.raw(acl);
    w.i32(version);
  });
}
// exists, getData, getChildren, getChildren2
inline std::string path_watch_body(const Nullable& path, bool watch = false) {
  return written([&](Writer& w) {
    w.buffer(path);
    w.boolean(watch);
  });
}
// addWatch, checkWatches, removeWatches
inline std::string path_type_body(const Nullable& path, std::int32_t type) {
  return written([&](Writer& w) {
    w.buffer(path);
    w.i32(type);
  });
}
inline std::string path_body(const Nullable& path) {
  return written([&](Writer& w) { w.buffer(path); });
}

using PathList = std::vector<std::string_view>;
inline std::string set_watches_body(Zxid since, const std::vector<PathList>& lists) {
  return written([&](Writer& w) {
    w.i64(raw(since));
    for (const PathList& list : lists) {
      w.i32(static_cast<std::int32_t>(list.size()));
      for (const std::string_view path : list) w.string(path);
    }
  });
}

// A multi of (type, body) pairs with its end header.
using MultiPart = std::pair<OpCode, std::string>;
inline std::string multi_body(const std::vector<MultiPart>& parts) {
  return written([&](Writer& w) {
    for (const auto& [type, body] : parts) {
      encode(w, MultiHeader{type, false, -1});
      w.raw(body);
    }
    encode(w, kMultiEnd);
  });
}

}  // namespace drover::wire::testing
