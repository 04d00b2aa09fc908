// SPDX-License-Identifier: Apache-2.0
//
// The two kinds of failure that are returned as values. The third kind, a bug in our own code, is ENSURE
// (base/ensure.h).
#pragma once

#include <expected>
#include <string>

#include "base/error_code.h"

namespace drover {

// The user's request cannot be done. No allocation: the error is the wire value.
template <class T>
using CodeResult = std::expected<T, ErrorCode>;

// A failure of the environment: errno (0 if the data itself is bad) and a one-line description of the
// attempt.
struct IoError {
  int code = 0;
  std::string what;
};

template <class T>
using IoResult = std::expected<T, IoError>;

// Appends the text of errno to `what`. For failed system calls.
IoError io_error(int errno_value, std::string what);
// The data is bad; no system call failed.
inline IoError data_error(std::string what) { return IoError{0, std::move(what)}; }

#define DROVER_CONCAT_(a, b) a##b
#define DROVER_CONCAT(a, b) DROVER_CONCAT_(a, b)

// Early return without monadic chains, which GCC 12's std::expected lacks.
#define TRY(expression)                                      \
  do {                                                       \
    if (auto try_result = (expression); !try_result) {       \
      return std::unexpected(std::move(try_result).error()); \
    }                                                        \
  } while (false)

#define TRY_ASSIGN_(declaration, expression, temporary)                 \
  auto temporary = (expression);                                        \
  if (!temporary) return std::unexpected(std::move(temporary).error()); \
  declaration = *std::move(temporary)
#define TRY_ASSIGN(declaration, expression) \
  TRY_ASSIGN_(declaration, expression, DROVER_CONCAT(try_result_, __LINE__))

}  // namespace drover
