// SPDX-License-Identifier: Apache-2.0
#include "net/resolver.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "net/descriptor.h"

namespace drover::net {

std::string to_text(const Endpoint& endpoint) {
  const bool is_ipv6 = endpoint.host.find(':') != std::string::npos;
  const std::string host = is_ipv6 ? "[" + endpoint.host + "]" : endpoint.host;
  return (host.empty() ? "0.0.0.0" : host) + ":" + std::to_string(endpoint.port);
}

// Shared with the lookup threads, which may still wait for a name service when the resolver is destroyed.
struct Resolver::Mailbox {
  explicit Mailbox(Descriptor eventfd) : doorbell(std::move(eventfd)) {}

  void ring() const {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(doorbell.fd(), &one, sizeof one);
  }
  void put(std::string host, Addresses answer) {
    {
      const std::lock_guard lock(mutex);
      letters.emplace_back(std::move(host), std::move(answer));
    }
    ring();
  }
  std::vector<std::pair<std::string, Addresses>> take() {
    std::uint64_t rings = 0;
    [[maybe_unused]] const ssize_t got = ::read(doorbell.fd(), &rings, sizeof rings);
    const std::lock_guard lock(mutex);
    return std::exchange(letters, {});
  }

  const Descriptor doorbell;
  std::mutex mutex;
  std::vector<std::pair<std::string, Addresses>> letters;
};

IoResult<std::unique_ptr<Resolver>> Resolver::create(EventLoop& loop, Lookup lookup) {
  Descriptor doorbell(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  if (!doorbell) return std::unexpected(io_error(errno, "cannot create an eventfd"));
  std::unique_ptr<Resolver> made(
      new Resolver(loop, std::move(lookup), std::make_shared<Mailbox>(std::move(doorbell))));
  TRY(loop.add(made->mailbox_->doorbell.fd(), EPOLLIN, made.get()));
  return made;
}

Resolver::Resolver(EventLoop& loop, Lookup lookup, std::shared_ptr<Mailbox> mailbox)
    : loop_(loop), lookup_(std::move(lookup)), mailbox_(std::move(mailbox)) {}

Resolver::~Resolver() { loop_.remove(mailbox_->doorbell.fd(), this); }

Resolver::Ticket Resolver::ask(const Endpoint& endpoint, Done done) {
  const Ticket ticket{++last_ticket_};
  questions_.emplace(ticket, Question{endpoint, std::move(done)});
  if (known_.contains(endpoint.host)) mailbox_->ring();
  if (!under_way_.contains(endpoint.host)) look_up(endpoint.host);
  return ticket;
}

void Resolver::cancel(Ticket ticket) { questions_.erase(ticket); }

void Resolver::look_up(const std::string& host) {
  under_way_.insert(host);
  try {
    std::thread([host, lookup = lookup_, mailbox = mailbox_] {
      mailbox->put(host, lookup(host, 0));
    }).detach();
  } catch (const std::system_error& e) {
    mailbox_->put(host, std::unexpected(io_error(e.code().value(), "cannot look up " + host)));
  }
}

void Resolver::on_ready(std::uint32_t) {
  for (auto& [host, answer] : mailbox_->take()) learn(host, std::move(answer));
  answer_known();
}

// A failed lookup keeps the known addresses: the name service is more likely to be broken than the server to
// be gone.
void Resolver::learn(const std::string& host, Addresses found) {
  under_way_.erase(host);
  if (found && !found->empty()) {
    known_[host] = *std::move(found);
  } else if (!known_.contains(host)) {
    answer(host, found ? std::unexpected(data_error("no address for " + host)) : std::move(found));
  }
}

void Resolver::answer_known() {
  const auto known = known_;  // A copy: an answer may trigger a new question.
  for (const auto& [host, addresses] : known) answer(host, addresses);
}

// Answers only the questions that exist now: an answer may cancel questions and ask new ones.
void Resolver::answer(const std::string& host, const Addresses& addresses) {
  const Ticket last{last_ticket_};
  for (auto it = questions_.begin(); it != questions_.end() && it->first <= last;) {
    if (it->second.endpoint.host != host) {
      ++it;
      continue;
    }
    const Ticket ticket = it->first;
    const Question question = std::move(it->second);
    questions_.erase(it);
    Addresses own = addresses;
    if (own) {
      for (Address& address : *own) address.set_port(question.endpoint.port);
    }
    question.done(std::move(own));
    it = questions_.upper_bound(ticket);
  }
}

}  // namespace drover::net
