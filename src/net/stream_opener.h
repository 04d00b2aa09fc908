// SPDX-License-Identifier: Apache-2.0
//
// Brings one socket to the point where its owner may read and write: the end of connect(), the question
// "TLS or plain?" on a port that takes both, and the TLS handshake.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "base/result.h"
#include "net/event_loop.h"
#include "net/socket.h"
#include "net/stream.h"

namespace drover::net {

class TlsContextHolder;

// TLS on the ports between servers (sslQuorum, portUnification). The holders outlive whoever uses them.
struct PeerTls {
  const TlsContextHolder* server = nullptr;  // for those who connect to us; null: plain only
  const TlsContextHolder* client = nullptr;  // for those we connect to; null: plain
  bool accepts_plain = false;                // with `server`: plain too, told by the first byte
};

// Owned and used by the loop's thread; may be destroyed at any time, also from `done`. The owner counts
// the time.
class StreamOpener final : private EventLoop::Handler {
 public:
  // Called once, from the loop and never from the factories.
  using Done = std::function<void(IoResult<Stream>)>;
  struct Security {
    std::shared_ptr<const TlsContext> tls = {};  // null: plain
    TlsPeer peer = {};
    bool accepts_plain = false;  // accepted connections: TLS only if the first byte says so
  };

  // A socket from start_connect().
  static IoResult<std::unique_ptr<StreamOpener>> connecting(EventLoop& loop, Socket socket, Security security,
                                                            Done done);
  // A socket from Listener::accept(), on a port that has TLS. A plain one is ready as it is.
  static IoResult<std::unique_ptr<StreamOpener>> accepted(EventLoop& loop, Socket socket, Security security,
                                                          Done done);
  ~StreamOpener() override;
  StreamOpener(const StreamOpener&) = delete;
  StreamOpener& operator=(const StreamOpener&) = delete;

 private:
  enum class Stage { kConnecting, kAccepted, kHandshaking, kDone };

  StreamOpener(EventLoop& loop, Stage stage, Security security, Done done);
  void on_ready(std::uint32_t events) override;
  void on_connected();
  void on_first_bytes();
  void start_tls();
  void handshake();
  void finish(IoResult<Stream> result);
  void fail() { finish(std::unexpected(data_error(stream_.error_text()))); }

  EventLoop& loop_;
  Stage stage_;
  Security security_;
  Done done_;
  Socket socket_;  // while connecting; then it is in stream_
  Stream stream_;
  int watched_ = -1;  // the descriptor as the loop knows it
};

}  // namespace drover::net
