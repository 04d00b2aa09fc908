// SPDX-License-Identifier: Apache-2.0
//
// A log event is one line, whatever names clients send.
#include "log/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace drover::server {
namespace {

class LogTest : public testing::Test {
 protected:
  LogTest() {
    std::string name = (std::filesystem::temp_directory_path() / "drover-log-XXXXXX").string();
    directory_ = mkdtemp(name.data());
  }
  ~LogTest() override {
    EXPECT_TRUE(open_log({}));  // back to standard error, so that no file in the directory stays open
    std::filesystem::remove_all(directory_);
  }

  std::string file(const std::string& name) const { return (directory_ / name).string(); }
  static std::string contents(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  std::filesystem::path directory_;
};

TEST_F(LogTest, AnEventIsOneLineWithTimeLevelAndComponent) {
  ASSERT_TRUE(open_log({.file = file("server.log")}));
  log_info("session", "expired {}", 7);
  EXPECT_THAT(contents(file("server.log")),
              testing::MatchesRegex("[0-9-]{10}T[0-9:]{8}\\.[0-9]{3}Z INFO  \\[session\\] expired 7\n"));
}

TEST_F(LogTest, ALineBreakInAMessageDoesNotMakeASecondLine) {
  ASSERT_TRUE(open_log({.file = file("server.log")}));
  log_warn("net", "{}", "a\nb\x1b[2J");
  EXPECT_THAT(contents(file("server.log")), testing::HasSubstr("WARN  [net] a\\nb\\x1b[2J\n"));
}

TEST_F(LogTest, LinesBelowTheLevelAreNotWritten) {
  ASSERT_TRUE(open_log({.file = file("server.log"), .level = LogLevel::kWarn}));
  EXPECT_FALSE(log_enabled(LogLevel::kInfo));
  log_info("net", "quiet");
  log_error("net", "loud");
  EXPECT_THAT(contents(file("server.log")), testing::Not(testing::HasSubstr("quiet")));
  EXPECT_THAT(contents(file("server.log")), testing::HasSubstr("loud"));
}

TEST_F(LogTest, AFullFileIsRotatedAndOldOnesAreDeleted) {
  ASSERT_TRUE(open_log({.file = file("server.log"), .file_bytes_max = 1024, .files_max = 2}));
  for (int i = 0; i < 200; ++i) log_info("net", "line {}", i);
  EXPECT_TRUE(std::filesystem::exists(file("server.1.log")));
  EXPECT_TRUE(std::filesystem::exists(file("server.2.log")));
  EXPECT_FALSE(std::filesystem::exists(file("server.3.log")));
  EXPECT_LE(std::filesystem::file_size(file("server.log")), 1024U);
}

TEST_F(LogTest, AFileThatCannotBeOpenedIsAnError) {
  std::ofstream(file("occupied")) << "a file, not a directory";
  EXPECT_FALSE(open_log({.file = file("occupied/server.log")}));
}

TEST(LogText, LevelsHaveTheNamesThatOperatorsWrite) {
  EXPECT_EQ(parse_log_level("INFO"), LogLevel::kInfo);
  EXPECT_EQ(parse_log_level("Warning"), LogLevel::kWarn);
  EXPECT_EQ(parse_log_level("loud"), std::nullopt);
}

TEST(LogText, NamesFromOutsideAreEscaped) {
  EXPECT_EQ(escaped("/plain/path"), "/plain/path");
  EXPECT_EQ(escaped("/\xc3\xa9"), "/\xc3\xa9");  // é, unchanged
  EXPECT_EQ(escaped("a\nb\rc\td"), "a\\nb\\rc\\td");
  EXPECT_EQ(escaped("\x1b[31m"), "\\x1b[31m");
  EXPECT_EQ(escaped(std::string_view("\0", 1)), "\\x00");
  EXPECT_EQ(escaped("\"'\\"), "\\x22\\x27\\x5c");
  EXPECT_EQ(escaped("\xff\xc3"), "\\xff\\xc3");           // not UTF-8
  EXPECT_EQ(escaped("\xc2\x9b"), "\\xc2\\x9b");           // U+009B: some terminals obey it
  EXPECT_EQ(escaped("\xe2\x80\xa8"), "\\xe2\\x80\\xa8");  // a line separator
}

TEST(LogText, LongNamesAreCutBetweenCharacters) {
  EXPECT_EQ(escaped("abcdef", 3), "abc…");
  EXPECT_EQ(escaped("ab\xc3\xa9", 3), "ab…");
  EXPECT_EQ(escaped("abc", 3), "abc");
}

}  // namespace
}  // namespace drover::server
