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

Task<Result<void>> make_directory(Client client, std::string path, Wait wait) {
  CreateOptions options;
  options.mode = CreateMode::kContainer;
  options.parents = true;
  auto creating = until_answered(client, [&] { return client.create(path, "", options, wait); });
  Result<Created> created = co_await std::move(creating);
  if (!created && created.error() == Errc::kUnimplemented) {
    options.mode = CreateMode::kPersistent;
    auto again = until_answered(client, [&] { return client.create(path, "", options, wait); });
    created = co_await std::move(again);
  }
  if (!created && created.error() != Errc::kNodeExists) co_return std::unexpected(created.error());
  co_return Result<void>{};
}

}  // namespace drover::recipes
