// SPDX-License-Identifier: Apache-2.0
//
// Names of servers to addresses, for an event loop that must not wait for a name service.
//
// A lookup may take as long as the name service likes, so each runs in a thread of its own that nobody
// waits for. What is known is used at once and renewed behind its back: an ensemble that works must go on
// working when the name service does not, and an address that has changed is found by the next attempt.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "net/address.h"
#include "net/event_loop.h"

namespace drover::net {

// Where a server is said to be, as somebody configured it.
struct Endpoint {
  std::string host = {};  // name or address without brackets; to listen, empty means every address
  std::uint16_t port = 0;
  friend auto operator<=>(const Endpoint&, const Endpoint&) = default;
};
std::string to_text(const Endpoint& endpoint);  // "zk1:3888", "[::1]:3888"

// Belongs to the loop's thread. Must outlive whoever asks, not the lookups that are under way.
class Resolver final : private EventLoop::Handler {
 public:
  using Addresses = IoResult<std::vector<Address>>;
  // Runs in other threads, several at a time for different hosts.
  using Lookup = std::function<Addresses(const std::string& host, std::uint16_t port)>;
  using Done = std::function<void(Addresses)>;
  enum class Ticket : std::uint64_t {};

  static IoResult<std::unique_ptr<Resolver>> create(EventLoop& loop, Lookup lookup = resolve);
  ~Resolver() override;
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;

  // Answers later, from the loop, unless cancelled before. Literal addresses need no question: see
  // Address::parse().
  Ticket ask(const Endpoint& endpoint, Done done);
  void cancel(Ticket ticket);

 private:
  struct Mailbox;
  struct Question {
    Endpoint endpoint;
    Done done;
  };

  Resolver(EventLoop& loop, Lookup lookup, std::shared_ptr<Mailbox> mailbox);
  void on_ready(std::uint32_t events) override;
  void look_up(const std::string& host);
  void learn(const std::string& host, Addresses answer);
  void answer_known();
  void answer(const std::string& host, const Addresses& addresses);

  EventLoop& loop_;
  Lookup lookup_;
  std::shared_ptr<Mailbox> mailbox_;
  std::uint64_t last_ticket_ = 0;
  std::map<Ticket, Question> questions_;
  std::set<std::string> under_way_;                    // at most one lookup for each host
  std::map<std::string, std::vector<Address>> known_;  // last good answers
};

}  // namespace drover::net
