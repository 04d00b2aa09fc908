// SPDX-License-Identifier: Apache-2.0
#include "net/resolver.h"

#include <sys/epoll.h>

#include <system_error>
#include <thread>
#include <utility>

namespace drover::net {

std::string to_text(const Endpoint& endpoint) {
  const bool is_ipv6 = endpoint.host.find(':') != std::string::npos;
  const std::string host = is_ipv6 ? "[" + endpoint.host + "]" : endpoint.host;
  return (host.empty() ? "0.0.0.0" : host) + ":" + std::to_string(endpoint.port);
}

IoResult<std::unique_ptr<Resolver>> Resolver::create(EventLoop& loop, Lookup lookup) {
  TRY_ASSIGN(auto answers, Answers::create());
  std::unique_ptr<Resolver> made(new Resolver(loop, std::move(lookup), std::move(answers)));
  TRY(loop.add(made->answers_->fd(), EPOLLIN, made.get()));
  return made;
}

Resolver::Resolver(EventLoop& loop, Lookup lookup, std::shared_ptr<Answers> answers)
    : loop_(loop), lookup_(std::move(lookup)), answers_(std::move(answers)) {}

Resolver::~Resolver() { loop_.remove(answers_->fd(), this); }

Resolver::Ticket Resolver::ask(const Endpoint& endpoint, Done done) {
  const Ticket ticket{++last_ticket_};
  questions_.emplace(ticket, Question{endpoint, std::move(done)});
  if (known_.contains(endpoint.host)) answers_->ring();
  if (!under_way_.contains(endpoint.host)) look_up(endpoint.host);
  return ticket;
}

void Resolver::cancel(Ticket ticket) { questions_.erase(ticket); }

void Resolver::look_up(const std::string& host) {
  under_way_.insert(host);
  try {
    std::thread([host, lookup = lookup_, answers = answers_] {
      answers->put({host, lookup(host, 0)});
    }).detach();
  } catch (const std::system_error& e) {
    answers_->put({host, std::unexpected(io_error(e.code().value(), "cannot look up " + host))});
  }
}

void Resolver::on_ready(std::uint32_t) {
  for (auto& [host, answer] : answers_->take()) learn(host, std::move(answer));
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
