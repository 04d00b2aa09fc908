// SPDX-License-Identifier: Apache-2.0
//
// A connected, non-blocking byte stream: plain TCP, or TLS over it, behind one type.
//
// Not virtual: the plain path is a branch and exactly one recv or send per call. TLS differs from plain
// in three ways that a level-triggered loop must respect, and the Stream answers for all three:
//   - a handshake comes first: call handshake() until it says kOk;
//   - reading may need the socket writable and the other way round: register events_for(interest);
//   - bytes may sit decrypted in memory while the kernel's buffer is empty, so that epoll stays silent:
//     read again while has_buffered() is true.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/address.h"
#include "net/socket.h"

namespace drover::net {

class TlsContext;
class TlsSession;

enum class IoStatus {
  kOk,
  kAgain,   // nothing now; wait for events_for()
  kClosed,  // the peer has finished in an orderly way
  kError,   // the connection is useless; error_text() says why
};

struct IoCount {
  IoStatus status;
  std::size_t bytes = 0;  // only with kOk, and then at least 1
};

// What the owner would like to do next.
struct Interest {
  bool read = false;
  bool write = false;
};

// Whom the certificate on the other side must name. Which of the two is checked, and whether at all, is
// decided by the context's role and options.
struct TlsPeer {
  std::string host = {};  // as the user wrote it; only clients know it
  Address address = {};
};

class Stream {
 public:
  Stream();
  explicit Stream(Socket socket);
  Stream(Stream&&) noexcept;
  Stream& operator=(Stream&&) noexcept;
  ~Stream();

  // Makes TLS of a plain stream from the next byte on, as server or client (the context's role).
  IoResult<void> start_tls(std::shared_ptr<const TlsContext> context, const TlsPeer& peer);

  // kOk: done, also at once for plain streams. kAgain: wait for events_for({}) and call again.
  IoStatus handshake();

  // `n` and `bytes` are not zero. After kAgain from write(), the next write() must begin with the same
  // bytes (more may follow): TLS has already encrypted them.
  IoCount read(char* into, std::size_t n);
  IoCount write(std::string_view bytes);
  // Looks at the first bytes of a plain stream without taking them, to tell TLS from plain.
  IoCount peek(char* into, std::size_t n);

  // The epoll events that make progress possible. During a handshake the interest does not matter.
  std::uint32_t events_for(Interest interest) const;
  // read() has more to say (bytes, or the end of the stream) that epoll will not announce.
  bool has_buffered() const;

  // Says goodbye: TLS close_notify if it can be sent now, and the end of our half of the connection.
  void shutdown();
  void close();

  int fd() const { return socket_.fd(); }
  bool is_open() const { return static_cast<bool>(socket_); }
  bool is_tls() const { return tls_ != nullptr; }
  // Why the last call returned kError, as one line.
  std::string error_text() const;

  // After a TLS handshake. The subject is what ZooKeeper's x509 scheme calls the client's id.
  std::optional<std::string> peer_subject() const;
  // Whether the other side has shown a certificate that names this host or address. Never for plain streams.
  bool peer_certificate_names(const std::string& host) const;
  std::string tls_version() const;  // "TLSv1.3"; empty for plain streams
  std::string tls_cipher() const;   // IANA's name, as Java prints it

 private:
  IoCount from_errno();

  Socket socket_;
  std::unique_ptr<TlsSession> tls_;
  int errno_ = 0;
};

// Are these the first bytes of a TLS connection? One byte decides: a ClientHello begins with the record
// type 0x16, which no four-letter word does, and as a frame's length it would be above 350 MB. A second
// byte, if it is there, must be the major version 3.
bool looks_like_tls(std::string_view first_bytes);

}  // namespace drover::net
