// SPDX-License-Identifier: Apache-2.0
#include "state/ephemeral_owner.h"

#include <gtest/gtest.h>

namespace drover::state {
namespace {

// docs/client-protocol.md, "Stat".
TEST(EphemeralOwner, ZeroIsPersistentAndASessionIdIsEphemeral) {
  for (const bool extended : {false, true}) {
    EXPECT_EQ(kind_of(0, extended), NodeKind::kPersistent);
    EXPECT_EQ(kind_of(0x100000000000001, extended), NodeKind::kEphemeral);
    EXPECT_EQ(kind_of(-2, false), NodeKind::kEphemeral);
    EXPECT_EQ(kind_of(kContainerOwner, extended), NodeKind::kContainer);
  }
}

TEST(EphemeralOwner, ATtlIsInTheLowFortyBits) {
  EXPECT_EQ(static_cast<std::uint64_t>(owner_of_ttl(1)), 0xFF00000000000001u);
  EXPECT_EQ(static_cast<std::uint64_t>(owner_of_ttl(kTtlMax)), 0xFF0000FFFFFFFFFFu);
  for (const std::int64_t ttl : {std::int64_t{1}, std::int64_t{5000}, kTtlMax}) {
    EXPECT_EQ(kind_of(owner_of_ttl(ttl), true), NodeKind::kTtl);
    EXPECT_EQ(ttl_of_owner(owner_of_ttl(ttl)), ttl);
  }
}

TEST(EphemeralOwner, WithoutExtendedTypesAMarkedOwnerIsASession) {
  EXPECT_EQ(kind_of(owner_of_ttl(5), false), NodeKind::kEphemeral);
}

TEST(EphemeralOwner, NodesFrom353AreTtlNodesOnlyWhenEmulated) {
  const auto owner = static_cast<std::int64_t>(0x8000'0000'0000'0000u | 5000u);
  EXPECT_EQ(kind_of(owner, true, false), NodeKind::kEphemeral);
  EXPECT_EQ(kind_of(owner, true, true), NodeKind::kTtl);
  EXPECT_EQ(ttl_of_owner(owner), 5000);
  EXPECT_EQ(kind_of(kContainerOwner, true, true), NodeKind::kContainer);
}

}  // namespace
}  // namespace drover::state
