// SPDX-License-Identifier: Apache-2.0
//
// Arbitrary data on both ports between servers where a SASL exchange may begin, with the real mechanism
// behind it. Without the password nobody passes, however the bytes are split; and both sides of an exchange
// end.
//
// Input: a byte for the role, a byte for the size of the pieces, then the stream.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/ensure.h"
#include "net/event_loop.h"
#include "net/link_auth.h"
#include "runtime/quorum_door.h"
#include "sasl/mechanisms.h"

namespace {

using namespace drover;

constexpr std::size_t kWaitingBytesMax = wire::kAuthTokenBytesMax + 64;

SaslFactory& acceptor() {
  static const auto factory = sasl::digest_md5_server(
      {{"zk", Secret("a password that no input can hold a digest of")}}, sasl::kQuorumDigest);
  return **factory;
}

zab::Memberships members() {
  zab::Membership all;
  for (const std::int64_t id : {1, 2, 3}) all.add({.id = ServerId{id}});
  return zab::Memberships(all);
}

// The quorum port: the verdict must not depend on the pieces.
std::string verdict_of(std::string_view bytes, std::size_t piece, bool required) {
  const net::PeerAuth auth{.acceptor = &acceptor(), .required = required};
  const zab::Memberships memberships = members();
  server::QuorumDoor door(host::LinkGuard(ServerId{1}, false, {}), auth);
  const zab::LinkId link{1};
  door.add(link, Instant{0});
  std::string pending;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) {
    pending += bytes.substr(0, piece);
    std::string out;
    const bool had_begun = door.is_authenticating(link);
    const auto verdict = door.on_bytes(link, pending, memberships, out);
    ENSURE(verdict.consumed <= pending.size(), "no more is consumed than there is");
    pending.erase(0, verdict.consumed);
    using Kind = server::QuorumDoor::Verdict::Kind;
    if (verdict.kind == Kind::kAdmit) {
      ENSURE(!required && !had_begun, "nobody is admitted without the password");
      return "admitted";
    }
    if (verdict.kind == Kind::kRefuse) return "refused";
    ENSURE(pending.size() < kWaitingBytesMax, "no more is waited for than a packet may hold");
  }
  return "waiting";
}

// The election port uses the same exchange after its greeting.
void accept_votes(std::string_view bytes, bool required) {
  const net::PeerAuth auth{.acceptor = &acceptor(), .required = required};
  net::AcceptedAuth exchange(auth);
  std::string out;
  const std::size_t consumed = exchange.on_bytes(bytes, out);
  ENSURE(consumed <= bytes.size(), "no more is consumed than there is");
  ENSURE(exchange.state() != net::AcceptedAuth::State::kPassed, "nobody passes without the password");
  ENSURE(exchange.state() != net::AcceptedAuth::State::kAbsent || (!required && consumed == 0),
         "an exchange that is required cannot be left out");
}

// The input is the server that we log in to: it must not get us to trust it.
void connect(std::string_view bytes) {
  static const auto loop = *net::EventLoop::create();
  static const auto starter = *net::SaslStarter::create(*loop);
  static const auto factory = *sasl::digest_md5_client(
      "zk", Secret("a password that no input can hold a digest of"), sasl::kQuorumDigest);
  const net::PeerAuth auth{.connector = [](ServerId, const std::string&) -> net::SaslStarter::Start {
                             return [] { return factory->start(); };
                           },
                           .starter = starter.get()};
  bool started = false;
  net::ConnectingAuth exchange(auth, ServerId{1}, "host", [&] { started = true; });
  while (!started) loop->run_once(1000);
  std::string out;
  ENSURE(exchange.on_bytes(bytes, out) <= bytes.size(), "no more is consumed than there is");
  ENSURE(exchange.state() != net::ConnectingAuth::State::kPassed,
         "a server without the password is not trusted");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  const bool required = (data[0] & 1) != 0;
  switch (data[0] / 2 % 3) {
    case 0: {
      const std::string whole = verdict_of(bytes, bytes.size() + 1, required);
      ENSURE(whole == verdict_of(bytes, 1 + data[1] % 64, required), "pieces lead to the same verdict");
      break;
    }
    case 1: accept_votes(bytes, required); break;
    default: connect(bytes); break;
  }
  return 0;
}
