// SPDX-License-Identifier: Apache-2.0
//
// <path>/<version>/<piece>, which never change, and <path>/current with the name of a version. A version's
// data is the number of its pieces, so that a reader notices if a version is being removed.
#include <algorithm>
#include <utility>

#include "base/child_path.h"
#include "base/path.h"
#include "layouts/sequence.h"
#include "recipes/common/loop.h"
#include "recipes/common/settle.h"
#include "recipes/values/config_bundle.h"

namespace drover::recipes {
namespace {

constexpr std::string_view kMarker = "v-";
constexpr int kKept = 2;

std::string current_of(const BundlePlace& place) { return child_path(place.path, "current"); }

// Creates a directory with all pieces, which no reader uses yet.
Task<Result<std::string>> write_version(BundlePlace place, Pieces pieces, Wait wait) {
  auto creating =
      place.client.create_protected(child_path(place.path, kMarker), std::to_string(pieces.size()),
                                    {.mode = CreateMode::kPersistentSequential, .parents = true}, wait);
  const Result<Created> created = co_await std::move(creating);
  if (!created) co_return std::unexpected(created.error());
  std::vector<Op> ops;
  for (auto& [name, data] : pieces) ops.push_back(Op::create(child_path(created->path, name), data));
  auto writing = write_in_parts(place.client, std::move(ops), wait);
  const Result<void> written = co_await std::move(writing);
  if (!written) co_return std::unexpected(written.error());
  co_return std::string(base_name(created->path));
}

Task<Result<void>> remove_version(BundlePlace place, std::string name) {
  const std::string path = child_path(place.path, name);
  auto listing = place.client.children(path);
  const Result<Children> children = co_await std::move(listing);
  if (!children) co_return std::unexpected(children.error());
  std::vector<Op> ops;
  for (const std::string& piece : children->names) ops.push_back(Op::remove(child_path(path, piece)));
  auto clearing = write_in_parts(place.client, std::move(ops), Wait{});
  const Result<void> cleared = co_await std::move(clearing);
  if (!cleared) co_return cleared;
  auto removing = place.client.remove_surely(path);
  co_return co_await std::move(removing);
}

// Old versions, except for the last few. A version with a later sequence number may be in preparation.
Task<Result<void>> remove_old(BundlePlace place, std::string current) {
  auto listing = place.client.children(place.path);
  Result<Children> children = co_await std::move(listing);
  if (!children) co_return std::unexpected(children.error());
  const auto now = layouts::sequence_of(current, kMarker);
  std::vector<std::pair<std::int32_t, std::string>> older;
  for (std::string& name : children->names) {
    const auto sequence = layouts::sequence_of(name, kMarker);
    if (now && sequence && layouts::comes_before(*sequence, *now))
      older.emplace_back(*sequence, std::move(name));
  }
  std::ranges::sort(older,
                    [](const auto& a, const auto& b) { return layouts::comes_before(b.first, a.first); });
  for (std::size_t i = kKept - 1; i < older.size(); ++i) {
    auto removing = remove_version(place, older[i].second);
    co_await std::move(removing);
  }
  co_return Result<void>{};
}

// The publication itself. The name is unique, so after a lost reply the pointer shows whether it was applied.
Task<Result<void>> point_to(BundlePlace place, std::string name, std::optional<Stat> before,
                            std::vector<Op> fence, Wait wait) {
  std::vector<Op> ops = std::move(fence);
  ops.push_back(before ? Op::set(current_of(place), name, before->version)
                       : Op::create(current_of(place), name));
  for (;;) {
    auto writing = place.client.multi(ops, wait);
    const Result<std::vector<OpResult>> written = co_await std::move(writing);
    if (written) co_return Result<void>{};
    Error error = written.error();
    if (error == Errc::kNodeExists) error.code = Errc::kBadVersion;  // Another publisher was the first.
    if (error.error_class() != ErrorClass::kRecoverable) co_return std::unexpected(error);
    if (!error.maybe_applied()) continue;
    auto reading = read_now(place.client, current_of(place), wait);
    const Result<std::optional<NodeData>> now = co_await std::move(reading);
    if (!now) co_return std::unexpected(error);
    if (*now && (*now)->data == name) co_return Result<void>{};
    const bool untouched = before ? *now && (*now)->stat.mzxid == before->mzxid : !*now;
    if (!untouched) co_return std::unexpected(error);
  }
}

}  // namespace

Task<Result<void>> publish_pointer(BundlePlace place, Pieces pieces, std::vector<Op> fence, Wait wait) {
  auto there = place.client.scheduler().enter();
  co_await there;
  auto reading = read_now(place.client, current_of(place), wait);
  const Result<std::optional<NodeData>> before = co_await std::move(reading);
  if (!before) co_return std::unexpected(before.error());
  auto writing = write_version(place, std::move(pieces), wait);
  const Result<std::string> name = co_await std::move(writing);
  if (!name) co_return std::unexpected(name.error());
  const auto stat = *before ? std::optional((*before)->stat) : std::nullopt;
  auto pointing = point_to(place, *name, stat, std::move(fence), wait);
  Result<void> published = co_await std::move(pointing);
  if (published) start(remove_old(place, *name));
  if (!published && !published.error().maybe_applied()) start(remove_version(place, *name));
  co_return published;
}

Task<Result<Bundle>> look_at_pointer(BundlePlace place, const Watch& watch, Wait wait) {
  for (;;) {
    auto reading = place.client.get(current_of(place), watch, wait);
    const Result<NodeData> current = co_await std::move(reading);
    if (!current && current.error() == Errc::kNoNode) {
      auto looking = place.client.exists(current_of(place), watch, wait);
      const Result<std::optional<Stat>> stat = co_await std::move(looking);
      if (!stat) co_return std::unexpected(stat.error());
      if (*stat) continue;
      co_return fail(Errc::kNoNode, current_of(place));
    }
    if (!current) co_return std::unexpected(current.error());
    const std::string path = child_path(place.path, current->data);
    auto sizing = place.client.get(path, wait);
    const Result<NodeData> version = co_await std::move(sizing);
    if (!version && version.error() == Errc::kNoNode) continue;  // It was removed; there is a newer one.
    if (!version) co_return std::unexpected(version.error());
    auto listing = place.client.children(path, wait);
    const Result<Children> children = co_await std::move(listing);
    if (!children && children.error() == Errc::kNoNode) continue;
    if (!children) co_return std::unexpected(children.error());
    if (std::to_string(children->names.size()) != version->data) continue;
    auto collecting = read_pieces(place.client, path, children->names, wait);
    Result<std::optional<Pieces>> pieces = co_await std::move(collecting);
    if (!pieces) co_return std::unexpected(pieces.error());
    if (*pieces) co_return Bundle{**std::move(pieces), current->stat.mzxid};
  }
}

}  // namespace drover::recipes
