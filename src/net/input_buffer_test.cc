// SPDX-License-Identifier: Apache-2.0
#include "net/input_buffer.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "base/random.h"

namespace drover::net {
namespace {

void add(InputBuffer& buffer, std::string_view bytes) {
  std::memcpy(buffer.room(bytes.size()), bytes.data(), bytes.size());
  buffer.filled(bytes.size());
}

TEST(InputBuffer, KeepsTheBytesInOrder) {
  Random random(7);
  InputBuffer buffer;
  std::string expected;
  for (int i = 0; i < 20'000; ++i) {
    const std::string piece(random.below(40), static_cast<char>('a' + random.below(26)));
    add(buffer, piece);
    expected += piece;
    const std::size_t n = random.below(expected.size() + 1);
    if (random.below(4) == 0) {
      buffer.consume(n);
      expected.erase(0, n);
    }
    ASSERT_EQ(buffer.bytes(), expected);
  }
}

TEST(InputBuffer, APacketInManyPiecesIsNotCopiedPerPiece) {
  // Doubling moves the memory about twenty times for a million pieces.
  InputBuffer buffer;
  int moves = 0;
  const char* where = nullptr;
  for (int i = 0; i < 1'000'000; ++i) {
    add(buffer, "x");
    moves += std::exchange(where, buffer.bytes().data()) != buffer.bytes().data();
  }
  EXPECT_EQ(buffer.size(), 1'000'000u);
  EXPECT_LT(moves, 30);
}

TEST(InputBuffer, StaysSmallWhileBytesAreConsumedAsTheyArrive) {
  // Some bytes always remain, so the buffer is never empty, but it must not grow forever.
  constexpr std::size_t kTail = 3000;
  constexpr std::size_t kPiece = 1000;
  InputBuffer buffer;
  add(buffer, std::string(kTail, 't'));
  for (int i = 0; i < 10'000; ++i) {
    add(buffer, std::string(kPiece, 'p'));
    buffer.consume(kPiece);
  }
  EXPECT_EQ(buffer.size(), kTail);
  EXPECT_LE(buffer.capacity(), 2 * (2 * kTail + kPiece));
}

TEST(InputBuffer, ReleasesTheMemoryOfALargePacket) {
  InputBuffer buffer;
  add(buffer, std::string(100'000, 'x'));
  buffer.shrink_if_empty(1000);
  EXPECT_EQ(buffer.size(), 100'000u);
  buffer.consume(100'000);
  buffer.shrink_if_empty(1000);
  EXPECT_EQ(buffer.capacity(), 0u);
  add(buffer, "y");
  EXPECT_EQ(buffer.bytes(), "y");
}

}  // namespace
}  // namespace drover::net
