// SPDX-License-Identifier: Apache-2.0
#include "recipes/transactions/transaction_record.h"

#include <gtest/gtest.h>

namespace drover::recipes {
namespace {

TEST(TransactionRecord, RoundTrips) {
  const TransactionRecord record{Decision::kCommit, "me", {"east", "west side"}, "state abort\n\nbytes\0"};
  EXPECT_EQ(record.to_text(), "state commit\nby me\nsite east\nsite west side\n\nstate abort\n\nbytes");
  const auto read = TransactionRecord::from_text(record.to_text());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->decision, Decision::kCommit);
  EXPECT_EQ(read->by, "me");
  EXPECT_EQ(read->sites, record.sites);
  EXPECT_EQ(read->payload, record.payload);
  EXPECT_TRUE(read->has_site("east"));
  EXPECT_FALSE(read->has_site("west"));
}

TEST(TransactionRecord, RefusesOtherText) {
  for (const char* text :
       {"", "state", "state maybe\n\n", "state pending", "state pending\nby me\n", "by me\nstate pending\n\n",
        "state pending\ncolour red\n\n", "state pending\nnonsense\n\n"}) {
    EXPECT_FALSE(TransactionRecord::from_text(text)) << text;
  }
  EXPECT_FALSE(TransactionRecord::from_text("state pending\n\n")->decision);
}

TEST(TransactionRecord, SitesMustBeNodeNames) {
  for (const char* site : {"", ".", "..", "a/b", "a\nb"}) EXPECT_FALSE(is_site_name(site)) << site;
  EXPECT_TRUE(is_site_name("east-1"));
}

}  // namespace
}  // namespace drover::recipes
