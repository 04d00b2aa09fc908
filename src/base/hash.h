// SPDX-License-Identifier: Apache-2.0
//
// A fast seeded hash of short byte strings, for the tables that clients choose the keys of. The seed
// differs from process to process, so that nobody can prepare colliding paths.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace drover {

inline std::uint64_t mix64(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

inline std::uint64_t hash_bytes(std::string_view bytes, std::uint64_t seed) {
  constexpr std::uint64_t k0 = 0xA0761D6478BD642Full;
  constexpr std::uint64_t k1 = 0xE7037ED1A0B428DBull;
  const char* p = bytes.data();
  std::size_t n = bytes.size();
  const auto load64 = [](const char* at) {
    std::uint64_t v;
    std::memcpy(&v, at, 8);
    return v;
  };
  std::uint64_t h = seed ^ k0;
  while (n > 16) {
    h = mix64(load64(p) ^ k1, load64(p + 8) ^ h);
    p += 16;
    n -= 16;
  }
  // The last 16 bytes or fewer; overlapping loads instead of a byte loop.
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  if (n >= 8) {
    a = load64(p);
    b = load64(p + n - 8);
  } else if (n > 0) {
    std::memcpy(&a, p, n);
  }
  return mix64(k1 ^ bytes.size(), mix64(a ^ k1, b ^ h));
}

}  // namespace drover
