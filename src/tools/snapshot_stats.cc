// SPDX-License-Identifier: Apache-2.0
#include "tools/snapshot_stats.h"

#include <algorithm>

#include "base/path.h"
#include "state/digest.h"
#include "state/ephemeral_owner.h"
#include "tools/json.h"
#include "tools/log_stats.h"
#include "tools/text.h"

namespace drover::tools {
namespace {

constexpr std::size_t kTopShown = 20;
constexpr std::size_t kTopMax = 100'000;

std::string pairs_json(const std::vector<std::pair<std::uint64_t, std::string>>& list,
                       std::string_view what) {
  JsonArray array;
  for (const auto& [value, path] : list) {
    std::string one;
    JsonObject json(one);
    json.text("path", path.empty() ? "/" : path).count(what, value).end();
    array.add(one);
  }
  return array.take();
}

}  // namespace

void Largest::keep(std::uint64_t value, std::string_view path) {
  const auto smaller = [](const auto& a, const auto& b) { return a.first > b.first; };
  kept_.emplace_back(value, path);
  std::ranges::push_heap(kept_, smaller);
  if (kept_.size() > size_) {
    std::ranges::pop_heap(kept_, smaller);
    kept_.pop_back();
  }
  least_ = kept_.front().first;
}

std::vector<std::pair<std::uint64_t, std::string>> Largest::list() const {
  auto sorted = kept_;
  std::ranges::sort(sorted, [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  return sorted;
}

void SnapshotStats::node(std::string_view path, const wire::Nullable& data, const wire::StatPersisted& stat) {
  const std::size_t bytes = data ? data->size() : 0;
  ++nodes_;
  data_bytes_ += bytes;
  path_bytes_ += path.size();
  if (state::counts_in_digest(path)) digest_ += state::node_digest(state::content_crc(path, data), stat);
  const state::NodeKind kind = state::kind_of(stat.ephemeral_owner, /*extended_types=*/true);
  ++kinds_[static_cast<std::size_t>(kind)];
  if (kind == state::NodeKind::kEphemeral) ++ephemerals_[stat.ephemeral_owner];
  Sum& sum = sum_of(path);
  ++sum.nodes;
  sum.bytes += bytes;
  largest_.add(bytes, path);
  count_child(path);
}

SnapshotStats::Sum& SnapshotStats::sum_of(std::string_view path) {
  const std::string_view top = top_level(path);
  if (last_sum_ && top == last_top_) return *last_sum_;
  auto it = by_top_.find(top);
  if (it == by_top_.end()) {
    it = by_top_.try_emplace(std::string(by_top_.size() < kTopMax ? top : kOthers)).first;
  }
  last_top_ = top;
  return *(last_sum_ = &it->second);
}

void SnapshotStats::count_child(std::string_view path) {
  if (!path.empty() && path.find('/') != std::string_view::npos) {
    const std::string_view parent = parent_path(path);
    while (!open_.empty() && open_.back().path != parent) close_last();
    if (!open_.empty()) ++open_.back().children;
  }
  open_.push_back({std::string(path), 0});
  depth_max_ = std::max(depth_max_, open_.size() - 1);
}

void SnapshotStats::close_last() {
  if (open_.back().children > 0) widest_.add(open_.back().children, open_.back().path);
  open_.pop_back();
}

void SnapshotStats::finish() {
  while (!open_.empty()) close_last();
}

std::uint64_t SnapshotStats::ephemerals_of(SessionId session) const {
  const auto it = ephemerals_.find(raw(session));
  return it == ephemerals_.end() ? 0 : it->second;
}

std::vector<std::pair<std::string, SnapshotStats::Sum>> SnapshotStats::heaviest() const {
  std::vector<std::pair<std::string, Sum>> tops(by_top_.begin(), by_top_.end());
  std::ranges::sort(tops, [](const auto& a, const auto& b) {
    if (a.second.bytes != b.second.bytes) return a.second.bytes > b.second.bytes;
    return a.second.nodes != b.second.nodes ? a.second.nodes > b.second.nodes : a.first < b.first;
  });
  if (tops.size() > kTopShown) tops.resize(kTopShown);
  return tops;
}

void SnapshotStats::print(Output& out) const {
  out.print("persistent {}, ephemeral {}, container {}, ttl {}\n", kinds_[0], kinds_[1], kinds_[2],
            kinds_[3]);
  out.print("data {}, paths {}, deepest level {}\n", bytes_text(data_bytes_), bytes_text(path_bytes_),
            depth_max_);
  out.print("\n{:<40} {:>12} {:>16}\n", "below", "nodes", "data bytes");
  for (const auto& [top, sum] : heaviest()) {
    out.print("{:<40} {:>12} {:>16}\n", path_text(top), sum.nodes, sum.bytes);
  }
  out.print("\n{:>14}  largest nodes\n", "data bytes");
  for (const auto& [bytes, path] : largest_.list()) out.print("{:>14}  {}\n", bytes, path_text(path));
  out.print("\n{:>14}  most children\n", "children");
  for (const auto& [children, path] : widest_.list()) out.print("{:>14}  {}\n", children, path_text(path));
}

void SnapshotStats::print_json(Output& out) const {
  JsonArray tops;
  for (const auto& [top, sum] : heaviest()) {
    std::string one;
    JsonObject json(one);
    json.text("path", top.empty() ? "/" : top).count("nodes", sum.nodes).count("dataBytes", sum.bytes).end();
    tops.add(one);
  }
  std::string line;
  JsonObject json(line);
  json.text("kind", "stats").count("persistent", kinds_[0]).count("ephemeral", kinds_[1]);
  json.count("container", kinds_[2]).count("ttl", kinds_[3]).count("dataBytes", data_bytes_);
  json.count("pathBytes", path_bytes_).count("depth", depth_max_).json("top", tops.take());
  json.json("largest", pairs_json(largest_.list(), "dataBytes"));
  json.json("widest", pairs_json(widest_.list(), "children")).end_line();
  out.write(line);
}

}  // namespace drover::tools
