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
  if (n >= 4) {
    std::uint32_t word;
    std::memcpy(&word, p, 4);
    word ^= state;
    state = 0;
    for (std::size_t i = 0; i < 4; ++i) state ^= kTables[3 - i][(word >> (8 * i)) & 0xFF];
    p += 4;
    n -= 4;
  }
  for (; n > 0; ++p, --n) state = (state >> 8) ^ kTables[0][(state ^ static_cast<unsigned char>(*p)) & 0xFF];
  return state;
}

#if defined(__x86_64__)

// x^n modulo the polynomial. The bits are reversed and shifted by one, as the multiplication of reversed
// numbers requires.
constexpr std::uint64_t power(int n) {
  std::uint32_t r = 0x80000000;  // x^0
  for (; n > 0; --n) r = (r >> 1) ^ ((r & 1) != 0 ? kPolynomial : 0);
  return std::uint64_t{r} << 1;
}

#define DROVER_CLMUL __attribute__((target("pclmul,ssse3,sse4.1"), always_inline)) inline

DROVER_CLMUL __m128i load(const void* p) { return _mm_loadu_si128(static_cast<const __m128i*>(p)); }

DROVER_CLMUL __m128i pair(std::uint64_t low, std::uint64_t high) {
  return _mm_set_epi64x(static_cast<long long>(high), static_cast<long long>(low));
}

// Moves a block over `kBlocks` blocks that follow it: a block there with the same remainder.
template <int kBlocks>
DROVER_CLMUL __m128i move(__m128i x) {
  const __m128i factors = pair(power(128 * kBlocks + 32), power(128 * kBlocks - 32));
  return _mm_xor_si128(_mm_clmulepi64_si128(x, factors, 0x00), _mm_clmulepi64_si128(x, factors, 0x11));
}

// At kShift + r: the shuffle that moves the first r bytes of a block to its end and fills the rest with
// zeros.
constexpr auto kShift = [] {
  std::array<unsigned char, 32> bytes{};
  for (std::size_t i = 0; i < 16; ++i) bytes[i] = 0x80;
  for (std::size_t i = 0; i < 16; ++i) bytes[16 + i] = static_cast<unsigned char>(i);
  return bytes;
}();

// Needs n >= 16. The bytes that do not fill a block come first, behind zeros, which do not change a
// remainder. So the last block is whole, and no byte is taken alone.
__attribute__((target("pclmul,ssse3,sse4.1"))) std::uint32_t fold(std::uint32_t state, const char* p,
                                                                  std::size_t n) {
  const std::size_t rest = n % 16;
  const auto first = load(p) ^ _mm_cvtsi32_si128(static_cast<int>(state));
  __m128i x = _mm_shuffle_epi8(first, load(kShift.data() + rest));
  // The state belongs to the first four bytes of the message; `rest` may be less.
  __m128i spilled = _mm_cvtsi32_si128(static_cast<int>(std::uint64_t{state} >> (8 * (rest < 4 ? rest : 4))));
  p += rest;
  std::size_t blocks = n / 16;
  for (; blocks >= 4; blocks -= 4, p += 64) {  // four multiplications at a time, none waits for another
    const __m128i before = move<4>(x) ^ move<3>(load(p) ^ spilled);
    x = before ^ move<2>(load(p + 16)) ^ move<1>(load(p + 32)) ^ load(p + 48);
    spilled = _mm_setzero_si128();
  }
  for (; blocks > 0; --blocks, p += 16) {
    x = move<1>(x) ^ load(p) ^ spilled;
    spilled = _mm_setzero_si128();
  }
  char left[16];
  std::memcpy(left, &x, sizeof left);
  return advance(0, left, sizeof left);
}

#undef DROVER_CLMUL

const bool kCanFold = __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1");

#endif

}  // namespace

std::uint32_t crc32_by_table(std::uint32_t crc, std::string_view bytes) {
  return ~advance(~crc, bytes.data(), bytes.size());
}

std::uint32_t crc32(std::uint32_t crc, std::string_view bytes) {
#if defined(__x86_64__)
  if (kCanFold && bytes.size() >= 32) return ~fold(~crc, bytes.data(), bytes.size());
#endif
  return crc32_by_table(crc, bytes);
}

}  // namespace drover
