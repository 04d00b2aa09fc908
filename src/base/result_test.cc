// SPDX-License-Identifier: Apache-2.0
#include "base/result.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <utility>

#include "base/ensure.h"

namespace drover {
namespace {

CodeResult<int> half(int n) {
  if (n % 2 != 0) return std::unexpected(ErrorCode::kBadArguments);
  return n / 2;
}

CodeResult<int> quarter(int n, bool& reached_end) {
  TRY_ASSIGN(const int once, half(n));
  TRY_ASSIGN(const int twice, half(once));
  reached_end = true;
  return twice;
}

TEST(Result, TryAssignYieldsTheValueOrReturnsTheError) {
  bool reached_end = false;
  EXPECT_EQ(quarter(12, reached_end).value(), 3);
  EXPECT_TRUE(reached_end);

  reached_end = false;
  EXPECT_EQ(quarter(6, reached_end).error(), ErrorCode::kBadArguments);
  EXPECT_FALSE(reached_end);
}

CodeResult<void> both_even(int a, int b) {
  TRY(half(a));
  TRY(half(b));
  return {};
}

TEST(Result, TryChecksOnlyForSuccess) {
  EXPECT_TRUE(both_even(2, 4).has_value());
  EXPECT_EQ(both_even(2, 3).error(), ErrorCode::kBadArguments);
}

IoResult<std::unique_ptr<int>> owned(bool fail) {
  if (fail) return std::unexpected(data_error("bad checksum"));
  return std::make_unique<int>(7);
}

IoResult<int> read_owned(bool fail) {
  TRY_ASSIGN(const std::unique_ptr<int> value, owned(fail));
  return *value;
}

TEST(Result, TryAssignMovesWhatCannotBeCopied) {
  EXPECT_EQ(read_owned(false).value(), 7);
  EXPECT_EQ(read_owned(true).error().code, 0);
  EXPECT_EQ(read_owned(true).error().what, "bad checksum");
}

TEST(Result, AnIoErrorCarriesErrnoAndTheOperation) {
  const IoError error = io_error(ENOSPC, "append to log.1");
  EXPECT_EQ(error.code, ENOSPC);
  EXPECT_TRUE(error.what.starts_with("append to log.1")) << error.what;
  EXPECT_GT(error.what.size(), std::string("append to log.1").size()) << "the text of errno is missing";
}

TEST(EnsureDeathTest, AFalseConditionPrintsTheSentenceAndAborts) {
  ENSURE(true, "not evaluated as a failure");
  EXPECT_DEATH(ENSURE(1 + 1 == 3, "commits are in zxid order"), "commits are in zxid order");
}

}  // namespace
}  // namespace drover
