// SPDX-License-Identifier: Apache-2.0
#include "testing/session_killer.h"

#include "wire/jute.h"
#include "wire/requests.h"

namespace drover::testing {
namespace {

std::string greeting(const SessionKey& key) {
  std::string out;
  wire::Frame frame(out);
  wire::Writer w(out);
  wire::ConnectRequest hello;
  hello.timeout_ms = 10'000;
  hello.session = SessionId{key.id};
  hello.password = key.password;
  hello.has_read_only = true;
  wire::encode(w, hello);
  return out;
}

std::string farewell() {
  std::string out;
  wire::Frame frame(out);
  wire::Writer w(out);
  w.i32(1);
  w.i32(static_cast<std::int32_t>(wire::OpCode::kCloseSession));
  return out;
}

}  // namespace

std::string end_session(const Place& server, const SessionKey& key) {
  const Socket socket = connect_to(server);
  if (!socket) return "the server cannot be reached";
  if (!send_all(socket, greeting(key))) return "the server hung up";
  const auto welcome = receive_frame(socket);
  if (!welcome) return "the server did not take the session";
  const auto response = wire::decode_connect_response(*welcome);
  if (!response || response->session != SessionId{key.id}) return "the server does not know the session";
  if (!send_all(socket, farewell()) || !receive_frame(socket)) return "the server did not end the session";
  return {};
}

}  // namespace drover::testing
