// SPDX-License-Identifier: Apache-2.0
//
// A leader with learners that send anything, in any order, while time passes and its disk is slow. It may
// close their links and stop leading. It must not terminate, and a confused learner must not make it.
//
// Input: a byte of options, then commands: a byte for the action and one of four links, and mostly a length
// byte and that many bytes.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "lone_member.h"
#include "wire/quorum.h"
#include "zab/leader.h"

namespace {

using namespace drover;
using namespace drover::fuzz;
using wire::PacketType;
using Stage = zab::LearnerLink::Stage;

constexpr std::array kSessions = {SessionId{7}, SessionId{1}, SessionId{raw(kElected) << 56}, SessionId{-1}};

class Learners {
 public:
  explicit Learners(std::uint8_t choices)
      : server_({.me = kElected, .fresh = (choices & 1) != 0, .at_once = (choices & 2) == 0}) {
    server_.elect();
    if ((choices & 4) == 0) return;
    server_.accept(LinkId{1});
    for (int steps = 0; steps < 4; ++steps) as_expected(LinkId{1});
  }

  void command(std::uint8_t what, Bytes& input) {
    const LinkId link{static_cast<std::uint64_t>(1 + (what & 3))};
    switch ((what >> 2) & 7) {
      case 0: return server_.say(link, input.counted());
      case 1: return packet(link, Bytes(input.counted()));
      case 2: return request(link, Bytes(input.counted()));
      case 3: return as_expected(link);
      case 4: return server_.is_open(link) ? server_.hang_up(link) : server_.accept(link);
      case 5: return world(link, input);
      case 6: return notification(what, input.counted());
      default: return server_.client(input.counted());
    }
  }

 private:
  std::uint32_t epoch() const {
    return server_.peer().leader() ? server_.peer().leader()->epoch() : server_.peer().accepted_epoch();
  }

  void packet(LinkId link, Bytes bytes) {
    const auto type = static_cast<PacketType>(bytes.byte() % 21);
    const Zxid zxid = bytes.zxid(epoch());
    server_.packet(link, type, zxid, bytes.rest());
  }

  void request(LinkId link, Bytes bytes) {
    const auto op = static_cast<wire::OpCode>(static_cast<std::int8_t>(bytes.byte()));
    const SessionId session = kSessions[bytes.byte() % kSessions.size()];
    std::string data;
    std::string packet;
    wire::append_forwarded(data, {session, 1, op, bytes.rest()});
    wire::append_request_packet(packet, data, {{"ip", "127.0.0.1"}});
    server_.say(link, packet);
  }

  // Sends what a correct learner would send next. The link number is its server id.
  void as_expected(LinkId link) {
    const zab::LearnerLink* learner = server_.peer().leader() ? server_.peer().leader()->find(link) : nullptr;
    const auto id = static_cast<std::int64_t>(link);
    if (!learner) return;
    switch (learner->stage) {
      case Stage::kGreeting:
        return server_.packet(link, id == 4 ? PacketType::kObserverInfo : PacketType::kFollowerInfo,
                              zxid_of(server_.peer().accepted_epoch(), 0),
                              wire::encode(wire::LearnerInfo{ServerId{id}}));
      case Stage::kPromising:
        return server_.packet(link, PacketType::kAckEpoch, server_.last(),
                              wire::encode_int(static_cast<std::int32_t>(server_.peer().current_epoch())));
      case Stage::kSending: return server_.state_sent(link);
      case Stage::kSyncing: return server_.packet(link, PacketType::kAck, zxid_of(epoch(), 0));
      case Stage::kActive:
        if (learner->pings_answered < learner->pings_sent)
          return server_.packet(link, PacketType::kPing, server_.last());
        return server_.packet(link, PacketType::kAck, server_.last());
      default: return;
    }
  }

  void world(LinkId link, Bytes& input) {
    const std::uint8_t how = input.byte();
    switch (how & 3) {
      case 0: return server_.pass(how);
      case 1: return server_.work_disk(1 + (how >> 4));
      case 2: return server_.state_sent(link);
      default: return server_.elect();
    }
  }

  void notification(std::uint8_t what, std::string_view bytes) {
    const auto n = wire::decode_notification(bytes);
    if (n) server_.notify(ServerId{1 + (what & 3)}, *n);
  }

  LoneMember server_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes input(std::string_view(reinterpret_cast<const char*>(data), size));
  Learners learners(input.byte());
  while (!input.empty()) learners.command(input.byte(), input);
  return 0;
}
