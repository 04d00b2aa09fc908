// SPDX-License-Identifier: Apache-2.0
//
// ENSURE(condition, "the sentence that must be true"): stops the process when our own code is wrong.
//
// Enabled in every build. Never use it for bad input: bad data from a client, a peer or a file gets an error.
#pragma once

namespace drover {

[[noreturn]] void ensure_failed(const char* file, int line, const char* condition, const char* sentence);

#define ENSURE(condition, sentence)                                      \
  do {                                                                   \
    if (!(condition)) [[unlikely]] {                                     \
      ::drover::ensure_failed(__FILE__, __LINE__, #condition, sentence); \
    }                                                                    \
  } while (false)

}  // namespace drover
