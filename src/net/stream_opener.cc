// SPDX-License-Identifier: Apache-2.0
#include "net/stream_opener.h"

#include <sys/epoll.h>

#include <utility>

#include "base/ensure.h"
#include "net/tls_context.h"

namespace drover::net {

StreamOpener::StreamOpener(EventLoop& loop, Stage stage, Security security, Done done)
    : loop_(loop), stage_(stage), security_(std::move(security)), done_(std::move(done)) {}

StreamOpener::~StreamOpener() {
  if (watched_ >= 0) loop_.remove(watched_, this);
}

IoResult<std::unique_ptr<StreamOpener>> StreamOpener::connecting(EventLoop& loop, Socket socket,
                                                                 Security security, Done done) {
  std::unique_ptr<StreamOpener> made(
      new StreamOpener(loop, Stage::kConnecting, std::move(security), std::move(done)));
  TRY(loop.add(socket.fd(), EPOLLOUT, made.get()));
  made->watched_ = socket.fd();
  made->socket_ = std::move(socket);
  return made;
}

IoResult<std::unique_ptr<StreamOpener>> StreamOpener::accepted(EventLoop& loop, Socket socket,
                                                               Security security, Done done) {
  ENSURE(security.tls != nullptr, "an accepted plain connection needs no opening");
  std::unique_ptr<StreamOpener> made(
      new StreamOpener(loop, Stage::kAccepted, std::move(security), std::move(done)));
  TRY(loop.add(socket.fd(), EPOLLIN, made.get()));
  made->watched_ = socket.fd();
  made->stream_ = Stream(std::move(socket));
  return made;
}

void StreamOpener::on_ready(std::uint32_t) {
  switch (stage_) {
    case Stage::kConnecting: return on_connected();
    case Stage::kAccepted: return on_first_bytes();
    case Stage::kHandshaking: return handshake();
    case Stage::kDone: return;
  }
}

void StreamOpener::on_connected() {
  if (const int error = socket_.take_error(); error != 0) {
    return finish(std::unexpected(io_error(error, "cannot connect")));
  }
  stream_ = Stream(std::move(socket_));
  if (security_.tls == nullptr) return finish(std::move(stream_));
  start_tls();
}

void StreamOpener::on_first_bytes() {
  if (!security_.accepts_plain) return start_tls();
  char first = 0;
  const IoCount got = stream_.peek(&first, 1);
  if (got.status == IoStatus::kAgain) return;
  if (got.status == IoStatus::kClosed)
    return finish(std::unexpected(data_error("closed before it sent anything")));
  if (got.status == IoStatus::kError) return fail();
  if (!looks_like_tls({&first, 1})) return finish(std::move(stream_));
  start_tls();
}

void StreamOpener::start_tls() {
  if (auto started = stream_.start_tls(security_.tls, security_.peer); !started) {
    return finish(std::unexpected(std::move(started).error()));
  }
  stage_ = Stage::kHandshaking;
  handshake();
}

void StreamOpener::handshake() {
  switch (stream_.handshake()) {
    case IoStatus::kOk: return finish(std::move(stream_));
    case IoStatus::kAgain: return loop_.modify(watched_, stream_.events_for({}), this);
    case IoStatus::kClosed: return finish(std::unexpected(data_error("closed during the TLS handshake")));
    case IoStatus::kError: return fail();
  }
}

void StreamOpener::finish(IoResult<Stream> result) {
  loop_.remove(std::exchange(watched_, -1), this);
  stage_ = Stage::kDone;
  const Done done = std::move(done_);  // A local copy: it may destroy this object while it runs.
  done(std::move(result));
}

}  // namespace drover::net
