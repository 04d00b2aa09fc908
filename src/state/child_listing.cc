// SPDX-License-Identifier: Apache-2.0
#include "state/child_listing.h"

#include "base/ensure.h"
#include "wire/jute.h"

namespace drover::state {
namespace {

constexpr std::uint32_t kWordBits = 64;

}  // namespace

ChildListing::ChildListing(const Tree& tree, NodeRef parent, std::string& out)
    : tree_(tree),
      parent_(parent),
      place_(tree.walks_.claim(tree.at(parent).first_child)),
      out_(out),
      left_(tree.at(parent).child_count),
      known_(tree.nodes_.end() / kWordBits + 1) {
  place_.listing = this;
}

ChildListing::~ChildListing() {
  place_.listing = nullptr;
  tree_.walks_.release(place_);
}

void ChildListing::copy(std::size_t most) {
  for (; most > 0 && left_ > 0 && !place_.cut_off; --most) {
    const NodeRef ref = place_.next;
    ENSURE(ref != kNoNode && tree_.at(ref).parent == parent_ && !is_known(ref),
           "the children that are not copied yet are behind those that are");
    const Node& child = tree_.at(ref);
    append(child);
    remember(ref);
    place_.next = child.next_sibling;
  }
}

void ChildListing::append(const Node& child) {
  wire::Writer(out_).string(child.name());
  --left_;
}

// Its number may be that of a child that was copied and then removed.
void ChildListing::on_added(NodeRef child) {
  if (tree_.at(child).parent == parent_) remember(child);
}

void ChildListing::on_removed(NodeRef child) {
  const Node& node = tree_.at(child);
  if (left_ > 0 && node.parent == parent_ && !is_known(child)) append(node);
}

// A number that no node had at the beginning belongs to a later node.
bool ChildListing::is_known(NodeRef ref) const {
  const auto index = static_cast<std::uint32_t>(ref);
  return index / kWordBits >= known_.size() || (known_[index / kWordBits] >> index % kWordBits & 1) != 0;
}

void ChildListing::remember(NodeRef ref) {
  const auto index = static_cast<std::uint32_t>(ref);
  if (index / kWordBits < known_.size()) known_[index / kWordBits] |= std::uint64_t{1} << index % kWordBits;
}

}  // namespace drover::state
