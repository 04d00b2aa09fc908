// SPDX-License-Identifier: Apache-2.0
//
// Output that clients have not read yet: a limit for each connection, and one for all together.
#include <algorithm>
#include <functional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "replica/front.h"

namespace drover::replica {
namespace {

constexpr std::size_t kSpareBuffers = 256;
constexpr std::size_t kSpareBufferBytes = 64 * 1024;

}  // namespace

// An idle connection holds no output buffer; a connection that is about to answer gets a warm one.
void Front::borrow_buffer(Conn& c) {
  if (!c.out.empty() || spare_buffers_.empty()) return;
  c.out.swap(spare_buffers_.back());
  spare_buffers_.pop_back();
}

void Front::on_sent(ConnId id) {
  Conn* c = find(id);
  if (!c) return;
  if (c->out.empty()) {
    const bool worth_keeping =
        spare_buffers_.size() < kSpareBuffers && c->out.capacity() <= kSpareBufferBytes;
    if (worth_keeping) spare_buffers_.push_back(std::move(c->out));
    std::string().swap(c->out);  // Assignment would keep the memory.
  }
  count_output(*c);
}

// At the high-water mark requests stop, because they are not read. Events come unasked, so they have a limit.
// A single reply may be larger than the limit: only the output before it counts.
void Front::check_output(Conn& c) {
  if (tail(c).size() <= config_.output_max_bytes || c.closing) return;
  ++stats_.output_overflows;
  drop_output(c);
  end(c);
}

// Counts the memory: a growing buffer is up to twice as large as its content.
void Front::count_output(Conn& c) {
  std::size_t held = c.out.empty() ? 0 : c.out.capacity();
  if (is_listing(c)) held += listing_->reply->bytes_held() + listing_->behind.capacity();
  output_bytes_ = output_bytes_ - c.counted_bytes + held;
  c.counted_bytes = held;
}

void Front::drop_output(Conn& c) {
  if (is_listing(c)) listing_.reset();
  std::string().swap(c.out);
  count_output(c);
}

// At the beginning of a round everything was offered to the sockets, so the rest is what clients do not read.
// Connections whose address holds the most in total go first, and among them the largest. So a fleet that
// reads a little too slowly stays, and one that was told to read nothing goes. The largest output of all is
// exempt: it may be one reply that is larger than the limit, and its client may be reading it.
void Front::evict_unread() {
  if (output_bytes_ <= config_.output_total_max_bytes) exempt_bytes_ = 0;
  if (!is_output_full()) return;
  std::unordered_map<std::string_view, std::size_t> by_address;
  std::vector<Conn*> holders;
  for (const auto& c : conns_) {
    if (!c->in_use || c->counted_bytes == 0) continue;
    holders.push_back(c.get());
    by_address[c->ip] += c->counted_bytes;
  }
  const auto largest = std::ranges::max_element(holders, {}, &Conn::counted_bytes);
  exempt_bytes_ = (*largest)->counted_bytes;
  if (!is_output_full()) return;
  holders.erase(largest);
  std::ranges::sort(holders, std::greater<>(),
                    [&](const Conn* c) { return std::pair{by_address.at(c->ip), c->counted_bytes}; });
  for (Conn* c : holders) {
    // Drop some more than needed, or every further byte would need another search.
    if (output_bytes_ - exempt_bytes_ <= config_.output_total_max_bytes / 4 * 3) return;
    ++totals_.output_evictions;
    ++stats_.output_overflows;
    drop_output(*c);
    end(*c);
  }
}

}  // namespace drover::replica
