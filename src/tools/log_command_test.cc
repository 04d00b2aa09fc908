// SPDX-License-Identifier: Apache-2.0
#include "tools/log_command.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tools/testing.h"

namespace drover::tools {
namespace {

void fill(testing::Directory& d) {
  d.log({testing::create(1, "/a", "1"), testing::create(2, "/a/b", "22")});
  d.log({testing::set_data(3, "/a", "333", 1), testing::remove(4, "/a/b")});
}

Outcome list(testing::Directory& d, LogCommand command) {
  if (command.source.empty()) command.source = "/data";
  return run_log(d.context, command);
}

std::ptrdiff_t lines(const Output& out) { return std::ranges::count(out.text(), '\n'); }
bool says(const Output& out, std::string_view text) { return out.text().find(text) != std::string::npos; }

TEST(LogCommand, PrintsTransactionsOfAllFilesInOrder) {
  testing::Directory d;
  fill(d);
  EXPECT_EQ(list(d, {}), kFine);
  EXPECT_EQ(lines(d.out), 4);
  EXPECT_TRUE(says(d.out, "0x3 1970-01-01T00:00:03.000Z session 0x77 cxid 3 setData /a 3 bytes version 1"));
  EXPECT_EQ(d.notes.text(), "");
}

TEST(LogCommand, FiltersTransactions) {
  const auto count = [](LogCommand command) {
    testing::Directory d;
    fill(d);
    EXPECT_EQ(list(d, std::move(command)), kFine);
    return lines(d.out);
  };
  LogCommand range;
  range.from = Zxid{2};
  range.to = Zxid{3};
  EXPECT_EQ(count(range), 2);
  LogCommand below;
  below.path = "/a/b";
  EXPECT_EQ(count(below), 2);
  LogCommand type;
  type.types = {wire::OpCode::kDelete};
  EXPECT_EQ(count(type), 1);
  LogCommand stranger;
  stranger.session = SessionId{1};
  EXPECT_EQ(count(stranger), 0);
}

TEST(LogCommand, ALogMayHaveAnyName) {
  testing::Directory d;
  fill(d);
  d.disk.set_contents(d.path_of("copy"), d.disk.contents(d.path_of("log.3")));
  LogCommand command;
  command.source = d.path_of("copy");
  EXPECT_EQ(list(d, command), kFine);
  EXPECT_EQ(lines(d.out), 2);
}

TEST(LogCommand, ATornTailIsTolerated) {
  testing::Directory d;
  fill(d);
  const std::string whole = d.disk.contents(d.path_of("log.3"));
  const std::size_t end = whole.find_last_not_of('\0');
  d.zero("log.3", end - 3, 4);
  EXPECT_EQ(list(d, {}), kFine);
  EXPECT_EQ(lines(d.out), 3);
  EXPECT_TRUE(says(d.notes, "torn tail"));
}

TEST(LogCommand, DamageIsReportedAndTheNextFileStillPrinted) {
  testing::Directory d;
  fill(d);
  d.zero("log.1", 20, 8);  // the first record's checksum and length
  EXPECT_EQ(list(d, {}), kWrong);
  EXPECT_TRUE(says(d.notes, "log.1 breaks off at byte 16"));
  EXPECT_TRUE(says(d.notes, "up to zxid 0x2"));
  EXPECT_EQ(lines(d.out), 2);
}

TEST(LogCommand, MissingFileIsReportedAsAGap) {
  testing::Directory d;
  fill(d);
  d.log({testing::create(5, "/c", "")});
  ASSERT_TRUE(d.disk.unlink(d.path_of("log.3")));
  EXPECT_EQ(list(d, {}), kWrong);
  EXPECT_TRUE(says(d.notes, "zxid 0x5 does not follow 0x2"));
}

}  // namespace
}  // namespace drover::tools
