// SPDX-License-Identifier: Apache-2.0
//
// The meaning of a node's bytes, as a pair of functions.
//
//   Codec<Limits> limits{.encode = to_json, .decode = from_json};
//   ConfigNode<Limits> config(client, "/app/limits", limits);
//
// decode() returns kBadData for bytes that it cannot read; it never guesses.
//
// Curator: ModelSerializer (x-async), SharedCount's and DistributedAtomicLong's byte order. kazoo: none.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>

#include "drover/error.h"

namespace drover::recipes {

template <class T>
struct Codec {
  std::function<std::string(const T&)> encode;
  std::function<Result<T>(std::string_view)> decode;
};

// The bytes themselves.
inline Codec<std::string> text_codec() {
  return {[](const std::string& text) { return text; },
          [](std::string_view bytes) -> Result<std::string> { return std::string(bytes); }};
}

// Big-endian, as in Java's ByteBuffer. No bytes mean zero, as in Curator; bytes after the number are
// ignored.
template <class Integer>
Codec<Integer> big_endian_codec() {
  using Bits = std::make_unsigned_t<Integer>;
  return {[](const Integer& value) {
            std::string bytes(sizeof(Integer), '\0');
            for (std::size_t i = 0; i < sizeof(Integer); ++i) {
              bytes[i] =
                  static_cast<char>(static_cast<Bits>(value) >> (8 * (sizeof(Integer) - 1 - i)) & 0xff);
            }
            return bytes;
          },
          [](std::string_view bytes) -> Result<Integer> {
            if (bytes.empty()) return Integer{0};
            if (bytes.size() < sizeof(Integer)) return fail(Errc::kBadData, {}, "too short for the number");
            Bits value = 0;
            for (std::size_t i = 0; i < sizeof(Integer); ++i) {
              value = static_cast<Bits>(value << 8 | static_cast<unsigned char>(bytes[i]));
            }
            return static_cast<Integer>(value);
          }};
}

}  // namespace drover::recipes
