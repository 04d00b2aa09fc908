// SPDX-License-Identifier: Apache-2.0
#include "cli/shell/completion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace drover::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Completions completed(std::string_view line) {
  return complete(line, [](const std::string& path) -> std::vector<std::string> {
    if (path == "/") return {"zookeeper", "app", "apple"};
    if (path == "/app") return {"b", "a"};
    return {};
  });
}

TEST(Completion, TheFirstWordIsACommand) {
  EXPECT_THAT(completed("dele").words, ElementsAre("delete ", "deleteall "));
  EXPECT_EQ(completed("dele").common_rest(), "te");
  EXPECT_EQ(completed("setA").common_rest(), "cl ");
  EXPECT_THAT(completed("help who").words, ElementsAre("whoami "));
  EXPECT_THAT(completed("nosuch").words, IsEmpty());
}

TEST(Completion, PathIsCompletedFromItsParentsChildren) {
  EXPECT_THAT(completed("get /").words, ElementsAre("/app", "/apple", "/zookeeper"));
  EXPECT_EQ(completed("get /a").common_rest(), "pp");
  EXPECT_EQ(completed("get -s /z").common_rest(), "ookeeper");
  EXPECT_THAT(completed("ls /app/").words, ElementsAre("/app/a", "/app/b"));
  EXPECT_THAT(completed("ls /none/x").words, IsEmpty());
}

TEST(Completion, FlagsAreThoseOfTheCommand) {
  EXPECT_THAT(completed("stat -").words, ElementsAre("--json ", "-w "));
  EXPECT_THAT(completed("stat x").words, IsEmpty());
}

}  // namespace
}  // namespace drover::cli
