// SPDX-License-Identifier: Apache-2.0
//
// Small types: ids, error codes, clocks, hash and random.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "base/error_code.h"
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
  EXPECT_EQ(known, 32);  // docs/client-protocol.md, "Errors"
  EXPECT_EQ(name_of(ErrorCode::kNoNode), "NoNode");
  EXPECT_EQ(name_of(static_cast<ErrorCode>(-126)), "Unknown");
}

TEST(Instant, AddsAndSubtractsMilliseconds) {
  constexpr Instant start{1000};
  static_assert((start + 500) - start == 500);
  EXPECT_LT(start, start + 1);
}

TEST(Random, TheSameSeedGivesTheSameNumbers) {
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

TEST(Random, BelowReturnsEveryValueInRangeAndNoOther) {
  Random random(1);
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 1000; ++i) seen.insert(random.below(7));
  EXPECT_EQ(seen.size(), 7u);
  EXPECT_EQ(*seen.rbegin(), 6u);
  EXPECT_EQ(random.below(0), 0u);
}

}  // namespace
}  // namespace drover
