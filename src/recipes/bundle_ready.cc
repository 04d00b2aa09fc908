// SPDX-License-Identifier: Apache-2.0
//
// <path>/<piece> count while <path>/ready exists. Whoever publishes removes it before the first piece and
// makes it after the last one. A reader that finds the same `ready` (its czxid) before and after has read
// pieces that nobody has changed meanwhile: reads of one session never go back.
#include <algorithm>
#include <utility>

#include "recipes/config_bundle.h"
#include "recipes/loop.h"
#include "recipes/settle.h"
#include "recipes/token.h"

namespace drover::recipes {
namespace {

constexpr std::string_view kReady = "ready";

std::string ready_of(const BundlePlace& place) { return child_path(place.path, kReady); }

// The names of pieces that are there.
Task<Result<std::vector<std::string>>> piece_names(BundlePlace place, Wait wait) {
  auto listing = place.client.children(place.path, wait);
  Result<Children> children = co_await std::move(listing);
  if (!children && children.error() == Errc::kNoNode) co_return std::vector<std::string>{};
  if (!children) co_return std::unexpected(children.error());
  std::erase(children->names, kReady);
  co_return std::move(children->names);
}

Task<Result<void>> write_pieces(BundlePlace place, Pieces pieces, std::vector<std::string> present,
                                Wait wait) {
  std::vector<Op> ops;
  for (const std::string& name : present) {
    if (!pieces.contains(name)) ops.push_back(Op::remove(child_path(place.path, name)));
  }
  for (auto& [name, data] : pieces) {
    const bool there = std::ranges::find(present, name) != present.end();
    const std::string path = child_path(place.path, name);
    ops.push_back(there ? Op::set(path, data) : Op::create(path, data));
  }
  auto writing = write_in_parts(place.client, std::move(ops), wait);
  co_return co_await std::move(writing);
}

// `mark` is in the data, so that after a lost answer it is known whose it is.
Task<Result<void>> make_ready(BundlePlace place, std::string mark, std::vector<Op> fence, Wait wait) {
  std::vector<Op> ops = std::move(fence);
  ops.push_back(Op::create(ready_of(place), mark));
  for (;;) {
    auto writing = place.client.multi(ops, wait);
    const Result<std::vector<OpResult>> written = co_await std::move(writing);
    if (written) co_return Result<void>{};
    const Error& error = written.error();
    if (error.error_class() != ErrorClass::kRecoverable) co_return std::unexpected(error);
    auto reading = read_now(place.client, ready_of(place), wait);
    const Result<std::optional<NodeData>> now = co_await std::move(reading);
    if (!now) co_return std::unexpected(error);
    if (*now && (*now)->data == mark) co_return Result<void>{};
    if (*now) co_return std::unexpected(error);
  }
}

}  // namespace

Task<Result<void>> publish_ready(BundlePlace place, Pieces pieces, std::vector<Op> fence, Wait wait) {
  auto there = place.client.scheduler().enter();
  co_await there;
  if (pieces.contains(std::string(kReady))) co_return fail(Errc::kBadArguments, ready_of(place));
  auto making = place.client.create(place.path, {}, {.parents = true}, wait);
  const Result<Created> made = co_await std::move(making);
  const bool lost = !made && made.error().error_class() == ErrorClass::kRecoverable;
  if (!made && made.error() != Errc::kNodeExists && !lost) co_return std::unexpected(made.error());
  auto removing = place.client.remove_surely(ready_of(place), std::nullopt, wait);
  const Result<void> removed = co_await std::move(removing);
  if (!removed) co_return removed;
  auto listing = piece_names(place, wait);
  Result<std::vector<std::string>> present = co_await std::move(listing);
  if (!present) co_return std::unexpected(present.error());
  auto writing = write_pieces(place, std::move(pieces), *std::move(present), wait);
  const Result<void> written = co_await std::move(writing);
  if (!written) co_return written;
  auto finishing = make_ready(place, new_token(place.client), std::move(fence), wait);
  co_return co_await std::move(finishing);
}

Task<Result<Bundle>> look_at_ready(BundlePlace place, const Watch& watch, Wait wait) {
  auto looking = place.client.exists(ready_of(place), watch, wait);
  const Result<std::optional<Stat>> before = co_await std::move(looking);
  if (!before) co_return std::unexpected(before.error());
  if (!*before) co_return fail(Errc::kNoNode, ready_of(place));
  auto listing = piece_names(place, wait);
  const Result<std::vector<std::string>> names = co_await std::move(listing);
  if (!names) co_return std::unexpected(names.error());
  auto collecting = read_pieces(place.client, place.path, *names, wait);
  Result<std::optional<Pieces>> pieces = co_await std::move(collecting);
  if (!pieces) co_return std::unexpected(pieces.error());
  auto checking = place.client.exists(ready_of(place), watch, wait);
  const Result<std::optional<Stat>> after = co_await std::move(checking);
  if (!after) co_return std::unexpected(after.error());
  const bool same = *after && (*after)->czxid == (*before)->czxid;
  if (!same || !*pieces) co_return fail(Errc::kNoNode, ready_of(place));
  co_return Bundle{**std::move(pieces), (*before)->czxid};
}

}  // namespace drover::recipes
