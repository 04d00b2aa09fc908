// SPDX-License-Identifier: Apache-2.0
//
// Quotas: limits on a subtree's number of nodes and bytes, and the running count of both.
//
// The limits of /a live in /zookeeper/quota/a/zookeeper_limits, the count in .../zookeeper_stats, both as
// text: "count=10,bytes=-1" and, with hard limits, "count=10,bytes=-1=;byteHardLimit=5;countHardLimit=7".
// Every server updates the statistics in place by itself; there is no transaction for it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <boost/unordered/unordered_flat_set.hpp>

#include "base/result.h"
#include "state/tree.h"

namespace drover::state {

// The text of a limits or stats node. Unknown keys are kept; unreadable values count as absent.
class QuotaText {
 public:
  static QuotaText parse(std::string_view text);
  std::string text() const;

  std::int64_t count() const { return value("count"); }
  std::int64_t bytes() const { return value("bytes"); }
  std::int64_t count_hard() const { return value("countHardLimit"); }
  std::int64_t bytes_hard() const { return value("byteHardLimit"); }
  void set_count(std::int64_t v) { values_["count"] = v; }
  void set_bytes(std::int64_t v) { values_["bytes"] = v; }

 private:
  std::int64_t value(const char* key) const;  // -1 when absent: no limit
  std::map<std::string, std::int64_t, std::less<>> values_;
};

class Quotas {
 public:
  explicit Quotas(const HashKey& key) : limited_(0, KeyedHash{key}) {}

  // Called by apply after the tree has changed.
  void on_create(Tree& tree, std::string_view path, std::size_t data_bytes);
  void on_delete(Tree& tree, std::string_view path, std::size_t data_bytes);
  void on_set_data(Tree& tree, std::string_view path, std::int64_t bytes_more);

  // Finds all quotas again and counts the nodes they cover. For use after loading a snapshot.
  void rebuild(Tree& tree);

  // QUOTAEXCEEDED if a hard limit forbids the growth.
  struct Growth {
    std::int64_t bytes = 0;
    std::int64_t nodes = 0;
  };
  CodeResult<void> check(const Tree& tree, std::string_view path, Growth growth) const;

  bool empty() const { return limited_.empty(); }

 private:
  std::optional<std::string_view> governing(std::string_view path) const;
  void add_usage(Tree& tree, std::string_view path, Growth growth);

  boost::unordered_flat_set<std::string, KeyedHash, std::equal_to<>> limited_;  // paths that have limits
};

}  // namespace drover::state
