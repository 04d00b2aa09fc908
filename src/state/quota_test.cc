// SPDX-License-Identifier: Apache-2.0
//
// Quotas: text, counting, enforcement (docs/client-protocol.md, "Quotas, containers, TTL nodes").
#include "state/quota.h"

#include <gtest/gtest.h>

#include <string>

#include "state/testing.h"

namespace drover::state {
namespace {

using namespace testing;
using wire::testing::path_version_body;
using wire::testing::set_data_body;

TEST(QuotaText, IsWrittenAsJavaWritesIt) {
  QuotaText text;
  text.set_count(5);
  text.set_bytes(100);
  EXPECT_EQ(text.text(), "count=5,bytes=100");
  EXPECT_EQ(QuotaText().text(), "count=-1,bytes=-1");
}

TEST(QuotaText, HardLimitsFollowAnExtraEqualsSign) {
  const std::string hard = "count=10,bytes=-1=;byteHardLimit=5;countHardLimit=7";
  const QuotaText text = QuotaText::parse(hard);
  EXPECT_EQ(text.count(), 10);
  EXPECT_EQ(text.bytes(), -1);
  EXPECT_EQ(text.bytes_hard(), 5);
  EXPECT_EQ(text.count_hard(), 7);
  EXPECT_EQ(text.text(), hard);
}

TEST(QuotaText, MissingOrUnreadableFieldsMeanNoLimit) {
  for (const char* junk :
       {"", "junk", "count", "count=", "count=x,bytes=y", "====", ",,;;", "count=99999999999999999999"}) {
    const QuotaText text = QuotaText::parse(junk);
    EXPECT_EQ(text.count(), -1) << junk;
    EXPECT_EQ(text.bytes(), -1) << junk;
    EXPECT_EQ(text.count_hard(), -1) << junk;
  }
  EXPECT_EQ(QuotaText::parse("bytes=3,,;count=4").count(), 4);
}

Options enforcing() {
  Options options;
  options.enforce_quota = true;
  return options;
}

class QuotaOfQ : public ::testing::Test {
 protected:
  // Sets limits on /q; creates /q if it is missing.
  void limit(std::string_view text) {
    if (!leader_.get("/q")) leader_.create("/q");
    if (!leader_.get("/zookeeper/quota/q")) leader_.create("/zookeeper/quota/q");
    leader_.create("/zookeeper/quota/q/zookeeper_limits", {.data = text});
    leader_.create("/zookeeper/quota/q/zookeeper_stats", {.data = "junk"});
  }
  std::string usage() const {
    return std::string(leader_.get("/zookeeper/quota/q/zookeeper_stats")->data().value_or("null"));
  }

  Leader leader_{enforcing()};
};

TEST_F(QuotaOfQ, CreatingTheStatsNodeCountsExistingNodes) {
  leader_.create("/q", {.data = "12345"});
  leader_.create("/q/a", {.data = "678"});
  limit("count=10,bytes=100");
  EXPECT_EQ(usage(), "count=2,bytes=8");
  EXPECT_EQ(leader_.stat("/zookeeper/quota/q/zookeeper_stats").version, 0) << "no transaction counts it";
  EXPECT_EQ(broken_invariant(leader_.machine.tree), "");
}

TEST_F(QuotaOfQ, EveryChangeBelowIsCounted) {
  limit("count=10,bytes=100");
  EXPECT_EQ(usage(), "count=1,bytes=0");
  leader_.create("/q/a", {.data = "123"});
  EXPECT_EQ(usage(), "count=2,bytes=3");
  leader_.run(OpCode::kSetData, set_data_body("/q/a", "12345"));
  EXPECT_EQ(usage(), "count=2,bytes=5");
  leader_.run(OpCode::kSetData, set_data_body("/q/a", std::nullopt));
  EXPECT_EQ(usage(), "count=2,bytes=0");
  leader_.run(OpCode::kDelete, path_version_body("/q/a"));
  EXPECT_EQ(usage(), "count=1,bytes=0");
  leader_.create("/other", {.data = "123"});
  leader_.create("/qq", {.data = "123"});
  EXPECT_EQ(usage(), "count=1,bytes=0") << "neighbours do not count";
}

TEST_F(QuotaOfQ, OnlyTheNearestQuotaIsUpdated) {
  limit("count=10,bytes=100");
  leader_.create("/q/in");
  leader_.create("/zookeeper/quota/q/in");
  leader_.create("/zookeeper/quota/q/in/zookeeper_limits", {.data = "count=5,bytes=5"});
  leader_.create("/zookeeper/quota/q/in/zookeeper_stats");
  const std::string outer = usage();
  leader_.create("/q/in/x", {.data = "1"});
  EXPECT_EQ(usage(), outer);
  EXPECT_EQ(leader_.get("/zookeeper/quota/q/in/zookeeper_stats")->data(), "count=2,bytes=1");
}

TEST_F(QuotaOfQ, SoftLimitsRejectNothing) {
  limit("count=1,bytes=1");
  EXPECT_EQ(leader_.create("/q/a", {.data = "far too much"}), ErrorCode::kOk);
}

TEST_F(QuotaOfQ, AHardCountRejectsTheFirstNodeAboveTheLimit) {
  limit("count=-1,bytes=-1=;byteHardLimit=-1;countHardLimit=2");
  EXPECT_EQ(leader_.create("/q/a"), ErrorCode::kOk);
  EXPECT_EQ(leader_.create("/q/b"), ErrorCode::kQuotaExceeded);
  EXPECT_EQ(leader_.run(OpCode::kSetData, set_data_body("/q/a", "any size")), ErrorCode::kOk);
  leader_.run(OpCode::kDelete, path_version_body("/q/a"));
  EXPECT_EQ(leader_.create("/q/b"), ErrorCode::kOk);
}

TEST_F(QuotaOfQ, HardBytesRejectWritesAboveTheLimit) {
  limit("count=-1,bytes=-1=;byteHardLimit=10;countHardLimit=-1");
  EXPECT_EQ(leader_.create("/q/a", {.data = "1234567890"}), ErrorCode::kOk);
  EXPECT_EQ(leader_.create("/q/b", {.data = "1"}), ErrorCode::kQuotaExceeded);
  EXPECT_EQ(leader_.create("/q/b"), ErrorCode::kOk) << "an empty node needs no bytes";
  EXPECT_EQ(leader_.run(OpCode::kSetData, set_data_body("/q/a", "12345678901")), ErrorCode::kQuotaExceeded);
  EXPECT_EQ(leader_.run(OpCode::kSetData, set_data_body("/q/a", "1234567890")), ErrorCode::kOk);
}

TEST_F(QuotaOfQ, DeletingTheLimitsEndsTheQuota) {
  limit("count=-1,bytes=-1=;byteHardLimit=-1;countHardLimit=1");
  EXPECT_EQ(leader_.create("/q/a"), ErrorCode::kQuotaExceeded);
  leader_.run(OpCode::kDelete, path_version_body("/zookeeper/quota/q/zookeeper_limits"));
  EXPECT_EQ(leader_.create("/q/a"), ErrorCode::kOk);
  EXPECT_EQ(usage(), "count=1,bytes=0") << "the count is not kept any more";
}

TEST(Quota, WithoutEnforcementNothingIsRejected) {
  Leader leader;
  leader.create("/q");
  leader.create("/zookeeper/quota/q");
  leader.create("/zookeeper/quota/q/zookeeper_limits",
                {.data = "count=1,bytes=1=;byteHardLimit=1;countHardLimit=1"});
  leader.create("/zookeeper/quota/q/zookeeper_stats");
  EXPECT_EQ(leader.create("/q/a", {.data = "more"}), ErrorCode::kOk);
  EXPECT_EQ(leader.get("/zookeeper/quota/q/zookeeper_stats")->data(), "count=2,bytes=4");
}

// Each of these stops Java 3.8.0.
TEST(Quota, MalformedQuotaNodesDoNotStopTheServer) {
  Leader leader(enforcing());
  EXPECT_EQ(leader.create("/zookeeper/quota/zookeeper_limits", {.data = "count=1,bytes=1=;countHardLimit=1"}),
            ErrorCode::kOk);
  EXPECT_EQ(leader.create("/zookeeper/quota/zookeeper_stats"), ErrorCode::kOk);
  EXPECT_EQ(leader.create("/a"), ErrorCode::kOk) << "a quota of the root is ignored";

  leader.create("/zookeeper/quota/a");
  leader.create("/zookeeper/quota/a/zookeeper_limits", {.data = std::nullopt});
  leader.create("/zookeeper/quota/a/zookeeper_stats", {.data = std::nullopt});
  for (const wire::Nullable junk :
       {wire::Nullable("junk"), wire::Nullable(std::nullopt), wire::Nullable("count=,bytes")}) {
    leader.run(OpCode::kSetData, set_data_body("/zookeeper/quota/a/zookeeper_stats", junk));
    EXPECT_EQ(leader.run(OpCode::kSetData, set_data_body("/a", "x")), ErrorCode::kOk);
  }
  leader.run(OpCode::kDelete, path_version_body("/zookeeper/quota/a/zookeeper_stats"));
  EXPECT_EQ(leader.create("/a/b"), ErrorCode::kOk);
  EXPECT_EQ(broken_invariant(leader.machine.tree), "");
}

TEST(Quota, ExtremeNumbersDoNotOverflow) {
  Leader leader(enforcing());
  leader.create("/a");
  leader.create("/zookeeper/quota/a");
  leader.create(
      "/zookeeper/quota/a/zookeeper_limits",
      {.data = "count=-1,bytes=-1=;byteHardLimit=9223372036854775807;countHardLimit=9223372036854775807"});
  leader.create("/zookeeper/quota/a/zookeeper_stats");
  for (const char* text : {"count=9223372036854775807,bytes=9223372036854775807",
                           "count=-9223372036854775808,bytes=-9223372036854775808"}) {
    leader.run(OpCode::kSetData, set_data_body("/zookeeper/quota/a/zookeeper_stats", text));
    leader.create("/a/x", {.data = "12"});
    leader.run(OpCode::kDelete, path_version_body("/a/x"));
  }
  EXPECT_EQ(broken_invariant(leader.machine.tree), "");
}

TEST(Quota, LoadingASnapshotRecountsUsage) {
  Leader leader;
  leader.create("/q", {.data = "12"});
  leader.create("/zookeeper/quota/q");
  leader.create("/zookeeper/quota/q/zookeeper_limits");
  leader.create("/zookeeper/quota/q/zookeeper_stats");
  Quotas loaded{HashKey{}};
  leader.machine.tree.rewrite_data(leader.machine.tree.find("/zookeeper/quota/q/zookeeper_stats"),
                                   "/zookeeper/quota/q/zookeeper_stats", "count=77,bytes=77");
  EXPECT_TRUE(loaded.empty());
  loaded.rebuild(leader.machine.tree);
  EXPECT_FALSE(loaded.empty());
  EXPECT_EQ(leader.get("/zookeeper/quota/q/zookeeper_stats")->data(), "count=1,bytes=2");
}

}  // namespace
}  // namespace drover::state
