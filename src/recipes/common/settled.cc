// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/settled.h"

#include <optional>
#include <utility>

#include "recipes/common/settle.h"
#include "recipes/common/steps.h"

namespace drover::recipes {
namespace {

enum class IfAbsent : std::uint8_t { kFail, kCreate };

Task<Result<Stat>> write_once(Client client, std::string path, std::string data, Version expected,
                              IfAbsent if_absent, Wait wait) {
  for (;;) {
    auto setting = client.set(path, data, expected, wait);
    Result<Stat> set = co_await std::move(setting);
    if (set || set.error() != Errc::kNoNode || if_absent == IfAbsent::kFail) co_return set;
    auto creating = client.create(path, data, {.parents = true}, wait);
    const Result<Created> created = co_await std::move(creating);
    if (created) co_return created->stat;
    if (created.error() != Errc::kNodeExists) co_return std::unexpected(created.error());
  }
}

Task<Result<Stat>> write(Client client, std::string path, std::string data, Version expected,
                         IfAbsent if_absent, Wait wait) {
  for (;;) {
    auto writing = write_once(client, path, data, expected, if_absent, wait);
    Result<Stat> written = co_await std::move(writing);
    if (written || written.error().error_class() != ErrorClass::kRecoverable) co_return written;
    if (!written.error().maybe_applied()) {
      CO_TRY(pause_before_retry(client, written.error(), wait));
      continue;
    }
    auto reading = read_now(client, path, wait);
    const Result<std::optional<NodeData>> now = co_await std::move(reading);
    if (!now || !*now) co_return written;
    if ((*now)->stat.version == expected) continue;
    if ((*now)->data == data) co_return (*now)->stat;
    co_return written;
  }
}

}  // namespace

Task<Result<std::optional<NodeData>>> read_now(Client client, std::string path, Wait wait) {
  for (;;) {
    auto syncing = client.sync(path, wait);
    const Result<void> synced = co_await std::move(syncing);
    if (!synced && !is_recoverable(synced.error())) co_return std::unexpected(synced.error());
    if (!synced) {
      CO_TRY(pause_before_retry(client, synced.error(), wait));
      continue;
    }
    auto reading = client.get(path, wait);
    Result<NodeData> node = co_await std::move(reading);
    if (node) co_return std::optional<NodeData>(*std::move(node));
    if (node.error() == Errc::kNoNode) co_return std::optional<NodeData>{};
    if (!is_recoverable(node.error())) co_return std::unexpected(node.error());
    CO_TRY(pause_before_retry(client, node.error(), wait));
  }
}

Task<Result<Stat>> write_settled(Client client, std::string path, std::string data, Version expected,
                                 Wait wait) {
  const IfAbsent if_absent = expected == Version::kAny ? IfAbsent::kCreate : IfAbsent::kFail;
  return write(std::move(client), std::move(path), std::move(data), expected, if_absent, std::move(wait));
}

Task<Result<Stat>> create_settled(Client client, std::string path, std::string data, Wait wait) {
  for (bool lost = false;;) {
    auto creating = client.create(path, data, {.parents = true}, wait);
    const Result<Created> created = co_await std::move(creating);
    if (created) co_return created->stat;
    const Error& error = created.error();
    if (is_recoverable(error)) {
      lost = lost || error.maybe_applied();
      CO_TRY(pause_before_retry(client, error, wait));
      continue;
    }
    if (error != Errc::kNodeExists || !lost) co_return std::unexpected(error);
    CO_TRY_ASSIGN(const std::optional<NodeData> now, read_now(client, path, wait));
    if (!now) continue;
    if (now->stat.version == Version{0} && now->data == data) co_return now->stat;
    co_return std::unexpected(Error{Errc::kNodeExists, Applied::kMaybe, path});
  }
}

Task<Result<Stat>> set_settled(Client client, std::string path, std::string data, Version expected,
                               Wait wait) {
  return write(std::move(client), std::move(path), std::move(data), expected, IfAbsent::kFail,
               std::move(wait));
}

}  // namespace drover::recipes
