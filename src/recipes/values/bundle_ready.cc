// SPDX-License-Identifier: Apache-2.0
//
// Pieces <path>/<piece> are valid while <path>/ready exists. A publisher removes it before the first piece
// and creates it after the last one. A reader that finds the same `ready` (by czxid) before and after has
// read unchanged pieces, because reads of one session never go back.
//
// No other publisher writes at the same time: the transaction that removes `ready` also sets the directory's
// data, and every later transaction checks that version. When the next publisher has begun, the previous one
// can write no further piece.
#include <algorithm>
#include <utility>

#include "base/child_path.h"
#include "recipes/common/loop.h"
#include "recipes/common/settle.h"
#include "recipes/common/steps.h"
#include "recipes/common/token.h"
#include "recipes/values/config_bundle.h"

namespace drover::recipes {
namespace {

constexpr std::string_view kReadyNode = "ready";

std::string ready_of(const BundlePlace& place) { return child_path(place.path, kReadyNode); }

// The names of existing pieces.
Task<Result<std::vector<std::string>>> piece_names(BundlePlace place, Wait wait) {
  auto listing = place.client.children(place.path, wait);
  Result<Children> children = co_await std::move(listing);
  if (!children && children.error() == Errc::kNoNode) co_return std::vector<std::string>{};
  if (!children) co_return std::unexpected(children.error());
  std::erase(children->names, kReadyNode);
  co_return std::move(children->names);
}

// The transaction that begins a publication. A missing `ready` is created and removed, so that the
// transaction fails if another client creates one meanwhile.
std::vector<Op> claim_ops(const BundlePlace& place, const std::string& mark, const std::vector<Op>& fence,
                          bool has_ready) {
  std::vector<Op> ops = fence;
  ops.push_back(Op::set(place.path, mark));
  if (!has_ready) ops.push_back(Op::create(ready_of(place)));
  ops.push_back(Op::remove(ready_of(place)));
  return ops;
}

// Empty: our claim is not valid. The version is the directory's.
Task<Result<std::optional<Version>>> find_claim(BundlePlace place, std::string mark, Wait wait) {
  auto reading = read_now(place.client, place.path, wait);
  const Result<std::optional<NodeData>> now = co_await std::move(reading);
  if (!now) co_return std::unexpected(now.error());
  if (!*now || (*now)->data != mark) co_return std::optional<Version>{};
  co_return std::optional((*now)->stat.version);
}

// Returns the checks for all later transactions of this publication. Claiming twice, because another
// publisher came in between, does no harm.
Task<Result<std::vector<Op>>> claim(BundlePlace place, std::string mark, std::vector<Op> fence, Wait wait) {
  std::optional<Version> version;
  for (bool has_ready = true; !version;) {
    auto writing = place.client.multi(claim_ops(place, mark, fence, has_ready), wait);
    const Result<std::vector<OpResult>> written = co_await std::move(writing);
    if (written) {
      version = written->at(fence.size()).stat->version;
    } else if (is_recoverable(written.error())) {
      CO_TRY(pause_before_retry(place.client, written.error(), wait));
      CO_TRY_ASSIGN(version, find_claim(place, mark, wait));
    } else {
      const Error& error = written.error();
      const bool is_of_ready = error.op_index > static_cast<int>(fence.size()) &&
                               (error == Errc::kNoNode || error == Errc::kNodeExists);
      if (!is_of_ready) co_return std::unexpected(error);
      has_ready = !has_ready;
    }
  }
  fence.push_back(Op::check(place.path, *version));
  co_return fence;
}

Task<Result<void>> write_pieces(BundlePlace place, Pieces pieces, std::vector<std::string> present,
                                std::vector<Op> checks, Wait wait) {
  std::vector<Op> ops;
  for (const std::string& name : present) {
    if (!pieces.contains(name)) ops.push_back(Op::remove(child_path(place.path, name)));
  }
  for (auto& [name, data] : pieces) {
    const bool there = std::ranges::find(present, name) != present.end();
    const std::string path = child_path(place.path, name);
    ops.push_back(there ? Op::set(path, data) : Op::create(path, data));
  }
  auto writing = write_in_parts(place.client, std::move(ops), wait, std::move(checks));
  co_return co_await std::move(writing);
}

// `mark` is in the data, so that after a lost reply the owner is known. If the next publisher has begun, it
// is unknown whether ours was valid before.
Task<Result<void>> make_ready(BundlePlace place, std::string mark, std::vector<Op> checks, Wait wait) {
  std::vector<Op> ops = std::move(checks);
  ops.push_back(Op::create(ready_of(place), mark));
  std::optional<Error> lost;
  for (;;) {
    auto writing = place.client.multi(ops, wait);
    const Result<std::vector<OpResult>> written = co_await std::move(writing);
    if (written) co_return Result<void>{};
    const Error& error = written.error();
    if (!is_recoverable(error)) co_return std::unexpected(lost.value_or(error));
    if (error.maybe_applied()) lost = error;
    auto reading = read_now(place.client, ready_of(place), wait);
    const Result<std::optional<NodeData>> now = co_await std::move(reading);
    if (!now) co_return std::unexpected(error);
    if (*now && (*now)->data == mark) co_return Result<void>{};
    if (*now) co_return std::unexpected(error);
    CO_TRY(pause_before_retry(place.client, error, wait));
  }
}

}  // namespace

Task<Result<void>> publish_ready(BundlePlace place, Pieces pieces, std::vector<Op> fence, Wait wait) {
  auto there = place.client.scheduler().enter();
  co_await there;
  if (pieces.contains(std::string(kReadyNode))) co_return fail(Errc::kBadArguments, ready_of(place));
  auto making = place.client.create(place.path, {}, {.parents = true}, wait);
  const Result<Created> made = co_await std::move(making);
  const bool lost = !made && made.error().error_class() == ErrorClass::kRecoverable;
  if (!made && made.error() != Errc::kNodeExists && !lost) co_return std::unexpected(made.error());
  const std::string mark = new_token(place.client);
  CO_TRY_ASSIGN(const std::vector<Op> checks, claim(place, mark, std::move(fence), wait));
  CO_TRY_ASSIGN(std::vector<std::string> present, piece_names(place, wait));
  CO_TRY(write_pieces(place, std::move(pieces), std::move(present), checks, wait));
  auto finishing = make_ready(place, mark, checks, wait);
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
