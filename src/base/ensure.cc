// SPDX-License-Identifier: Apache-2.0
#include "base/ensure.h"

#include <cstdio>
#include <cstdlib>

namespace drover {

void ensure_failed(const char* file, int line, const char* condition, const char* sentence) {
  std::fprintf(stderr, "FATAL %s:%d: broken invariant: %s (%s)\n", file, line, sentence, condition);
  std::fflush(stderr);
  std::abort();
}

}  // namespace drover
