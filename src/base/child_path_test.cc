// SPDX-License-Identifier: Apache-2.0
#include "base/child_path.h"

#include <gtest/gtest.h>

namespace drover {
namespace {

TEST(ChildPath, HasOneSlashBelowTheRootToo) {
  EXPECT_EQ(child_path("/", "a"), "/a");
  EXPECT_EQ(child_path("/a", "b"), "/a/b");
}

TEST(ParentOrRoot, IsTheRootForItsChildrenAndForItself) {
  EXPECT_EQ(parent_or_root("/a/b"), "/a");
  EXPECT_EQ(parent_or_root("/a"), "/");
  EXPECT_EQ(parent_or_root("/"), "/");
}

}  // namespace
}  // namespace drover
