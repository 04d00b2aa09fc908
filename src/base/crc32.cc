// SPDX-License-Identifier: Apache-2.0
#include "base/crc32.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace drover {
namespace {

constexpr std::uint32_t kPolynomial = 0xEDB88320;  // bit-reversed

// tables[k][b]: the remainder of byte b followed by k zero bytes.
using Tables = std::array<std::array<std::uint32_t, 256>, 8>;

constexpr Tables make_tables() {
  Tables tables{};
  for (std::uint32_t b = 0; b < 256; ++b) {
    std::uint32_t r = b;
    for (int bit = 0; bit < 8; ++bit) r = (r >> 1) ^ ((r & 1) != 0 ? kPolynomial : 0);
    tables[0][b] = r;
  }
  for (std::size_t k = 1; k < tables.size(); ++k) {
    for (std::size_t b = 0; b < 256; ++b) {
      const std::uint32_t r = tables[k - 1][b];
      tables[k][b] = (r >> 8) ^ tables[0][r & 0xFF];
    }
  }
  return tables;
}
constexpr Tables kTables = make_tables();

// `state` is the inverted checksum, which is the form of an intermediate remainder. Eight bytes per step.
std::uint32_t advance(std::uint32_t state, const char* p, std::size_t n) {
  static_assert(std::endian::native == std::endian::little);
  for (; n >= 8; p += 8, n -= 8) {
    std::uint64_t word;
    std::memcpy(&word, p, 8);
    word ^= state;
    state = 0;
    for (std::size_t i = 0; i < 8; ++i) state ^= kTables[7 - i][(word >> (8 * i)) & 0xFF];
  }
  for (; n > 0; ++p, --n) state = (state >> 8) ^ kTables[0][(state ^ static_cast<unsigned char>(*p)) & 0xFF];
  return state;
}

#if defined(__x86_64__)

// Folds `blocks` blocks of 16 bytes (at least two) into one block with the same remainder. The low half is
// multiplied with x^(128+32), the high half with x^128, modulo the polynomial. The factors are bit-reversed
// and shifted by one, as the multiplication of reversed numbers requires. The remaining 16 bytes are plain
// message.
__attribute__((target("pclmul,sse4.1"))) std::uint32_t fold(std::uint32_t state, const char* p,
                                                            std::size_t blocks) {
  const auto* block = reinterpret_cast<const __m128i*>(p);
  const __m128i factors = _mm_set_epi64x(0x00ccaa009e, 0x01751997d0);
  __m128i x = _mm_xor_si128(_mm_loadu_si128(block), _mm_cvtsi32_si128(static_cast<int>(state)));
  for (std::size_t i = 1; i < blocks; ++i) {
    const __m128i low = _mm_clmulepi64_si128(x, factors, 0x00);
    const __m128i high = _mm_clmulepi64_si128(x, factors, 0x11);
    x = _mm_xor_si128(_mm_xor_si128(low, high), _mm_loadu_si128(block + i));
  }
  char left[16];
  _mm_storeu_si128(reinterpret_cast<__m128i*>(left), x);
  return advance(0, left, sizeof left);
}

const bool kCanFold = __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1");

#endif

}  // namespace

std::uint32_t crc32_by_table(std::uint32_t crc, std::string_view bytes) {
  return ~advance(~crc, bytes.data(), bytes.size());
}

std::uint32_t crc32(std::uint32_t crc, std::string_view bytes) {
#if defined(__x86_64__)
  if (kCanFold && bytes.size() >= 48) {
    const std::size_t blocks = bytes.size() / 16;
    // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): `blocks` is its length
    const std::uint32_t state = fold(~crc, bytes.data(), blocks);
    return ~advance(state, bytes.data() + 16 * blocks, bytes.size() - 16 * blocks);
  }
#endif
  return crc32_by_table(crc, bytes);
}

}  // namespace drover
