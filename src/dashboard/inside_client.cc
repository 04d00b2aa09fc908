// SPDX-License-Identifier: Apache-2.0
#include "dashboard/inside_client.h"

#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>

#include "base/secret.h"
#include "sasl/mechanisms.h"
#include "wire/replies.h"
#include "wire/requests.h"

namespace drover::server {
namespace {

constexpr timeval kPatience{5, 0};
constexpr std::int32_t kSessionTimeoutMs = 10'000;
constexpr std::size_t kFrameMax = 1 << 20;

// A complete frame: the header, then the output of `body`.
template <class Body>
std::string request(std::int32_t xid, wire::OpCode op, Body body) {
  std::string out;
  {
    wire::Frame frame(out);
    wire::Writer w(out);
    w.i32(xid);
    w.i32(static_cast<std::int32_t>(op));
    body(w);
  }
  return out;
}

}  // namespace

CodeResult<InsideClient> InsideClient::connect(net::Socket socket) {
  setsockopt(socket.fd(), SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
  setsockopt(socket.fd(), SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof kPatience);
  InsideClient client(std::move(socket));
  std::string hello;
  {
    wire::Frame frame(hello);
    wire::Writer w(hello);
    wire::encode(
        w, wire::ConnectRequest{.timeout_ms = kSessionTimeoutMs, .password = {}, .has_read_only = true});
  }
  if (!client.send(hello)) return std::unexpected(ErrorCode::kConnectionLoss);
  const CodeResult<std::string> answer = client.read_frame();
  if (!answer) return std::unexpected(answer.error());
  const auto response = wire::decode_connect_response(*answer);
  if (!response || response->timeout_ms <= 0) return std::unexpected(ErrorCode::kConnectionLoss);
  return client;
}

InsideClient::~InsideClient() {
  if (!socket_) return;
  const std::int32_t xid = ++last_xid_;
  (void)call(request(xid, wire::OpCode::kCloseSession, [](wire::Writer&) {}), xid);
}

bool InsideClient::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::send(socket_.fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

CodeResult<std::string> InsideClient::read_frame() {
  const auto read = [&](char* into, std::size_t bytes) {
    return recv(socket_.fd(), into, bytes, MSG_WAITALL) == static_cast<ssize_t>(bytes);
  };
  char length[4];
  if (!read(length, sizeof length)) return std::unexpected(ErrorCode::kConnectionLoss);
  const auto bytes = static_cast<std::size_t>(wire::load_be<std::int32_t>(length));
  if (bytes > kFrameMax) return std::unexpected(ErrorCode::kMarshallingError);
  std::string frame(bytes, '\0');
  if (!read(frame.data(), bytes)) return std::unexpected(ErrorCode::kConnectionLoss);
  return frame;
}

CodeResult<void> InsideClient::call(std::string_view frame, std::int32_t xid) {
  TRY(ask(frame, xid));
  return {};
}

CodeResult<std::string> InsideClient::ask(std::string_view frame, std::int32_t xid) {
  if (!send(frame)) return std::unexpected(ErrorCode::kConnectionLoss);
  for (;;) {
    const CodeResult<std::string> answer = read_frame();
    if (!answer) return std::unexpected(answer.error());
    wire::Reader r(*answer);
    const wire::ReplyHeader header = wire::decode_reply_header(r);
    if (!r.ok()) return std::unexpected(ErrorCode::kMarshallingError);
    if (header.xid != xid) continue;
    if (header.error != ErrorCode::kOk) return std::unexpected(header.error);
    return answer->substr(r.position());
  }
}

CodeResult<void> InsideClient::authenticate(std::string_view scheme, std::string_view auth) {
  return call(request(wire::kAuthXid, wire::OpCode::kAuth,
                      [&](wire::Writer& w) {
                        w.i32(0);
                        w.string(scheme);
                        w.string(auth);
                      }),
              wire::kAuthXid);
}

CodeResult<void> InsideClient::log_in(std::string_view auth) {
  const std::size_t colon = std::min(auth.find(':'), auth.size());
  const std::string_view password = auth.substr(std::min(colon + 1, auth.size()));
  const auto client =
      sasl::digest_md5_client(std::string(auth.substr(0, colon)), Secret(password), sasl::kClientPortDigest);
  if (!client) return std::unexpected(ErrorCode::kAuthFailed);
  const auto conversation = (*client)->start();
  SaslStep step = conversation->step({});
  while (step.status == SaslStep::Status::kContinue) {
    const std::int32_t xid = ++last_xid_;
    TRY_ASSIGN(
        const std::string body,
        ask(request(xid, wire::OpCode::kSasl, [&](wire::Writer& w) { w.string(step.token.value_or("")); }),
            xid));
    wire::Reader r(body);
    const auto token = r.buffer();
    if (!r.ok() || !token) return std::unexpected(ErrorCode::kAuthFailed);
    step = conversation->step(*token);
  }
  if (step.status == SaslStep::Status::kFailed) return std::unexpected(ErrorCode::kAuthFailed);
  return {};
}

CodeResult<void> InsideClient::set_data(std::string_view path, std::string_view data, std::int32_t version) {
  const std::int32_t xid = ++last_xid_;
  return call(request(xid, wire::OpCode::kSetData,
                      [&](wire::Writer& w) {
                        w.string(path);
                        w.string(data);
                        w.i32(version);
                      }),
              xid);
}

CodeResult<void> InsideClient::remove(std::string_view path, std::int32_t version) {
  const std::int32_t xid = ++last_xid_;
  return call(request(xid, wire::OpCode::kDelete,
                      [&](wire::Writer& w) {
                        w.string(path);
                        w.i32(version);
                      }),
              xid);
}

}  // namespace drover::server
