// SPDX-License-Identifier: Apache-2.0
//
// The small words: ids, error codes, clocks, hash and random.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "base/error_code.h"
#include "base/hash.h"
#include "base/ids.h"
#include "base/random.h"
#include "base/time.h"

namespace drover {
namespace {

TEST(Zxid, IsAnEpochAndACounter) {
  const Zxid zxid{0x0000'0005'FFFF'FFFE};
  EXPECT_EQ(epoch_of(zxid), 5u);
  EXPECT_EQ(counter_of(zxid), 0xFFFF'FFFEu);
  EXPECT_EQ(raw(next(zxid)), 0x0000'0005'FFFF'FFFF);
  EXPECT_LT(zxid, next(zxid));
}

TEST(ErrorCode, EveryCodeHasItsOwnName) {
  std::set<std::string_view> names;
  int known = 0;
  for (int code = -200; code <= 1; ++code) {
    const std::string_view name = name_of(static_cast<ErrorCode>(code));
    if (name == "Unknown") continue;
    ++known;
    EXPECT_TRUE(names.insert(name).second) << name;
  }
  EXPECT_EQ(known, 32);  // client-protocol §5.2
  EXPECT_EQ(name_of(ErrorCode::kNoNode), "NoNode");
  EXPECT_EQ(name_of(static_cast<ErrorCode>(-126)), "Unknown");
}

TEST(Instant, AddsAndSubtractsMilliseconds) {
  constexpr Instant start{1000};
  static_assert((start + 500) - start == 500);
  EXPECT_LT(start, start + 1);
}

TEST(Random, TheSameSeedGivesTheSameRun) {
  Random a(42);
  Random b(42);
  Random c(43);
  bool differs = false;
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t drawn = a.next();
    EXPECT_EQ(drawn, b.next());
    differs |= drawn != c.next();
  }
  EXPECT_TRUE(differs);
}

TEST(Random, BelowStaysBelowAndReachesEverything) {
  Random random(1);
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 1000; ++i) seen.insert(random.below(7));
  EXPECT_EQ(seen.size(), 7u);
  EXPECT_EQ(*seen.rbegin(), 6u);
  EXPECT_EQ(random.below(0), 0u);
}

TEST(Hash, EveryByteAndTheLengthCount) {
  // Lengths around the 8 and 16 byte steps of the loop.
  for (std::size_t length = 0; length <= 40; ++length) {
    const std::string bytes(length, 'x');
    const std::uint64_t hash = hash_bytes(bytes, 1);
    EXPECT_EQ(hash_bytes(std::string(length, 'x'), 1), hash);
    EXPECT_NE(hash_bytes(bytes + '\0', 1), hash) << length;
    for (std::size_t i = 0; i < length; ++i) {
      std::string changed = bytes;
      changed[i] = 'y';
      EXPECT_NE(hash_bytes(changed, 1), hash) << "byte " << i << " of " << length;
    }
  }
}

TEST(Hash, AnotherSeedSpreadsTheSamePathsOtherwise) {
  int same_bucket = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::string path = "/app/node-" + std::to_string(i);
    if ((hash_bytes(path, 1) >> 54) == (hash_bytes(path, 2) >> 54)) ++same_bucket;
  }
  EXPECT_LT(same_bucket, 20);  // 1 expected of 1024 buckets
}

TEST(Hash, SimilarPathsFillBucketsEvenly) {
  std::vector<int> buckets(256);
  for (int i = 0; i < 256 * 64; ++i) ++buckets[hash_bytes("/lock/n-" + std::to_string(i), 9) >> 56];
  for (const int n : buckets) {
    EXPECT_GT(n, 20);
    EXPECT_LT(n, 130);
  }
}

}  // namespace
}  // namespace drover
