// SPDX-License-Identifier: Apache-2.0
//
// A client of this server in the same process, for the few writes that come over HTTP.
//
// A write must go the same way as every other write: through a session, prepare, the log and the quorum. So
// this is a normal connection, over a socket pair instead of a port. It has the address of the browser, so
// that ACLs see the real user. Calls block, and each has a timeout.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/socket.h"

namespace drover::server {

class InsideClient {
 public:
  // kConnectionLoss: the server does not serve clients now.
  static CodeResult<InsideClient> connect(net::Socket socket);
  ~InsideClient();  // ends the session
  InsideClient(InsideClient&&) = default;
  InsideClient& operator=(InsideClient&&) = delete;

  CodeResult<void> authenticate(std::string_view scheme, std::string_view auth);
  // With SASL, as "user:password".
  CodeResult<void> log_in(std::string_view auth);
  CodeResult<void> set_data(std::string_view path, std::string_view data, std::int32_t version);
  CodeResult<void> remove(std::string_view path, std::int32_t version);

 private:
  explicit InsideClient(net::Socket socket) : socket_(std::move(socket)) {}
  bool send(std::string_view bytes);
  CodeResult<std::string> read_frame();
  // Sends a request frame and waits for the reply with this xid. Returns its body.
  CodeResult<std::string> ask(std::string_view frame, std::int32_t xid);
  CodeResult<void> call(std::string_view frame, std::int32_t xid);

  net::Socket socket_;
  std::int32_t last_xid_ = 0;
};

}  // namespace drover::server
