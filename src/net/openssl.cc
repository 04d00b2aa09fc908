// SPDX-License-Identifier: Apache-2.0
#include "net/openssl.h"

#include <openssl/err.h>

namespace drover::net {

std::string take_openssl_error() {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  const char* reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  return reason == nullptr ? "unknown reason" : reason;
}

IoError openssl_error(std::string what) { return data_error(std::move(what) + ": " + take_openssl_error()); }

}  // namespace drover::net
