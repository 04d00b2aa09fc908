// SPDX-License-Identifier: Apache-2.0
//
// A connected, non-blocking byte stream: plain TCP or TLS, behind one type.
//
// Not virtual: the plain path is a branch and exactly one recv or send per call. TLS differs from plain in
// three ways that a level-triggered loop must respect, and the Stream handles all three:
//   - a handshake comes first: call handshake() until it returns kOk;
//   - reading may need a writable socket and vice versa: register events_for(interest);
//   - decrypted bytes may be in memory while the kernel's buffer is empty, so epoll reports nothing: read
//     again while has_buffered() is true.
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
  kClosed,  // the peer has closed the stream cleanly
  kError,   // the connection is unusable; error_text() says why
};

struct IoCount {
  IoStatus status;
  std::size_t bytes = 0;  // only with kOk, and then at least 1
};

// The operations that the owner waits for.
struct Interest {
  bool read = false;
  bool write = false;
};

// The name that the peer's certificate must contain. The context's role and options decide which of the two
// is checked, and whether at all.
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

  // Switches a plain stream to TLS from the next byte on, as server or client (the context's role).
  IoResult<void> start_tls(std::shared_ptr<const TlsContext> context, const TlsPeer& peer);

  // kOk: done; plain streams return it at once. kAgain: wait for events_for({}) and call again.
  IoStatus handshake();

  // `n` and `bytes` must not be zero. After kAgain from write(), the next write() must start with the same
  // bytes (more may follow): TLS has already encrypted them.
  IoCount read(char* into, std::size_t n);
  IoCount write(std::string_view bytes);
  // Reads the first bytes of a plain stream without consuming them, to distinguish TLS from plain.
  IoCount peek(char* into, std::size_t n);

  // The epoll events to wait for. During a handshake the interest does not matter.
  std::uint32_t events_for(Interest interest) const;
  // True if read() has more to return (bytes, or the end of the stream) that epoll will not report.
  bool has_buffered() const;

  // Sends TLS close_notify if that is possible now, and closes our half of the connection.
  void shutdown();
  void close();

  int fd() const { return socket_.fd(); }
  bool is_open() const { return static_cast<bool>(socket_); }
  bool is_tls() const { return tls_ != nullptr; }
  // Why the last call returned kError, as one line.
  std::string error_text() const;

  // Valid after a TLS handshake. ZooKeeper's x509 scheme uses the subject as the client's id.
  std::optional<std::string> peer_subject() const;
  // True if the peer has presented a certificate that names this host or address. Always false for plain
  // streams.
  bool peer_certificate_names(const std::string& host) const;
  std::string tls_version() const;  // "TLSv1.3"; empty for plain streams
  std::string tls_cipher() const;   // IANA's name, as Java prints it

 private:
  IoCount from_errno();

  Socket socket_;
  std::unique_ptr<TlsSession> tls_;
  int errno_ = 0;
};

// True if these are the first bytes of a TLS connection. One byte decides: a ClientHello starts with the
// record type 0x16. No four-letter word starts with it, and as a frame length it would be above 350 MB. A
// second byte, if present, must be the major version 3.
bool looks_like_tls(std::string_view first_bytes);

}  // namespace drover::net
