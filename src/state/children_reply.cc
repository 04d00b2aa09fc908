// SPDX-License-Identifier: Apache-2.0
#include "state/children_reply.h"

#include <algorithm>
#include <utility>

#include "base/ensure.h"
#include "wire/jute.h"
#include "wire/replies.h"

namespace drover::state {
namespace {

constexpr std::size_t kFrameBytesMax = std::size_t{1} << 30;
constexpr std::size_t kLengthBytes = 4;

}  // namespace

ChildrenReply::ChildrenReply(const Machine& machine, NodeRef node, const ReadRequest& request)
    : listing_(machine.tree, node, frame_) {
  const Node& listed = machine.tree.at(node);
  if (request.op == wire::OpCode::kGetChildren2) stat_ = machine.tree.stat(listed);
  // Most names fit, so that the writer rarely moves what was copied.
  frame_.reserve(std::min(listed.child_count * kChildBytesEstimate, kFrameBytesMax));
  frame_.append(kLengthBytes, '\0');
  wire::Writer w(frame_);
  wire::encode(w, wire::ReplyHeader{request.xid, machine.last_zxid, ErrorCode::kOk});
  w.i32(static_cast<std::int32_t>(listed.child_count));
}

void ChildrenReply::go_on(std::size_t most) { listing_.copy(most); }

bool ChildrenReply::failed() const { return listing_.cut_off() || frame_.size() > kFrameBytesMax; }

std::string ChildrenReply::take_frame() {
  ENSURE(complete() && !failed(), "a whole list is sent");
  wire::Writer w(frame_);
  if (stat_) wire::encode(w, *stat_);
  wire::store_be<std::int32_t>(frame_.data(), static_cast<std::int32_t>(frame_.size() - kLengthBytes));
  return std::move(frame_);
}

}  // namespace drover::state
