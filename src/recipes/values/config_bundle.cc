// SPDX-License-Identifier: Apache-2.0
#include "recipes/values/config_bundle.h"

#include <algorithm>
#include <utility>

#include "base/child_path.h"
#include "drover/signal.h"
#include "recipes/common/loop.h"
#include "recipes/common/steps.h"

namespace drover::recipes {
namespace {

constexpr std::size_t kPartBytes = 256 << 10;  // servers take a megabyte
constexpr std::size_t kPartOps = 500;

std::size_t bytes_of(const Op& op) { return op.path.size() + op.data.size() + 100; }

}  // namespace

Task<Result<std::optional<Pieces>>> read_pieces(Client client, std::string path,
                                                std::vector<std::string> names, Wait wait) {
  std::vector<Task<Result<NodeData>>> reads;
  for (const std::string& name : names) reads.push_back(client.get(child_path(path, name), wait));
  auto reading = when_all(std::move(reads));
  std::vector<Result<NodeData>> nodes = co_await std::move(reading);
  Pieces pieces;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!nodes[i] && nodes[i].error() == Errc::kNoNode) co_return std::optional<Pieces>{};
    if (!nodes[i]) co_return std::unexpected(nodes[i].error());
    pieces.emplace(names[i], std::move(nodes[i]->data));
  }
  co_return std::optional<Pieces>(std::move(pieces));
}

namespace {

std::size_t part_size(const std::vector<Op>& ops, std::size_t first) {
  std::size_t count = 0;
  for (std::size_t bytes = 0; first + count < ops.size() && count < kPartOps; ++count) {
    bytes += bytes_of(ops[first + count]);
    if (count > 0 && bytes > kPartBytes) break;
  }
  return count;
}

// The operation fails because it was applied before. True: continue with the others.
bool settle_op(std::vector<Op>& ops, std::size_t at, const Error& error) {
  if (at >= ops.size()) return false;
  if (ops[at].kind == Op::Kind::kCreate && error == Errc::kNodeExists) {
    ops[at] = Op::set(ops[at].path, ops[at].data);
    return true;
  }
  if (ops[at].kind == Op::Kind::kRemove && error == Errc::kNoNode) {
    ops.erase(ops.begin() + static_cast<std::ptrdiff_t>(at));
    return true;
  }
  return false;
}

}  // namespace

Task<Result<void>> write_in_parts(Client client, std::vector<Op> ops, Wait wait, std::vector<Op> checks) {
  for (std::size_t first = 0; first < ops.size();) {
    const std::size_t count = part_size(ops, first);
    const auto begin = ops.begin() + static_cast<std::ptrdiff_t>(first);
    std::vector<Op> part = checks;
    part.insert(part.end(), begin, begin + static_cast<std::ptrdiff_t>(count));
    auto writing = client.multi(std::move(part), wait);
    const Result<std::vector<OpResult>> written = co_await std::move(writing);
    if (written) {
      first += count;
      continue;
    }
    const Error& error = written.error();
    if (is_recoverable(error)) {
      CO_TRY(pause_before_retry(client, error, wait));
      continue;
    }
    const auto failed = static_cast<std::size_t>(std::max(0, error.op_index));
    if (failed < checks.size() || !settle_op(ops, first + failed - checks.size(), error)) {
      co_return std::unexpected(error);
    }
  }
  co_return Result<void>{};
}

class ConfigBundle::State {
 public:
  State(Client c, std::string p, BundleMode m) : place{std::move(c), std::move(p)}, mode(m) {}

  // The first newer one; kNoNode if there is none and `wait` does not allow waiting.
  static Task<Result<Bundle>> follow(std::shared_ptr<const State> self, Zxid after, bool wait_for_first,
                                     Wait wait);

  const BundlePlace place;
  const BundleMode mode;
};

Task<Result<Bundle>> ConfigBundle::State::follow(std::shared_ptr<const State> self, Zxid after,
                                                 bool wait_for_first, Wait wait) {
  auto there = self->place.client.scheduler().enter();
  co_await there;
  Signal changed(self->place.client.scheduler());
  const Watch watch = changed.watch();
  for (;;) {
    auto looking = self->mode == BundleMode::kPointer ? look_at_pointer(self->place, watch, wait)
                                                      : look_at_ready(self->place, watch, wait);
    Result<Bundle> bundle = co_await std::move(looking);
    if (bundle && bundle->zxid > after) co_return bundle;
    const bool none = !bundle && bundle.error() == Errc::kNoNode;
    const bool lost = !bundle && (bundle.error().error_class() == ErrorClass::kRecoverable ||
                                  bundle.error() == Errc::kSessionExpired);
    if (lost && self->place.client.state() != ConnectionState::kExpired) {
      CO_TRY(pause_before_retry(self->place.client, bundle.error(), wait));
      continue;
    }
    if (!bundle && !(none && wait_for_first)) co_return bundle;
    auto waiting = changed.wait(wait);
    const Result<void> woken = co_await std::move(waiting);
    if (!woken) co_return std::unexpected(woken.error());
  }
}

ConfigBundle::ConfigBundle(Client client, std::string path, BundleMode mode)
    : state_(std::make_shared<State>(std::move(client), std::move(path), mode)) {}

Task<Result<void>> ConfigBundle::publish(Pieces pieces, PublishOptions options, Wait wait) const {
  const auto publish = state_->mode == BundleMode::kPointer ? publish_pointer : publish_ready;
  return publish(state_->place, std::move(pieces), std::move(options.fence), std::move(wait));
}

Task<Result<Bundle>> ConfigBundle::read(Wait wait) const {
  return State::follow(state_, Zxid{-1}, state_->mode == BundleMode::kReady, std::move(wait));
}

Task<Result<Bundle>> ConfigBundle::next(Bundle last, Wait wait) const {
  return State::follow(state_, last.zxid, true, std::move(wait));
}

}  // namespace drover::recipes
