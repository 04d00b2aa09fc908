// SPDX-License-Identifier: Apache-2.0
//
// Fuzzes a server that a client wants to log in to: replies, tokens, and anything else between the handshake
// and the end of the login. No input can prove that it knows the password, so the client must never take
// itself for connected, and must send nothing but its tokens.
//
// The input is a list of chunks: a length byte, and that many bytes of the server. 0xFE is a proper
// handshake; 0xFF answers the client's last token with the text up to 0xFD. 0 lets time pass.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "client/session.h"
#include "sasl/mechanisms.h"
#include "wire/jute.h"
#include "wire/requests.h"

namespace {

using namespace drover;

constexpr std::uint8_t kHandshake = 0xFE;
constexpr std::uint8_t kToken = 0xFF;

void require(bool condition) {
  if (!condition) std::abort();
}

SaslFactory& mechanism() {
  static const auto factory =
      *sasl::digest_md5_client("bob", Secret("Xq7-never-in-an-input"), sasl::kClientPortDigest);
  return *factory;
}

std::string handshake() {
  std::string out;
  wire::Frame frame(out);
  wire::Writer w(out);
  wire::encode(w, wire::ConnectResponse{.timeout_ms = 9000,
                                        .session = SessionId{7},
                                        .password = "0123456789abcdef",
                                        .has_read_only = true});
  return out;
}

class Login {
 public:
  Login() {
    session_.start(now_, effects_);
    carry_out();
  }

  void connect() {
    dialled_ = false;
    session_.on_connected(now_, effects_);
    require(!effects_.send.empty());
    effects_.send.clear();
    carry_out();
  }
  void hear(std::string_view bytes) {
    if (dialled_) connect();
    if (!is_open_) return;
    session_.on_bytes(bytes, now_, effects_);
    carry_out();
  }
  std::string answer(std::string_view token) const {
    std::string out;
    wire::Frame frame(out);
    wire::Writer w(out);
    wire::encode(w, wire::ReplyHeader{last_xid_, Zxid{}, ErrorCode::kOk});
    w.string(token);
    return out;
  }
  void pass() {
    if (const auto due = session_.next_time()) now_ = std::max(now_, *due);
    session_.on_time(now_, effects_);
    carry_out();
  }

 private:
  void carry_out() {
    for (bool again = true; again;) {
      again = false;
      if (effects_.hang_up) dialled_ = is_open_ = false;
      if (effects_.hang_up || effects_.dial) conversation_.reset();
      if (effects_.dial) dialled_ = is_open_ = true;
      read(effects_.send);
      const auto token = std::exchange(effects_.sasl, std::nullopt);
      effects_.clear();
      if (token && is_open_) {
        if (!conversation_) conversation_ = mechanism().start();
        session_.on_sasl(conversation_->step(*token), now_, effects_);
        again = true;
      }
    }
    const auto state = session_.state();
    require(state == client::SessionState::kConnecting || client::is_final(state));
    require((state == client::SessionState::kAuthFailed) == !session_.auth_failure().empty());
  }
  void read(std::string_view sent) {
    while (!sent.empty()) {
      const auto length = static_cast<std::size_t>(wire::load_be<std::int32_t>(sent.data()));
      wire::Reader r(sent.substr(4, length));
      last_xid_ = r.i32();
      require(static_cast<wire::OpCode>(r.i32()) == wire::OpCode::kSasl);
      sent.remove_prefix(4 + length);
    }
  }

  client::SessionOptions options() const {
    client::SessionOptions options;
    options.sasl = true;
    return options;
  }

  Instant now_{1000};
  client::Session session_{options()};
  client::SessionEffects effects_;
  std::unique_ptr<SaslConversation> conversation_;
  bool dialled_ = false;
  bool is_open_ = false;
  std::int32_t last_xid_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Login login;
  std::string_view input(reinterpret_cast<const char*>(data), size);
  while (!input.empty()) {
    const auto kind = static_cast<std::uint8_t>(input[0]);
    input.remove_prefix(1);
    const std::string_view rest = input.substr(0, input.find('\xFD'));
    switch (kind) {
      case kHandshake: login.hear(handshake()); break;
      case kToken:
        login.hear(login.answer(rest));
        input.remove_prefix(std::min(rest.size() + 1, input.size()));
        break;
      case 0: login.pass(); break;
      default:
        login.hear(input.substr(0, kind));
        input.remove_prefix(std::min<std::size_t>(kind, input.size()));
    }
  }
  return 0;
}
