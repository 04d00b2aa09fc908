// SPDX-License-Identifier: Apache-2.0
#include "recipes/steps.h"

namespace drover::recipes {

Task<Result<Client>> bind_to_session(Client client, Wait wait) {
  if (client.bound_session() != SessionId{}) co_return client;
  auto there = client.scheduler().enter();
  co_await there;
  while (client.session() == SessionId{} || client.state() == ConnectionState::kExpired) {
    CO_TRY(until_answered(client, [=] { return client.exists("/", wait); }));
  }
  co_return client.bound();
}

}  // namespace drover::recipes
