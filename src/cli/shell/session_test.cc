// SPDX-License-Identifier: Apache-2.0
//
// Lines as they are executed, against a server in this process: what several threads have to do with each
// other is seen by the sanitizers here. What is printed, word for word, is compared with Java's by tests/cli.
#include "cli/shell/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "drover/testing.h"

namespace drover::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Lines : public ::testing::Test {
 protected:
  StartOptions options() const {
    StartOptions options;
    options.connection.servers = server_.connect_string();
    options.wait_for_connection = true;
    return options;
  }
  // Runs the lines in a new session and returns its standard output.
  std::string output_of(const std::vector<std::string>& lines) {
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    {
      Output output;
      Session session(options(), output);
      EXPECT_TRUE(session.connect());
      for (const std::string& line : lines) session.execute_line(line);
      exit_code_ = session.exit_code();
    }
    ::testing::internal::GetCapturedStderr();
    return ::testing::internal::GetCapturedStdout();
  }

  drover::testing::Server server_ = unwrap(drover::testing::Server::start());
  int exit_code_ = 0;
};

TEST_F(Lines, AreExecutedInOrder) {
  EXPECT_THAT(output_of({"create /a hello", "get /a", "set /a 'two words'", "get /a"}),
              HasSubstr("hello\ntwo words\n"));
  EXPECT_EQ(exit_code_, 0);
  output_of({"get /a", "get /nosuch"});
  EXPECT_EQ(exit_code_, 1);
  output_of({"nosuch"});
  EXPECT_EQ(exit_code_, 127);
}

TEST_F(Lines, EventsFromAnotherThreadPrecedeLaterReplies) {
  const std::string output = output_of({"create /w", "get -w /w", "ls -w /w", "delete /w", "ls /"});
  const std::string event = "WatchedEvent state:SyncConnected type:NodeDeleted path:/w\n";
  EXPECT_THAT(output, HasSubstr("null\n[]\n\nWATCHER::\n\n" + event));
  EXPECT_EQ(output.find(event), output.rfind(event)) << "it is printed once";
  EXPECT_THAT(output_of({"printwatches off", "create /w", "get -w /w", "delete /w", "ls /"}),
              Not(HasSubstr("NodeDeleted")));
}

TEST_F(Lines, RemovedWatchIsSilent) {
  const std::string output =
      output_of({"create /r", "get -w /r", "removewatches /r -d", "set /r x", "sync /r"});
  EXPECT_THAT(output, HasSubstr("type:DataWatchRemoved path:/r"));
  EXPECT_THAT(output, Not(HasSubstr("NodeDataChanged")));
}

TEST_F(Lines, AfterCloseCommandsFailUntilConnect) {
  EXPECT_THAT(output_of({"close", "ls /", "connect", "ls /"}), HasSubstr("Not connected\n"));
  EXPECT_EQ(exit_code_, 0);
}

TEST_F(Lines, ManyNodesAreReadAndDeletedInWindows) {
  std::vector<std::string> lines{"create /many"};
  for (int i = 0; i < 300; ++i) lines.push_back("create -s /many/n- x");
  lines.insert(lines.end(),
               {"cp -r /many /more", "getAllChildrenNumber /more", "deleteall /many -b 7", "ls /"});
  EXPECT_THAT(output_of(lines), HasSubstr("300\n[more, zookeeper]\n"));
}

TEST_F(Lines, TheSessionEndsWithTheShell) {
  output_of({"create -e /mine"});
  EXPECT_THAT(output_of({"ls /"}), HasSubstr("[zookeeper]"));
}

}  // namespace
}  // namespace drover::cli
