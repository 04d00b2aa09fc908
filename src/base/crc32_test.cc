// SPDX-License-Identifier: Apache-2.0
#include "base/crc32.h"

#include <gtest/gtest.h>

#include <string>

#include "base/random.h"

namespace drover {
namespace {

// The definition of CRC-32, one bit at a time.
std::uint32_t by_bits(std::uint32_t crc, std::string_view bytes) {
  crc = ~crc;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xEDB88320u : 0u);
  }
  return ~crc;
}

TEST(Crc32, MatchesKnownVectors) {
  EXPECT_EQ(crc32(0, ""), 0u);
  EXPECT_EQ(crc32(0, "123456789"), 0xCBF43926u);
  EXPECT_EQ(crc32(0, std::string(60, '\0')), 68323592u);  // the root of an empty tree
}

TEST(Crc32, AgreesWithTheDefinitionAtEveryLength) {
  Random random(1);
  std::string bytes;
  for (std::size_t n = 0; n < 400; ++n) {
    EXPECT_EQ(crc32(0, bytes), by_bits(0, bytes)) << n;
    EXPECT_EQ(crc32_by_table(0, bytes), by_bits(0, bytes)) << n;
    bytes.push_back(static_cast<char>(random.next()));
  }
}

TEST(Crc32, CanBeComputedInPieces) {
  Random random(2);
  for (int round = 0; round < 2000; ++round) {
    std::string bytes(random.below(300), '\0');
    for (char& c : bytes) c = static_cast<char>(random.next());
    const std::size_t cut = random.below(bytes.size() + 1);
    const std::uint32_t first = crc32(0, std::string_view(bytes).substr(0, cut));
    EXPECT_EQ(crc32(first, std::string_view(bytes).substr(cut)), by_bits(0, bytes));
  }
}

}  // namespace
}  // namespace drover
