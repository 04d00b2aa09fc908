// SPDX-License-Identifier: Apache-2.0
#include "recipes/queues/queue_names.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace drover::recipes {
namespace {

using namespace std::string_literals;
using Values = std::vector<std::string>;

TEST(QueueFrame, MatchesCuratorsBytes) {
  EXPECT_EQ(frame_values({"hello"}), "\x00\x01\x00\x01\x01\x00\x00\x00\x05hello\x02"s);
  EXPECT_EQ(unframe_values("\x00\x01\x00\x01\x01\x00\x00\x00\x05hello\x02"s), Values{"hello"});
  const Values several{"a", "", std::string(300, 'x')};
  EXPECT_EQ(unframe_values(frame_values(several)), several);
}

TEST(QueueFrame, RefusesOtherBytes) {
  const std::string good = frame_values({"hello"});
  for (std::size_t i = 0; i < good.size(); ++i) EXPECT_FALSE(unframe_values(good.substr(0, i))) << i;
  EXPECT_FALSE(unframe_values("hello"));
  EXPECT_FALSE(unframe_values(frame_values({})));
  EXPECT_FALSE(unframe_values("\x00\x01\x00\x01\x01\xFF\xFF\xFF\xFFhello\x02"s));
  EXPECT_FALSE(unframe_values("\x00\x01\x00\x02\x01\x00\x00\x00\x05hello\x02"s));
}

TEST(QueueNames, PriorityNamesAreCuratorsAndSortByPriority) {
  EXPECT_EQ(priority_prefix(5), "queue-100000005");
  EXPECT_EQ(priority_prefix(-5), "queue-0FFFFFFFB");
  std::string last;
  for (const std::int32_t priority : {INT32_MIN, -5, -1, 0, 1, 5, 256, INT32_MAX}) {
    const std::string name = priority_prefix(priority) + "0000000007";
    EXPECT_LT(last, name);
    last = name;
    const auto item = parse_priority_name(name);
    ASSERT_TRUE(item);
    EXPECT_EQ(item->rank, priority);
    EXPECT_EQ(item->sequence, 7);
  }
}

TEST(QueueNames, DelayAndIdNamesAreCurators) {
  EXPECT_EQ(delay_prefix(0x18D2F0A1B00), "queue-|18D2F0A1B00|");
  const auto due = parse_delay_name("queue-|18D2F0A1B00|0000000003");
  ASSERT_TRUE(due);
  EXPECT_EQ(due->rank, 0x18D2F0A1B00);
  EXPECT_EQ(due->sequence, 3);
  EXPECT_EQ(id_prefix("a/b|c"), "queue-|a_b_c|");
  const auto item = parse_id_name("queue-|a_b_c|0000000004");
  ASSERT_TRUE(item);
  EXPECT_EQ(item->id, "a_b_c");
  EXPECT_EQ(item->sequence, 4);
}

TEST(QueueNames, OtherNamesAreNotItems) {
  for (const char* name : {"", "queue-", "queue-0000000007", "queue-10000000X0000000007",
                           "queue-0000000050000000007", "lock-1000000050000000007"}) {
    EXPECT_FALSE(parse_priority_name(name)) << name;
  }
  for (const char* name :
       {"queue-|", "queue-||0000000001", "queue-|XYZ|0000000001", "queue-|12|", "queue-0000000007"}) {
    EXPECT_FALSE(parse_delay_name(name)) << name;
  }
  EXPECT_FALSE(parse_id_name("queue-|a|b"));
  EXPECT_FALSE(parse_fifo_name("queue-1000000050000000007", "queue-"));
}

}  // namespace
}  // namespace drover::recipes
