// SPDX-License-Identifier: Apache-2.0
#include "base/result.h"

#include <system_error>

namespace drover {

IoError io_error(int errno_value, std::string what) {
  what += ": ";
  what += std::generic_category().message(errno_value);
  return IoError{errno_value, std::move(what)};
}

}  // namespace drover
