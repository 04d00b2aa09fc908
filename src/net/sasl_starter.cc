// SPDX-License-Identifier: Apache-2.0
#include "net/sasl_starter.h"

#include <sys/epoll.h>

#include <system_error>
#include <thread>
#include <utility>

namespace drover::net {
namespace {

SaslStarter::Started first_step(const SaslStarter::Start& start) {
  auto conversation = start();
  if (!conversation) return {.conversation = nullptr, .step = {.reason = conversation.error().what}};
  SaslStep step = (*conversation)->step({});
  return {.conversation = *std::move(conversation), .step = std::move(step)};
}

}  // namespace

IoResult<std::unique_ptr<SaslStarter>> SaslStarter::create(EventLoop& loop) {
  TRY_ASSIGN(auto results, Results::create());
  std::unique_ptr<SaslStarter> made(new SaslStarter(loop, std::move(results)));
  TRY(loop.add(made->results_->fd(), EPOLLIN, made.get()));
  return made;
}

SaslStarter::SaslStarter(EventLoop& loop, std::shared_ptr<Results> results)
    : loop_(loop), results_(std::move(results)), threads_(std::make_shared<std::atomic<int>>(0)) {}

SaslStarter::~SaslStarter() { loop_.remove(results_->fd(), this); }

SaslStarter::Ticket SaslStarter::begin(Start start, Done done) {
  const Ticket ticket{++last_ticket_};
  waiting_.emplace(ticket, std::move(done));
  if (*threads_ >= kThreadsMax) {
    fail(ticket, "too many exchanges wait for the KDC");
    return ticket;
  }
  ++*threads_;
  try {
    std::thread([ticket, start = std::move(start), results = results_, threads = threads_]() mutable {
      Started started = first_step(start);
      start = nullptr;
      --*threads;
      results->put({ticket, std::move(started)});
    }).detach();
  } catch (const std::system_error&) {
    --*threads_;
    fail(ticket, "cannot start a thread");
  }
  return ticket;
}

void SaslStarter::cancel(Ticket ticket) { waiting_.erase(ticket); }

void SaslStarter::fail(Ticket ticket, const char* reason) {
  results_->put({ticket, {.conversation = nullptr, .step = {.reason = reason}}});
}

// A callback may cancel others, and begin new ones.
void SaslStarter::on_ready(std::uint32_t) {
  for (Result& result : results_->take()) {
    const auto found = waiting_.find(result.ticket);
    if (found == waiting_.end()) continue;
    const Done done = std::move(found->second);
    waiting_.erase(found);
    done(std::move(result.started));
  }
}

}  // namespace drover::net
