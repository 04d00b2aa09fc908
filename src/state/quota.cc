// SPDX-License-Identifier: Apache-2.0
#include "state/quota.h"

#include <charconv>
#include <limits>

#include "base/path.h"

namespace drover::state {
namespace {

constexpr std::string_view kLimitsName = "zookeeper_limits";
constexpr std::string_view kStatsName = "zookeeper_stats";

std::string limits_path(std::string_view path) {
  return std::string(kQuotaPath).append(path).append("/").append(kLimitsName);
}
std::string stats_path(std::string_view path) {
  return std::string(kQuotaPath).append(path).append("/").append(kStatsName);
}

// The path that a node below /zookeeper/quota refers to: "/" for /zookeeper/quota itself.
std::string_view subject_of(std::string_view quota_node) {
  quota_node.remove_prefix(kQuotaPath.size());
  return quota_node.empty() ? kRootPath : quota_node;
}

std::string_view text_of(const Node& node) { return node.data().value_or(std::string_view{}); }

// Clients may write any number into the text, so the sum saturates.
std::int64_t sum(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (!__builtin_add_overflow(a, b, &result)) return result;
  return b > 0 ? std::numeric_limits<std::int64_t>::max() : std::numeric_limits<std::int64_t>::min();
}

void recount(Tree& tree, std::string_view path) {
  const std::string stats = stats_path(path);
  const NodeRef stats_ref = tree.find(stats);
  if (stats_ref == kNoNode) return;
  QuotaText text;
  std::int64_t nodes = 0;
  std::int64_t bytes = 0;
  if (const NodeRef top = tree.find(path); top != kNoNode) {
    const Tree::Below below = tree.below(top);
    nodes = 1 + static_cast<std::int64_t>(below.nodes);
    bytes = static_cast<std::int64_t>(tree.at(top).data_bytes()) + below.data_bytes;
  }
  text.set_count(nodes);
  text.set_bytes(bytes);
  tree.rewrite_data(stats_ref, stats, std::string_view(text.text()));
}

}  // namespace

QuotaText QuotaText::parse(std::string_view text) {
  QuotaText parsed;
  while (!text.empty()) {
    const std::size_t end = text.find_first_of(",;");
    const std::string_view pair = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const std::size_t equals = pair.find('=');
    if (equals == std::string_view::npos) continue;
    std::string_view digits = pair.substr(equals + 1);
    digits = digits.substr(0, digits.find('='));
    std::int64_t value = -1;
    const auto [at, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc{} || at != digits.data() + digits.size()) value = -1;
    parsed.values_.insert_or_assign(std::string(pair.substr(0, equals)), value);
  }
  return parsed;
}

std::int64_t QuotaText::value(const char* key) const {
  const auto found = values_.find(key);
  return found == values_.end() ? -1 : found->second;
}

std::string QuotaText::text() const {
  std::string out = "count=" + std::to_string(count()) + ",bytes=" + std::to_string(bytes());
  bool first = true;
  for (const auto& [key, v] : values_) {
    if (key == "count" || key == "bytes") continue;
    // The extra "=" makes parsers from before hard limits stop here.
    if (first) out += '=';
    first = false;
    out.append(";").append(key).append("=").append(std::to_string(v));
  }
  return out;
}

void Quotas::on_create(Tree& tree, std::string_view path, std::size_t data_bytes) {
  const std::string_view parent = parent_path(path);
  if (parent.starts_with(kQuotaPath)) {
    if (base_name(path) == kLimitsName) limited_.emplace(subject_of(parent));
    if (base_name(path) == kStatsName) recount(tree, subject_of(parent));
  }
  add_usage(tree, path, {static_cast<std::int64_t>(data_bytes), 1});
}

void Quotas::on_delete(Tree& tree, std::string_view path, std::size_t data_bytes) {
  const std::string_view parent = parent_path(path);
  if (parent.starts_with(kQuotaPath) && base_name(path) == kLimitsName) {
    if (const auto found = limited_.find(subject_of(parent)); found != limited_.end()) limited_.erase(found);
  }
  add_usage(tree, path, {-static_cast<std::int64_t>(data_bytes), -1});
}

void Quotas::on_set_data(Tree& tree, std::string_view path, std::int64_t bytes_more) {
  add_usage(tree, path, {bytes_more, 0});
}

// The nearest quota on the node or above it. A quota on the root is ignored, as in Java.
std::optional<std::string_view> Quotas::governing(std::string_view path) const {
  if (limited_.empty() || path.empty() || path == kRootPath) return std::nullopt;
  std::optional<std::string_view> lowest;
  for_each_level(path, limited_.hash_function().key, [&](const Hashed& level) {
    if (const auto found = limited_.find(level); found != limited_.end()) lowest = *found;
  });
  return lowest;
}

void Quotas::add_usage(Tree& tree, std::string_view path, Growth growth) {
  const auto top = governing(path);
  if (!top) return;
  const std::string stats = stats_path(*top);
  const NodeRef ref = tree.find(stats);
  if (ref == kNoNode) return;
  QuotaText text = QuotaText::parse(text_of(tree.at(ref)));
  text.set_count(sum(text.count(), growth.nodes));
  text.set_bytes(sum(text.bytes(), growth.bytes));
  tree.rewrite_data(ref, stats, std::string_view(text.text()));
}

void Quotas::rebuild(Tree& tree) {
  limited_.clear();
  const NodeRef top = tree.find(kQuotaPath);
  if (top == kNoNode) return;
  std::vector<std::string> subjects;
  tree.for_subtree_refs(top, [&](NodeRef ref) {
    const Node& node = tree.at(ref);
    if (node.child_count == 0 && node.name() == kLimitsName) {
      subjects.emplace_back(subject_of(tree.path_of(node.parent)));
    }
  });
  for (const std::string& path : subjects) {
    recount(tree, path);
    limited_.insert(path);
  }
}

CodeResult<void> Quotas::check(const Tree& tree, std::string_view path, Growth growth) const {
  const auto top = governing(path);
  if (!top) return {};
  const Node* limits_node = tree.get(limits_path(*top));
  const Node* stats_node = tree.get(stats_path(*top));
  if (!limits_node || !stats_node) return {};
  const QuotaText limits = QuotaText::parse(text_of(*limits_node));
  const QuotaText usage = QuotaText::parse(text_of(*stats_node));
  const bool too_many =
      growth.nodes != 0 && limits.count_hard() > -1 && sum(usage.count(), growth.nodes) > limits.count_hard();
  const bool too_large =
      growth.bytes != 0 && limits.bytes_hard() > -1 && sum(usage.bytes(), growth.bytes) > limits.bytes_hard();
  if (too_many || too_large) return std::unexpected(ErrorCode::kQuotaExceeded);
  return {};
}

}  // namespace drover::state
