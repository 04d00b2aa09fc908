// SPDX-License-Identifier: Apache-2.0
#include "recipes/token.h"

#include <atomic>

namespace drover::recipes {

std::string new_token(const Client& client) {
  static std::atomic<std::uint64_t> count{0};
  constexpr char kDigits[] = "0123456789abcdef";
  const std::uint64_t halves[] = {static_cast<std::uint64_t>(raw(client.session())), ++count};
  std::string token;
  for (const std::uint64_t half : halves) {
    for (int shift = 60; shift >= 0; shift -= 4) token += kDigits[half >> shift & 15];
  }
  return token;
}

}  // namespace drover::recipes
