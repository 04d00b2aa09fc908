// SPDX-License-Identifier: Apache-2.0
//
// Statistics of a snapshot, gathered while it is streamed. Memory depends on the number of sessions and
// top-level names, not on the number of nodes.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "storage/snapshot_format.h"
#include "tools/output.h"
#include "wire/jute.h"
#include "wire/records.h"

namespace drover::tools {

// Keeps the `size` largest values.
class Largest {
 public:
  explicit Largest(std::size_t size) : size_(size) {}
  void add(std::uint64_t value, std::string_view path) {
    if (kept_.size() < size_ || value > least_) keep(value, path);
  }
  // Largest first.
  std::vector<std::pair<std::uint64_t, std::string>> list() const;

 private:
  void keep(std::uint64_t value, std::string_view path);

  std::size_t size_;
  std::uint64_t least_ = 0;
  std::vector<std::pair<std::uint64_t, std::string>> kept_;
};

class SnapshotStats {
 public:
  void node(std::string_view path, const wire::Nullable& data, const wire::StatPersisted& stat);
  // Call it after the last node.
  void finish();

  std::uint64_t tree_digest() const { return digest_; }
  std::uint64_t data_bytes() const { return data_bytes_; }
  std::uint64_t ephemerals_of(SessionId session) const;
  const std::map<std::int64_t, std::uint64_t>& ephemerals() const { return ephemerals_; }
  // [persistent, ephemeral, container, ttl]
  const std::array<std::uint64_t, 4>& kinds() const { return kinds_; }

  void print(Output& out) const;
  void print_json(Output& out) const;

 private:
  struct Sum {
    std::uint64_t nodes = 0;
    std::uint64_t bytes = 0;
  };
  struct Open {
    std::string path;
    std::uint64_t children = 0;
  };
  Sum& sum_of(std::string_view path);
  void count_child(std::string_view path);
  void close_last();
  std::vector<std::pair<std::string, Sum>> heaviest() const;

  std::uint64_t nodes_ = 0;
  std::uint64_t data_bytes_ = 0;
  std::uint64_t path_bytes_ = 0;
  std::uint64_t digest_ = 0;
  std::size_t depth_max_ = 0;
  std::array<std::uint64_t, 4> kinds_{};
  std::map<std::string, Sum, std::less<>> by_top_;
  std::string last_top_;
  Sum* last_sum_ = nullptr;
  std::map<std::int64_t, std::uint64_t> ephemerals_;
  Largest largest_{10};
  Largest widest_{10};
  std::vector<Open> open_;  // ancestors of the current node: snapshots are written depth first
};

}  // namespace drover::tools
