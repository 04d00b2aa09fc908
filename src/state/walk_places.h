// SPDX-License-Identifier: Apache-2.0
//
// The positions of all walks over a tree. The writer uses them to move a walk off a node that it removes.
//
// The writer never runs while a walk begins or ends. But walks are readers, each on its own thread, so
// several may begin or end at the same time. So a place is claimed with an atomic flag. The list of places
// only grows, up to the largest number that was ever in use at once. The writer, of which there is one, looks
// at all places; without any walk that is one load.
#pragma once

#include <atomic>
#include <cstddef>
#include <utility>

#include "base/ensure.h"
#include "state/node.h"

namespace drover::state {

class ChildListing;

class WalkPlaces {
 public:
  struct Place {
    NodeRef next = kNoNode;           // the next node to visit
    bool cut_off = false;             // the tree was cleared during the walk
    ChildListing* listing = nullptr;  // that the writer must tell of added and removed nodes
    std::atomic<bool> claimed{true};
    Place* older = nullptr;
  };

  WalkPlaces() = default;
  WalkPlaces(const WalkPlaces&) = delete;
  WalkPlaces& operator=(const WalkPlaces&) = delete;
  ~WalkPlaces() {
    ENSURE(!any(), "the tree outlives its walks");
    for (Place* place = newest_.load(); place != nullptr;) delete std::exchange(place, place->older);
  }

  // --- called by walks ---
  Place& claim(NodeRef start) {
    walks_.fetch_add(1, std::memory_order_relaxed);
    Place& place = free_or_new();
    place.next = start;
    place.cut_off = false;
    return place;
  }
  void release(Place& place) {
    place.claimed.store(false, std::memory_order_release);
    walks_.fetch_sub(1, std::memory_order_relaxed);
  }

  // --- called by the writer ---
  bool any() const { return walks_.load(std::memory_order_relaxed) != 0; }
  template <class Visit>
  void for_each(Visit visit) {
    for (Place* place = newest_.load(std::memory_order_acquire); place != nullptr; place = place->older) {
      if (place->claimed.load(std::memory_order_acquire)) visit(*place);
    }
  }

 private:
  Place& free_or_new() {
    Place* newest = newest_.load(std::memory_order_acquire);
    for (Place* place = newest; place != nullptr; place = place->older) {
      bool expected = false;
      if (place->claimed.compare_exchange_strong(expected, true, std::memory_order_acquire)) return *place;
    }
    auto* fresh = new Place;
    fresh->older = newest;
    while (!newest_.compare_exchange_weak(fresh->older, fresh, std::memory_order_acq_rel)) {
    }
    return *fresh;
  }

  std::atomic<Place*> newest_{nullptr};
  std::atomic<std::size_t> walks_{0};
};

}  // namespace drover::state
