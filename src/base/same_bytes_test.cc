// SPDX-License-Identifier: Apache-2.0
#include "base/same_bytes.h"

#include <gtest/gtest.h>

#include <vector>

namespace drover {
namespace {

TEST(SameBytes, SeesEveryByteAtEveryLength) {
  for (std::size_t n = 0; n < 70; ++n) {
    // On the heap and of exactly this size, so that the address sanitizer sees a byte too many.
    const std::vector<char> a(n, 'x');
    std::vector<char> b = a;
    EXPECT_TRUE(same_bytes(a.data(), b.data(), n)) << n;
    for (std::size_t i = 0; i < n; ++i) {
      b[i] = 'y';
      EXPECT_FALSE(same_bytes(a.data(), b.data(), n)) << n << " " << i;
      b[i] = 'x';
    }
  }
}

}  // namespace
}  // namespace drover
