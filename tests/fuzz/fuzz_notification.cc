// SPDX-License-Identifier: Apache-2.0
//
// Dishonest votes. An election must not crash or elect a server that is not a voter. It must not send
// messages to itself, and must answer one message with few.
//
// Input: the role of the server, then commands. Each is a byte for the sender and the time, a length byte,
// and a notification of that length.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/ensure.h"
#include "wire/quorum.h"
#include "zab/election.h"

namespace {

using namespace drover;
using namespace drover::zab;

constexpr ServerId kMe{2};

Membership ensemble(bool groups) {
  Membership m;
  for (const std::int64_t id : {0, 1, 2, 3, 4}) m.add({.id = ServerId{id}});
  m.add({.id = ServerId{5}, .type = PeerType::kObserver});
  if (groups) {
    m.set_groups({{1, {ServerId{0}, ServerId{1}}}, {2, {kMe, ServerId{3}, ServerId{4}}}});
    m.set_weights({{ServerId{4}, 0}, {ServerId{0}, 2}});
  }
  return m;
}

void check_round_trip(const wire::Notification& n) {
  std::string bytes;
  append_notification(bytes, n);
  const auto again = wire::decode_notification(bytes);
  ENSURE(again.has_value(), "what was read can be said");
  ENSURE(again->leader == n.leader && again->round == n.round && again->config == n.config,
         "and is the same");
}

class Fuzzed {
 public:
  explicit Fuzzed(std::uint8_t role)
      : observer_((role & 1) != 0),
        zxid_((role & 2) != 0 ? -1 : 5),
        membership_(ensemble((role & 4) != 0)),
        election_({.me = kMe, .observer = observer_}, membership_) {
    start();
  }

  void command(std::uint8_t what, std::string_view bytes) {
    now_ = now_ + ((what >> 4) * 40);
    election_.on_time(now_, sends_);
    check();
    const ServerId from{what & 7};
    if ((what & 8) != 0) election_.set_reachable(from, bytes.empty());
    const auto n = wire::decode_notification(bytes);
    if (!n) return;
    check_round_trip(*n);
    election_.on_notification(from, *n, now_, sends_);
    check();
    if (!election_.looking() && (what & 8) != 0) start();
  }

 private:
  void start() {
    election_.start(Zxid{zxid_}, 1, now_, sends_);
    check();
  }

  void check() {
    ENSURE(sends_.size() <= 2 * membership_.voters().size(), "one input has few answers");
    for (const NotificationSend& send : sends_) ENSURE(send.to != kMe, "nothing is sent to oneself");
    sends_.clear();
    ENSURE(election_.looking() == election_.next_time().has_value(), "who looks has something to do");
    if (election_.looking()) return;
    const ServerId leader = election_.vote().leader;
    ENSURE(membership_.is_voter(leader), "a leader is a voter");
    ENSURE(leader != kMe || (!observer_ && zxid_ != -1), "who has no vote does not lead");
  }

  bool observer_;
  std::int64_t zxid_;
  Membership membership_;
  Election election_;
  Instant now_;
  std::vector<NotificationSend> sends_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  Fuzzed server(data[0]);
  std::string_view input(reinterpret_cast<const char*>(data) + 1, size - 1);
  while (input.size() >= 2) {
    const auto what = static_cast<std::uint8_t>(input[0]);
    const std::string_view bytes = input.substr(2, static_cast<std::uint8_t>(input[1]));
    input.remove_prefix(2 + bytes.size());
    server.command(what, bytes);
  }
  return 0;
}
