// SPDX-License-Identifier: Apache-2.0
//
// Prepares one socket for reading and writing: waits for connect(), detects TLS or plain on a port that
// accepts both, and does the TLS handshake.
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

// TLS on the ports between servers (sslQuorum, portUnification). The holders outlive their users.
struct PeerTls {
  const TlsContextHolder* server = nullptr;  // for incoming connections; null: plain only
  const TlsContextHolder* client = nullptr;  // for outgoing connections; null: plain
  bool accepts_plain = false;                // with `server`: accept plain too; the first byte decides
};

// Owned and used by the loop's thread; may be destroyed at any time, also from `done`. The owner is
// responsible for the timeout.
class StreamOpener final : private EventLoop::Handler {
 public:
  // Called once, from the loop, never from the factories.
  using Done = std::function<void(IoResult<Stream>)>;
  struct Security {
    std::shared_ptr<const TlsContext> tls = {};  // null: plain
    TlsPeer peer = {};
    bool accepts_plain = false;  // accepted connections: TLS only if the first byte says so
  };

  // A socket from start_connect().
  static IoResult<std::unique_ptr<StreamOpener>> connecting(EventLoop& loop, Socket socket, Security security,
                                                            Done done);
  // A socket from Listener::accept(), on a port that has TLS. On a plain port it is ready without this.
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
  Socket socket_;  // while connecting; then moved into stream_
  Stream stream_;
  int watched_ = -1;  // the descriptor registered with the loop
};

}  // namespace drover::net
