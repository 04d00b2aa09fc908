// SPDX-License-Identifier: Apache-2.0
//
// The reply to getChildren of a large node, made in pieces: the list, the stat and the zxid are those of the
// moment when it began.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "state/child_listing.h"
#include "state/read.h"
#include "wire/records.h"

namespace drover::state {

class ChildrenReply {
 public:
  ChildrenReply(const Machine& machine, NodeRef node, const ReadRequest& request);

  // Copies at most so many names.
  void go_on(std::size_t most);
  bool complete() const { return listing_.complete(); }
  // It can never be sent: the tree was replaced, or the names are more than a frame can hold.
  bool failed() const;
  std::size_t bytes_held() const { return frame_.capacity(); }
  // When it is complete.
  std::string take_frame();

 private:
  std::string frame_;
  ChildListing listing_;
  std::optional<wire::Stat> stat_;
};

// Checks the request and sets its watch, as answer_read() does. Null: `out` has the reply, an error.
std::unique_ptr<ChildrenReply> begin_children_reply(const Machine& machine, Watches& watches,
                                                    const WatchLimits& limits, const ReadRequest& request,
                                                    std::string& out);

}  // namespace drover::state
