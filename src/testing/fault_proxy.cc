// SPDX-License-Identifier: Apache-2.0
#include "testing/fault_proxy.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "base/ensure.h"
#include "client/op_words.h"
#include "wire/jute.h"

namespace drover::testing {
namespace {

// Data above this limit waits in the sockets.
constexpr std::size_t kBufferMax = 1 << 20;

void make_non_blocking(const Socket& socket) { fcntl(socket.fd(), F_SETFL, O_NONBLOCK); }

bool would_block() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

// False: the other side is gone.
bool flush(const Socket& socket, std::string& bytes) {
  while (!bytes.empty()) {
    const ssize_t n = send(socket.fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n < 0) return would_block();
    bytes.erase(0, static_cast<std::size_t>(n));
  }
  return true;
}

}  // namespace

FaultProxy::FaultProxy(Socket listener, Place server)
    : listener_(std::move(listener)), server_(std::move(server)) {
  std::array<int, 2> ends{};
  ENSURE(pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) == 0, "a pipe can be made");
  wake_read_ = Socket(ends[0]);
  wake_write_ = Socket(ends[1]);
  make_non_blocking(listener_);
  thread_ = std::thread([this] { run(); });
}

FaultProxy::~FaultProxy() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake();
  thread_.join();
}

void FaultProxy::wake() const {
  // A full pipe also wakes the thread.
  [[maybe_unused]] const ssize_t n = write(wake_write_.fd(), "x", 1);
}

void FaultProxy::set_trap(Trap trap) {
  std::lock_guard lock(mutex_);
  traps_.push_back(std::move(trap));
}

void FaultProxy::set_mode(Mode mode) {
  {
    std::lock_guard lock(mutex_);
    mode_ = mode;
    if (mode == Mode::kCut) links_.clear();
  }
  wake();
}

void FaultProxy::disconnect() {
  {
    std::lock_guard lock(mutex_);
    links_.clear();
  }
  wake();
}

std::size_t FaultProxy::connections() const {
  std::lock_guard lock(mutex_);
  return links_.size();
}

std::uint64_t FaultProxy::requests(std::string_view op) const {
  std::lock_guard lock(mutex_);
  std::uint64_t sum = 0;
  for (const auto& [word, count] : requests_) {
    if (op.empty() || op == word) sum += count;
  }
  return sum;
}

// --- the thread ---

void FaultProxy::poll_all(std::vector<pollfd>& polled) {
  polled.clear();
  polled.push_back({wake_read_.fd(), POLLIN, 0});
  polled.push_back({listener_.fd(), POLLIN, 0});
  const auto wanted = [](const Direction& in, const Direction& out) {
    return static_cast<short>((in.to_send.size() < kBufferMax ? POLLIN : 0) |
                              (out.to_send.empty() ? 0 : POLLOUT));
  };
  if (mode_ == Mode::kFrozen) polled.pop_back();
  if (mode_ != Mode::kOpen) return;
  for (const Link& link : links_) {
    polled.push_back({link.client.fd(), wanted(link.up, link.down), 0});
    polled.push_back({link.server.fd(), wanted(link.down, link.up), 0});
  }
}

void FaultProxy::run() {
  std::vector<pollfd> polled;
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    poll_all(polled);
    // Other threads end links only under the lock. A descriptor may be closed when poll returns, so after a
    // wake-up the poll results are ignored.
    lock.unlock();
    poll(polled.data(), polled.size(), -1);
    lock.lock();
    std::array<char, 64> bytes{};
    if (read(wake_read_.fd(), bytes.data(), bytes.size()) > 0) continue;
    std::size_t i = 2;
    for (Link& link : links_) {
      if (i + 1 >= polled.size()) break;
      serve(link, polled[i].revents, polled[i + 1].revents);
      i += 2;
    }
    std::erase_if(links_, [](const Link& link) { return link.over; });
    if (polled.size() > 1 && (polled[1].revents & POLLIN) != 0) accept_one();
  }
}

void FaultProxy::accept_one() {
  Socket client(accept4(listener_.fd(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!client || mode_ != Mode::kOpen) return;
  Socket server = connect_to(server_);
  if (!server) return;
  make_non_blocking(client);
  make_non_blocking(server);
  links_.push_back({.client = std::move(client), .server = std::move(server), .up = {}, .down = {}});
}

void FaultProxy::serve(Link& link, short client_events, short server_events) {
  constexpr short kReadable = POLLIN | POLLHUP | POLLERR;
  if ((client_events & kReadable) != 0) receive(link, link.client, link.up, true);
  if (!link.over && (server_events & kReadable) != 0) receive(link, link.server, link.down, false);
  // Data that was forwarded before the end still arrives.
  const bool both = flush(link.server, link.up.to_send) && flush(link.client, link.down.to_send);
  if (!both) link.over = true;
}

void FaultProxy::receive(Link& link, const Socket& from, Direction& direction, bool up) {
  std::array<char, 65536> piece{};
  const ssize_t n = recv(from.fd(), piece.data(), piece.size(), 0);
  if (n < 0 && would_block()) return;
  if (n <= 0) {
    link.over = true;
    return;
  }
  direction.heard.append(piece.data(), static_cast<std::size_t>(n));
  std::string_view rest = direction.heard;
  while (rest.size() >= 4) {
    const auto length = std::size_t{wire::load_be<std::uint32_t>(rest.data())} + 4;
    if (rest.size() < length) break;
    const std::string_view frame = rest.substr(0, length);
    const bool passes = !direction.greeted || (up ? pass_request(link, frame) : pass_reply(link, frame));
    direction.greeted = true;
    if (!passes) {
      link.over = true;
      return;
    }
    direction.to_send += frame;
    rest.remove_prefix(length);
  }
  direction.heard.erase(0, direction.heard.size() - rest.size());
}

bool FaultProxy::pass_request(Link& link, std::string_view frame) {
  if (frame.size() < 12) return true;
  const auto op = static_cast<wire::OpCode>(wire::load_be<std::int32_t>(frame.data() + 8));
  const std::string word(client::word_of(op));
  if (springs(word, false)) return false;
  ++requests_[word];
  link.asked[wire::load_be<std::int32_t>(frame.data() + 4)] = word;
  return true;
}

bool FaultProxy::pass_reply(Link& link, std::string_view frame) {
  if (frame.size() < 8) return true;
  const auto asked = link.asked.extract(wire::load_be<std::int32_t>(frame.data() + 4));
  return asked.empty() || !springs(asked.mapped(), true);
}

bool FaultProxy::springs(const std::string& op, bool on_reply) {
  if (op == "other") return false;  // pings and the like, whose time no test knows
  for (auto trap = traps_.begin(); trap != traps_.end(); ++trap) {
    if (trap->on_reply != on_reply || (!trap->op.empty() && trap->op != op)) continue;
    if (--trap->nth > 0) return false;
    traps_.erase(trap);
    return true;
  }
  return false;
}

}  // namespace drover::testing
