// SPDX-License-Identifier: Apache-2.0
#include "server/acceptor.h"

#include <sys/epoll.h>

#include "log/log.h"

namespace drover::server {
namespace {

constexpr int kAcceptsPerRound = 256;

// The first rejection and then every thousandth: a flood of connections must not flood the log.
bool worth_a_line(std::uint64_t count) { return count % 1000 == 1; }

}  // namespace

Acceptor::Acceptor(net::EventLoop& loop, net::Listener listener, PortKind kind,
                   const net::TlsContextHolder* tls, ConnectionCounter& counter,
                   std::vector<IoLoop*> io_loops)
    : loop_(loop),
      listener_(std::move(listener)),
      kind_(kind),
      tls_(tls),
      counter_(counter),
      io_loops_(std::move(io_loops)) {}

Acceptor::~Acceptor() { loop_.remove(listener_.fd(), this); }

IoResult<void> Acceptor::start() { return loop_.add(listener_.fd(), EPOLLIN, this); }

void Acceptor::on_ready(std::uint32_t) {
  for (int i = 0; i < kAcceptsPerRound; ++i) {
    net::Accepted accepted;
    switch (listener_.accept(accepted)) {
      case net::AcceptStatus::kAccepted: admit(std::move(accepted)); break;
      case net::AcceptStatus::kNone: return;
      case net::AcceptStatus::kDropped:
        if (worth_a_line(++refused_))
          log_warn("io", "out of file descriptors: refusing connections; raise the limit of open files");
        break;
      case net::AcceptStatus::kExhausted:
        log_error("io",
                  "cannot accept connections: out of file descriptors or memory; next try in one second");
        loop_.modify(listener_.fd(), 0, this);
        resting_ = true;
        return;
    }
  }
}

void Acceptor::resume() {
  if (!resting_) return;
  resting_ = false;
  loop_.modify(listener_.fd(), EPOLLIN, this);
}

void Acceptor::admit(net::Accepted accepted) {
  const std::string ip = accepted.peer.ip_text();
  const auto verdict = counter_.enter(ip);
  if (verdict != ConnectionCounter::Verdict::kWelcome) {
    const char* limit = verdict == ConnectionCounter::Verdict::kTooMany ? "maxCnxns" : "maxClientCnxns";
    if (worth_a_line(++refused_))
      log_warn("io", "connection from {} refused: {} is reached ({} connections; {} refused so far)",
               accepted.peer.to_text(), limit, counter_.total(), counter_.rejected());
    return;
  }
  IoLoop::NewConnection connection;
  connection.accepted = std::move(accepted);
  if (kind_ != PortKind::kPlain) connection.tls = tls_->current();
  connection.detect = kind_ == PortKind::kEither;
  io_loops_[next_loop_]->add(std::move(connection));
  next_loop_ = (next_loop_ + 1) % io_loops_.size();
}

}  // namespace drover::server
