// SPDX-License-Identifier: Apache-2.0
#include "recipes/common/token.h"

namespace drover::recipes {

std::string new_token(const Client& client) {
  std::string token = client.new_uuid();
  std::erase(token, '-');
  return token;
}

}  // namespace drover::recipes
