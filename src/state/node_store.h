// SPDX-License-Identifier: Apache-2.0
//
// Stores nodes in pages, addressed by NodeRef. Nodes never move. Freed slots are reused.
#pragma once

#include <memory>
#include <vector>

#include "base/ensure.h"
#include "state/node.h"

namespace drover::state {

class NodeStore {
 public:
  Node& at(NodeRef ref) { return pages_[index(ref) / kPage][index(ref) % kPage]; }
  const Node& at(NodeRef ref) const { return pages_[index(ref) / kPage][index(ref) % kPage]; }

  NodeRef allocate() {
    if (free_ != kNoNode) {
      const NodeRef ref = free_;
      free_ = at(ref).next_sibling;
      at(ref) = Node{};
      return ref;
    }
    if (used_ % kPage == 0) pages_.push_back(std::make_unique_for_overwrite<Node[]>(kPage));
    const NodeRef ref{used_++};
    ENSURE(used_ != 0, "a tree has fewer than 2^32 nodes");
    at(ref) = Node{};
    return ref;
  }

  // Above every number that a node has.
  std::uint32_t end() const { return used_; }

  void release(NodeRef ref) {
    at(ref).next_sibling = free_;
    free_ = ref;
  }

 private:
  static constexpr std::uint32_t kPage = 4096;
  static std::uint32_t index(NodeRef ref) { return static_cast<std::uint32_t>(ref); }

  std::vector<std::unique_ptr<Node[]>> pages_ = first_page();
  std::uint32_t used_ = 1;  // slot 0 is kNoNode
  NodeRef free_ = kNoNode;

  static std::vector<std::unique_ptr<Node[]>> first_page() {
    std::vector<std::unique_ptr<Node[]>> pages;
    pages.push_back(std::make_unique_for_overwrite<Node[]>(kPage));
    return pages;
  }
};

}  // namespace drover::state
