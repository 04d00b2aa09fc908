// SPDX-License-Identifier: Apache-2.0
//
// An I/O thread: its sockets, its front, and the loop that connects them.
//
// One round: wait for events. Receive from every ready socket. Under this thread's slot of the tree's lock,
// give the front the core's results first and then the received frames. Post the front's requests to the
// core. Send, with one write per connection. So locks, hand-overs and system calls are paid per round, not
// per request.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/metric.h"
#include "base/time.h"
#include "monitor/four_letter_words.h"
#include "net/event_loop.h"
#include "net/listener.h"
#include "net/tls_context_holder.h"
#include "replica/front.h"
#include "runtime/client_connection.h"
#include "runtime/connection_counter.h"
#include "runtime/core.h"
#include "runtime/tree_lock.h"

namespace drover::server {

struct IoLoopConfig {
  replica::FrontConfig front;
  std::int64_t tick_period_ms = 1000;
  int first_frame_ms = 10'000;
  int started_frame_ms = 30'000;
  int tls_handshake_ms = 5'000;
  std::string x509_super_user;
  Whitelist words;
};

// The loop's interface to the server.
class IoLoopHost {
 public:
  virtual ~IoLoopHost() = default;
  // Returns the answer to an allowed word. Called without any lock held. `remote` is the client.
  virtual std::string answer_word(const Word& word, std::string_view bytes_behind,
                                  const std::string& remote) = 0;
};

struct IoLoopStats {
  std::atomic<std::uint64_t> tls_failures{0};
  std::atomic<std::uint64_t> sessionless_expired{0};
  std::atomic<std::uint64_t> paused{0};         // times a connection was paused for its outstanding requests
  std::atomic<std::int64_t> tls_handshakes{0};  // in progress
  // Plain connections to a port that supports TLS.
  std::atomic<std::int64_t> plain_from_here{0};
  std::atomic<std::int64_t> plain_from_elsewhere{0};
};
inline constexpr MetricOf<IoLoopStats> kIoLoopMetrics[] = {
    {"unsuccessful_handshake", &IoLoopStats::tls_failures},
    {"sessionless_connections_expired", &IoLoopStats::sessionless_expired},
    {"request_throttle_wait_count", &IoLoopStats::paused},
    {"outstanding_tls_handshake", &IoLoopStats::tls_handshakes, MetricKind::kGauge},
    {"non_mtls_local_conn_count", &IoLoopStats::plain_from_here, MetricKind::kGauge},
    {"non_mtls_remote_conn_count", &IoLoopStats::plain_from_elsewhere, MetricKind::kGauge},
};

class IoLoop {
 public:
  IoLoop(replica::FrontId id, const IoLoopConfig& config, std::unique_ptr<net::EventLoop> loop,
         const state::Machine& machine, TreeLock& lock, ConnectionCounter& counter, IoLoopHost& host);
  ~IoLoop();

  // Call before the thread runs.
  void attach(Core* core, bool hosts_core) {
    core_ = core;
    hosts_core_ = hosts_core;
  }

  // The thread's body: rounds until stop().
  void run();
  // --- from any thread ---
  void stop();
  struct NewConnection {
    net::Accepted accepted;
    std::shared_ptr<const net::TlsContext> tls;  // null: plain
    bool detect = false;                         // detect TLS by the first bytes, plain otherwise
  };
  void add(NewConnection connection);
  void wake() { loop_->wake(); }

  net::EventLoop& events() { return *loop_; }
  const IoLoopStats& stats() const { return stats_; }

  // For the four-letter words. The caller holds the tree's lock for writing.
  replica::Front& front() { return front_; }

  // Called by connections.
  void on_ready(ClientConnection& c, std::uint32_t events);

 private:
  struct Received {
    std::uint32_t index;  // of the connection
    std::size_t offset;   // in arena_
    std::size_t length;
  };

  // A connection that waits for the answer to a word.
  struct WordRequest {
    std::uint32_t index;
    const Word* word;
    std::string bytes_behind;
  };

  void round(int timeout_ms);
  void process();
  void log_logins();
  bool run_core();
  void feed(ClientConnection& c, std::string_view bytes);
  void greet(ClientConnection& c);
  void begin_client(ClientConnection& c);
  void begin_word(ClientConnection& c, const Word& word);
  void begin_protocol(ClientConnection& c);
  void answer_words();
  void detect(ClientConnection& c);
  void handshake(ClientConnection& c);
  void begin_handshake(ClientConnection& c);
  void receive(ClientConnection& c);
  void flush_changed();
  void flush(ClientConnection& c);
  void flush_word(ClientConnection& c);
  bool write_out(ClientConnection& c, std::string& out);
  void update_events(ClientConnection& c);
  void close(ClientConnection& c);
  void take_new_connections();
  void open(NewConnection& connection);
  void refuse(const ClientConnection& c, const IoError& why);
  void resume(ClientConnection& c);
  void tick();
  void sweep();
  int timeout() const;
  ClientConnection* of(replica::ConnId id);

  replica::FrontId id_;
  IoLoopConfig config_;
  std::unique_ptr<net::EventLoop> loop_;
  TreeLock& lock_;
  ConnectionCounter& counter_;
  IoLoopHost& host_;
  Core* core_ = nullptr;
  bool hosts_core_ = false;
  replica::Front front_;
  IoLoopStats stats_;

  std::vector<std::unique_ptr<ClientConnection>> connections_;
  std::vector<std::uint32_t> index_of_slot_;  // front slot -> index in connections_
  std::vector<std::uint32_t> free_;
  std::vector<std::unique_ptr<ClientConnection>> graveyard_;  // closed in this round
  std::unique_ptr<char[]> arena_;
  std::size_t arena_used_ = 0;
  std::vector<Received> received_;
  std::vector<std::uint32_t> again_;  // have complete frames left, or can be read again
  std::vector<WordRequest> word_requests_;
  std::vector<replica::ConnId> changed_;
  Instant next_tick_;
  Instant last_tick_;
  Instant next_sweep_;

  std::atomic<bool> stopping_{false};
  std::mutex inbox_mutex_;
  std::vector<NewConnection> new_connections_;
};

}  // namespace drover::server
