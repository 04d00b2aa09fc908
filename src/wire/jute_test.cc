// SPDX-License-Identifier: Apache-2.0
#include "wire/jute.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

#include "base/random.h"
#include "wire/testing.h"

namespace drover::wire {
namespace {

using testing::from_hex;
using testing::to_hex;
using testing::written;

TEST(JuteWriter, WritesBigEndianIntegersAndPrefixedStrings) {
  const std::string bytes = written([](Writer& w) {
    w.byte(0xAB);
    w.boolean(true);
    w.i32(-2);
    w.i64(0x0102030405060708);
    w.string("/a");
    w.string("");
    w.null();
    w.buffer(std::nullopt);
    w.buffer("hi");
    w.raw("!");
  });
  EXPECT_EQ(to_hex(bytes),
            "ab"
            "01"
            "fffffffe"
            "0102030405060708"
            "000000022f61"
            "00000000"
            "ffffffff"
            "ffffffff"
            "000000026869"
            "21");
}

TEST(JuteFrame, WritesTheLengthOfWhatWasAppended) {
  std::string out = "before";
  {
    Frame frame(out);
    out += "abc";
  }
  out += "after";
  EXPECT_EQ(out, std::string("before\0\0\0\3abcafter", 18));
}

TEST(JuteReader, ReadsBackWhatWasWritten) {
  Random random(3);
  for (int round = 0; round < 500; ++round) {
    const auto a = static_cast<std::int32_t>(random.next());
    const auto b = static_cast<std::int64_t>(random.next());
    std::string text(random.below(20), 'x');
    const std::string bytes = written([&](Writer& w) {
      w.i64(b);
      w.string(text);
      w.i32(a);
      w.null();
      w.boolean(a > 0);
    });
    Reader r(bytes);
    EXPECT_EQ(r.i64(), b);
    EXPECT_EQ(r.string(), text);
    EXPECT_EQ(r.i32(), a);
    EXPECT_EQ(r.buffer(), std::nullopt);
    EXPECT_EQ(r.boolean(), a > 0);
    EXPECT_TRUE(r.ok());
    EXPECT_TRUE(r.at_end());
  }
}

TEST(JuteReader, NullAndEmptyAreDifferent) {
  Reader r(std::string_view("\xFF\xFF\xFF\xFF\0\0\0\0", 8));
  EXPECT_EQ(r.buffer(), std::nullopt);
  EXPECT_EQ(r.buffer(), std::string_view{});
  EXPECT_TRUE(r.ok());
}

TEST(JuteReader, AnyNonZeroByteIsTrue) {
  Reader r("\x07");
  EXPECT_TRUE(r.boolean());
}

TEST(JuteReader, ImpossibleLengthsAreErrorsAndNeverReadOutOfBounds) {
  for (const char* hex : {"fffffffe", "80000000", "7fffffff 2f", "00000003 2f61", "00000001", "0000"}) {
    const std::string bytes = from_hex(hex);
    Reader r(bytes);
    EXPECT_EQ(r.buffer(), std::nullopt) << hex;
    EXPECT_FALSE(r.ok()) << hex;
  }
}

TEST(JuteReader, ALengthOfExactlyTheRemainingBytesIsAccepted) {
  const std::string bytes = from_hex("00000002 2f61");
  Reader r(bytes);
  EXPECT_EQ(r.string(), "/a");
  EXPECT_TRUE(r.ok());
  EXPECT_TRUE(r.at_end());
}

TEST(JuteReader, AfterTheFirstErrorLaterFieldsReadAsEmpty) {
  const std::string bytes = from_hex("0000ffff 00000001");
  Reader r(bytes);
  r.buffer();  // longer than the remaining bytes
  EXPECT_FALSE(r.ok());
  EXPECT_EQ(r.i32(), 0);
  EXPECT_EQ(r.i64(), 0);
  EXPECT_EQ(r.byte(), 0);
  EXPECT_EQ(r.string(), "");
  EXPECT_EQ(r.count(1), 0u);
  EXPECT_EQ(r.remaining(), 0u);
  EXPECT_FALSE(r.ok());
}

TEST(JuteReader, AnImpossibleCountIsAnErrorBeforeAnythingIsAllocated) {
  for (const std::int32_t count : {3, 1 << 30, std::numeric_limits<std::int32_t>::max()}) {
    const std::string bytes = written([&](Writer& w) {
      w.i32(count);
      w.i64(0);
    });
    Reader r(bytes);
    EXPECT_EQ(r.count(4), 0u) << count;
    EXPECT_FALSE(r.ok()) << count;
  }
  const std::string fits = written([](Writer& w) {
    w.i32(2);
    w.i64(0);
  });
  Reader r(fits);
  EXPECT_EQ(r.count(4), 2u);
  EXPECT_TRUE(r.ok());
}

TEST(JuteReader, NullAndNegativeCountsAreEmptyAsInJava) {
  for (const std::int32_t count : {-1, -2, -5, std::numeric_limits<std::int32_t>::min(), 0}) {
    const std::string bytes = written([&](Writer& w) { w.i32(count); });
    Reader r(bytes);
    EXPECT_EQ(r.count(4), 0u);
    EXPECT_TRUE(r.ok()) << count;
  }
}

TEST(JuteReader, SinceReturnsTheBytesReadSinceAPosition) {
  const std::string bytes = from_hex("00000001 00000002 00000003");
  Reader r(bytes);
  r.i32();
  const std::size_t start = r.position();
  r.i32();
  EXPECT_EQ(to_hex(r.since(start)), "00000002");
}

TEST(JuteReader, NoInputMakesItReadOutOfBounds) {
  // The sanitizers check this: a view outside the buffer would trip them.
  Random random(77);
  std::size_t sum = 0;
  for (int round = 0; round < 5000; ++round) {
    std::string bytes;
    for (std::uint64_t n = random.below(24); n > 0; --n) {
      bytes.push_back(static_cast<char>(random.below(4) == 0 ? random.next() : random.below(3)));
    }
    Reader r(bytes);
    for (int step = 0; step < 8; ++step) {
      switch (random.below(5)) {
        case 0: sum += r.byte(); break;
        case 1: sum += static_cast<std::size_t>(r.i32()); break;
        case 2: sum += static_cast<std::size_t>(r.i64()); break;
        case 3: sum += r.count(4); break;
        default:
          for (const char c : r.string()) sum += static_cast<unsigned char>(c);
      }
      ASSERT_LE(r.position(), bytes.size());
    }
  }
  EXPECT_NE(sum, 0u);
}

}  // namespace
}  // namespace drover::wire
