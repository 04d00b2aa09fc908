// SPDX-License-Identifier: Apache-2.0
//
// Resolves server names to addresses, for an event loop that must not block on a name service.
//
// A lookup may take arbitrarily long, so each one runs in its own detached thread. Known addresses are used
// at once and refreshed in the background: a working ensemble must keep working when the name service fails,
// and the next attempt uses an address that has changed.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "net/address.h"
#include "net/event_loop.h"
#include "net/mailbox.h"

namespace drover::net {

// A configured address of a server.
struct Endpoint {
  std::string host = {};  // name or address without brackets; to listen, empty means every address
  std::uint16_t port = 0;
  friend auto operator<=>(const Endpoint&, const Endpoint&) = default;
};
std::string to_text(const Endpoint& endpoint);  // "zk1:3888", "[::1]:3888"

// Used by the loop's thread. It must outlive its callers, but not the lookups in progress.
class Resolver final : private EventLoop::Handler {
 public:
  using Addresses = IoResult<std::vector<Address>>;
  // Runs in other threads, concurrently for different hosts.
  using Lookup = std::function<Addresses(const std::string& host, std::uint16_t port)>;
  using Done = std::function<void(Addresses)>;
  enum class Ticket : std::uint64_t {};

  static IoResult<std::unique_ptr<Resolver>> create(EventLoop& loop, Lookup lookup = resolve);
  ~Resolver() override;
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;

  // Calls `done` later, from the loop, unless cancelled before. Literal addresses need no lookup: see
  // Address::parse().
  Ticket ask(const Endpoint& endpoint, Done done);
  void cancel(Ticket ticket);

 private:
  using Answers = Mailbox<std::pair<std::string, Addresses>>;
  struct Question {
    Endpoint endpoint;
    Done done;
  };

  Resolver(EventLoop& loop, Lookup lookup, std::shared_ptr<Answers> answers);
  void on_ready(std::uint32_t events) override;
  void look_up(const std::string& host);
  void learn(const std::string& host, Addresses answer);
  void answer_known();
  void answer(const std::string& host, const Addresses& addresses);

  EventLoop& loop_;
  Lookup lookup_;
  std::shared_ptr<Answers> answers_;
  std::uint64_t last_ticket_ = 0;
  std::map<Ticket, Question> questions_;
  std::set<std::string> under_way_;                    // at most one lookup for each host
  std::map<std::string, std::vector<Address>> known_;  // last good answers
};

}  // namespace drover::net
