// SPDX-License-Identifier: Apache-2.0
//
// A listening port: accepts connections, rejects those above the limit, and distributes the rest to the I/O
// threads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "net/event_loop.h"
#include "net/listener.h"
#include "net/tls_context_holder.h"
#include "runtime/connection_counter.h"
#include "runtime/io_loop.h"

namespace drover::server {

enum class PortKind { kPlain, kTls, kEither };

class Acceptor final : public net::EventLoop::Handler {
 public:
  // `tls` is null for plain ports. All references outlive the acceptor.
  Acceptor(net::EventLoop& loop, net::Listener listener, PortKind kind, const net::TlsContextHolder* tls,
           ConnectionCounter& counter, std::vector<IoLoop*> io_loops);
  ~Acceptor() override;

  IoResult<void> start();
  void on_ready(std::uint32_t events) override;
  // The port pauses when descriptors run out; this resumes it. Call about once a second.
  void resume();

  const net::Address& local() const { return listener_.local(); }

 private:
  void admit(net::Accepted accepted);

  net::EventLoop& loop_;
  net::Listener listener_;
  PortKind kind_;
  const net::TlsContextHolder* tls_;
  ConnectionCounter& counter_;
  std::vector<IoLoop*> io_loops_;
  std::size_t next_loop_ = 0;
  std::uint64_t refused_ = 0;
  bool resting_ = false;
};

}  // namespace drover::server
