// SPDX-License-Identifier: Apache-2.0
//
// Path hash -> node: open addressing with linear probing, 8 bytes per slot.
//
// A slot stores 32 bits of the hash. So growing never reads a node, and a lookup reads a node only if it is
// almost surely the right one. The caller compares the paths to make sure.
#pragma once

#include <cstdint>
#include <vector>

#include "state/node.h"

namespace drover::state {

class PathIndex {
 public:
  // The first node under `hash` for which `is_it(NodeRef)` holds, or kNoNode.
  template <class Predicate>
  NodeRef find(std::uint64_t hash, Predicate is_it) const {
    const std::uint32_t tag = tag_of(hash);
    for (std::size_t i = home(tag);; i = (i + 1) & mask()) {
      const Slot& slot = slots_[i];
      if (slot.node == kNoNode) return kNoNode;
      if (slot.tag == tag && is_it(slot.node)) return slot.node;
    }
  }

  // Prefetches the slot at which find() and insert() start.
  void prefetch(std::uint64_t hash) const { __builtin_prefetch(&slots_[home(tag_of(hash))]); }

  void insert(std::uint64_t hash, NodeRef node) {
    if ((size_ + 1) * 4 > slots_.size() * 3) grow();
    place({tag_of(hash), node});
    ++size_;
  }

  // Removes `node`, which was inserted under `hash`. Later entries of the run move up. So there are no
  // tombstones, and lookups stay fast however long the table lives.
  void erase(std::uint64_t hash, NodeRef node) {
    std::size_t hole = home(tag_of(hash));
    while (slots_[hole].node != node) hole = (hole + 1) & mask();
    for (std::size_t i = (hole + 1) & mask(); slots_[i].node != kNoNode; i = (i + 1) & mask()) {
      const std::size_t from_home = (i - home(slots_[i].tag)) & mask();
      if (from_home < ((i - hole) & mask())) continue;
      slots_[hole] = slots_[i];
      hole = i;
    }
    slots_[hole] = Slot{};
    --size_;
  }

  std::size_t size() const { return size_; }

 private:
  struct Slot {
    std::uint32_t tag = 0;
    NodeRef node = kNoNode;
  };

  static std::uint32_t tag_of(std::uint64_t hash) { return static_cast<std::uint32_t>(hash >> 32); }
  std::size_t mask() const { return slots_.size() - 1; }
  std::size_t home(std::uint32_t tag) const { return tag & mask(); }

  void place(Slot slot) {
    std::size_t i = home(slot.tag);
    while (slots_[i].node != kNoNode) i = (i + 1) & mask();
    slots_[i] = slot;
  }

  void grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.node != kNoNode) place(slot);
    }
  }

  std::vector<Slot> slots_ = std::vector<Slot>(1024);
  std::size_t size_ = 0;
};

}  // namespace drover::state
