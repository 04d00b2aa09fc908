// SPDX-License-Identifier: Apache-2.0
//
// memcmp() for short texts that are expected to be equal, without the call.
//
// Every lookup of a node compares a few names of a few bytes, and the calls took a fifth of its time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace drover {
namespace detail {

template <class Word>
bool same_word(const char* a, const char* b) {
  Word x, y;
  std::memcpy(&x, a, sizeof x);
  std::memcpy(&y, b, sizeof y);
  return x == y;
}

}  // namespace detail

// Compares whole words. The last one may overlap the one before it, so no byte outside is read.
inline bool same_bytes(const char* a, const char* b, std::size_t n) {
  using Long = std::uint64_t;
  using Short = std::uint32_t;
  if (n >= sizeof(Long)) {
    for (std::size_t i = 0; i + sizeof(Long) < n; i += sizeof(Long)) {
      if (!detail::same_word<Long>(a + i, b + i)) return false;
    }
    return detail::same_word<Long>(a + n - sizeof(Long), b + n - sizeof(Long));
  }
  if (n >= sizeof(Short)) {
    const std::size_t last = n - sizeof(Short);
    return detail::same_word<Short>(a, b) && detail::same_word<Short>(a + last, b + last);
  }
  for (std::size_t i = 0; i < n; ++i) {
    if (a[i] != b[i]) return false;
  }
  return true;
}

}  // namespace drover
