// SPDX-License-Identifier: Apache-2.0
#include "host/stream_pace.h"

#include <gtest/gtest.h>

namespace drover::host {
namespace {

TEST(StreamPace, RestsAfterEachPieceWhileTransactionsAreApplied) {
  StreamPace pace;
  EXPECT_EQ(pace.rest_ms(Zxid{0x100000001}), kStreamRestMs);
  EXPECT_EQ(pace.rest_ms(Zxid{0x100000002}), kStreamRestMs);
  EXPECT_EQ(pace.rest_ms(Zxid{0x200000001}), kStreamRestMs) << "in a later epoch";
}

TEST(StreamPace, DoesNotRestWhenNothingIsWritten) {
  StreamPace pace;
  pace.rest_ms(Zxid{0x100000001});
  EXPECT_EQ(pace.rest_ms(Zxid{0x100000001}), 0);
  EXPECT_EQ(pace.rest_ms(Zxid{0x100000001}), 0);
  EXPECT_EQ(pace.rest_ms(Zxid{0x100000002}), kStreamRestMs);
}

}  // namespace
}  // namespace drover::host
