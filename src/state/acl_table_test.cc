// SPDX-License-Identifier: Apache-2.0
#include "state/acl_table.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "wire/testing.h"

namespace drover::state {
namespace {

std::string list_for(const char* ip) { return wire::testing::acl_bytes({{wire::kRead, {"ip", ip}}}); }

TEST(AclTable, TheOpenAclHasNoEntry) {
  AclTable table{HashKey{}};
  EXPECT_EQ(table.acquire(wire::open_acl_bytes()), kOpenAcl);
  EXPECT_EQ(table.size(), 0u);
  EXPECT_EQ(table.list(kOpenAcl)->bytes, wire::open_acl_bytes());
  table.release(kOpenAcl);
}

TEST(AclTable, EqualListsShareOneEntryUntilTheLastUserIsGone) {
  AclTable table{HashKey{}};
  const AclId id = table.acquire(list_for("1.1.1.1"));
  EXPECT_EQ(table.acquire(list_for("1.1.1.1")), id);
  EXPECT_NE(table.acquire(list_for("2.2.2.2")), id);
  EXPECT_EQ(table.size(), 2u);
  table.release(id);
  EXPECT_TRUE(table.knows(id));
  table.release(id);
  EXPECT_FALSE(table.knows(id));
  EXPECT_EQ(table.size(), 1u);
  EXPECT_NE(table.acquire(list_for("1.1.1.1")), id) << "ids are not used again";
}

TEST(AclTable, AListStaysValidForItsHoldersAfterItsEntryIsRemoved) {
  AclTable table{HashKey{}};
  const AclId id = table.acquire(list_for("1.1.1.1"));
  const AclListPtr held = table.list(id);
  table.release(id);
  EXPECT_EQ(held->entries.at(0).who.id, "1.1.1.1");
}

TEST(AclTable, AnUnknownIdGrantsNothing) {
  AclTable table{HashKey{}};
  const AclListPtr& list = table.list(AclId{99});
  ASSERT_FALSE(list->entries.empty()) << "an empty list would allow everybody";
  for (const wire::Acl& entry : list->entries) EXPECT_EQ(entry.perms, 0);
}

TEST(AclTable, LoadingKeepsTheIdsOfTheSnapshot) {
  AclTable table{HashKey{}};
  EXPECT_TRUE(table.load(7, list_for("7.7.7.7")));
  EXPECT_TRUE(table.load(3, list_for("3.3.3.3")));
  table.count_loaded_use(AclId{7});
  EXPECT_EQ(table.acquire(list_for("7.7.7.7")), AclId{7});
  EXPECT_EQ(table.acquire(list_for("8.8.8.8")), AclId{8}) << "new ids follow the loaded ones";
  table.release(AclId{7});
  EXPECT_TRUE(table.knows(AclId{7})) << "the use that was loaded is still there";
  table.release(AclId{7});
  EXPECT_FALSE(table.knows(AclId{7}));
}

TEST(AclTable, LoadingRefusesImpossibleAndRepeatedKeys) {
  AclTable table{HashKey{}};
  EXPECT_TRUE(table.load(1, list_for("1.1.1.1")));
  for (const std::int64_t key : {std::int64_t{1}, std::int64_t{0}, std::int64_t{-1},
                                 std::int64_t{std::numeric_limits<std::int32_t>::max()} + 1}) {
    EXPECT_FALSE(table.load(key, list_for("2.2.2.2"))) << key;
  }
}

TEST(AclTable, UnusedEntriesAreDroppedAfterLoading) {
  AclTable table{HashKey{}};
  table.load(1, list_for("1.1.1.1"));
  table.load(2, list_for("2.2.2.2"));
  table.count_loaded_use(AclId{2});
  table.drop_unused();
  EXPECT_FALSE(table.knows(AclId{1}));
  EXPECT_TRUE(table.knows(AclId{2}));
  EXPECT_EQ(table.size(), 1u);
}

TEST(AclTable, AnIdUsedByALoadedNodeIsNeverGivenToAnotherList) {
  // A fuzzy snapshot writes its ACLs before its nodes, so a node may refer to a list that was added in
  // between.
  AclTable table{HashKey{}};
  table.load(1, list_for("1.1.1.1"));
  table.count_loaded_use(AclId{2});  // not in the snapshot's table
  EXPECT_NE(table.acquire(list_for("9.9.9.9")), AclId{2});
}

TEST(AclTable, ListsForASnapshotComeInTheOrderOfTheirKeys) {
  AclTable table{HashKey{}};
  for (const std::int64_t key : {5, 2, 9})
    table.load(key, list_for(("1.1.1." + std::to_string(key)).c_str()));
  const auto all = table.all();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].first, 2);
  EXPECT_EQ(all[1].first, 5);
  EXPECT_EQ(all[2].first, 9);
  EXPECT_EQ(all[2].second->bytes, list_for("1.1.1.9"));
}

}  // namespace
}  // namespace drover::state
