// SPDX-License-Identifier: Apache-2.0
#include "net/frame.h"

#include <gtest/gtest.h>

#include <string>

namespace drover::net {
namespace {

using namespace std::string_view_literals;

TEST(Frame, IsCompleteOnlyWithItsLastByte) {
  const auto bytes = "\0\0\0\3abcREST"sv;
  std::string_view frame;
  for (std::size_t n = 0; n < 7; ++n) {
    EXPECT_EQ(next_frame(bytes.substr(0, n), 100, frame), FrameStatus::kNeedMore) << n;
  }
  EXPECT_EQ(next_frame(bytes.substr(0, 7), 100, frame), FrameStatus::kComplete);
  EXPECT_EQ(frame, "abc");
  EXPECT_EQ(next_frame(bytes, 100, frame), FrameStatus::kComplete);
  EXPECT_EQ(frame.end(), bytes.begin() + 7);
}

TEST(Frame, MayBeEmpty) {
  std::string_view frame = "stale";
  EXPECT_EQ(next_frame("\0\0\0\0"sv, 100, frame), FrameStatus::kComplete);
  EXPECT_TRUE(frame.empty());
}

TEST(Frame, ALengthAboveTheLimitIsRefusedImmediatelyAndTheLimitIsAccepted) {
  std::string_view frame;
  EXPECT_EQ(next_frame("\0\0\0\4"sv, 4, frame), FrameStatus::kNeedMore);
  EXPECT_EQ(next_frame("\0\0\0\5"sv, 4, frame), FrameStatus::kBadLength);
}

TEST(Frame, ANegativeLengthIsRefused) {
  std::string_view frame;
  EXPECT_EQ(next_frame("\xff\xff\xff\xff"sv, 0x7fffffff, frame), FrameStatus::kBadLength);
  EXPECT_EQ(next_frame("\x80\0\0\0"sv, std::size_t(-1), frame), FrameStatus::kBadLength);
}

}  // namespace
}  // namespace drover::net
