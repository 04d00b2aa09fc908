// SPDX-License-Identifier: Apache-2.0
#include "testing/session_killer.h"

#include <cstdint>

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

enum class Answer : std::uint8_t { kEnded, kUnknown, kLost };

Answer ask_to_end(const Place& server, const SessionKey& key) {
  const Socket socket = connect_to(server);
  if (!socket || !send_all(socket, greeting(key) + farewell())) return Answer::kLost;
  const auto welcome = receive_frame(socket);
  if (!welcome) return Answer::kLost;
  const auto response = wire::decode_connect_response(*welcome);
  if (!response || response->session != SessionId{key.id}) return Answer::kUnknown;
  return receive_frame(socket) ? Answer::kEnded : Answer::kLost;
}

}  // namespace

std::string end_session(const Place& server, const SessionKey& key) {
  // As soon as the session has moved to this connection, its client reconnects and takes it back, perhaps
  // before the server has read our request.
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; ++i) {
    const Answer answer = ask_to_end(server, key);
    if (answer == Answer::kEnded) return {};
    // An earlier attempt may have closed it without an answer.
    if (answer == Answer::kUnknown) return i > 0 ? "" : "the server does not know the session";
  }
  return "the server did not end the session";
}

}  // namespace drover::testing
