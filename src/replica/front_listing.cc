// SPDX-License-Identifier: Apache-2.0
//
// Long lists of children, copied in pieces: between two pieces, the lock on the tree is free for writers.
//
// Such a request is the last of its connection until it is answered, and lists wait for each other.
#include <memory>
#include <utility>

#include "base/ensure.h"
#include "replica/front.h"

namespace drover::replica {

bool Front::has_list_at_head(const Conn& c) const {
  return c.waiting && c.waiting->size() > 0 && c.waiting->entries[c.waiting->head].is_long_list;
}

void Front::list_on(Instant now) {
  while (!listing_ && !lists_due_.empty() && !is_output_full()) {
    const ConnId next = lists_due_.front();
    lists_due_.pop_front();
    begin_list(next, now);
  }
  if (!listing_) return;
  Conn* c = find(listing_->conn);
  ENSURE(c != nullptr, "the list of a closed connection is dropped");
  state::ChildrenReply& reply = *listing_->reply;
  reply.go_on(config_.children_of_piece);
  round_work_ += config_.children_of_piece;
  if (c->closing || reply.failed()) {
    listing_.reset();
    end(*c);
  } else if (reply.complete()) {
    end_list(*c, now);
  }
  count_output(*c);
}

// An error is answered at once.
void Front::begin_list(ConnId id, Instant now) {
  Conn* c = find(id);
  if (!c || c->closing || !has_list_at_head(*c)) return;
  Waiting::Entry request = dequeue(*c);
  ENSURE(c->waiting->size() == 0, "nothing is read behind a long list");
  const std::string_view body =
      std::string_view(c->waiting->bytes).substr(request.offset, request.body_bytes);
  const Read read{request.xid, request.op, body, request.who.get(), request.received};
  const std::size_t from = c->out.size();
  auto reply =
      state::begin_children_reply(machine_, watches_, config_.watches, read_request(*c, read), c->out);
  recycle(*c);
  if (reply) {
    listing_.emplace(Listing{id, std::move(request), std::move(reply), {}});
    return;
  }
  c->lists = false;
  count_reply(*c, {read.op, read.xid, read.received, /*is_write=*/false, c->out.size() - from}, now);
  count_output(*c);
  look_at_limits(*c);
  list(*c);
}

void Front::end_list(Conn& c, Instant now) {
  Listing ended = std::move(*listing_);
  listing_.reset();
  std::string frame = ended.reply->take_frame();
  const std::size_t bytes = frame.size();
  // Usually everything before it was sent: then the reply, which may be large, is not copied.
  if (c.out.empty()) {
    c.out = std::move(frame);
  } else {
    c.out.append(frame);
  }
  c.out.append(ended.behind);
  c.lists = false;
  ++totals_.long_lists;
  count_reply(c, {ended.request.op, ended.request.xid, ended.request.received, /*is_write=*/false, bytes},
              now);
  look_at_limits(c);
  list(c);
}

}  // namespace drover::replica
