// SPDX-License-Identifier: Apache-2.0
//
// A follower or observer whose leader sends anything: a handshake in the wrong order, gaps, invalid
// transactions, half a state, and votes in between. It may leave that leader. It must not terminate, and no
// message may make it forget what its own disk has confirmed.
//
// Input: a byte of options, then commands: a byte for the action of the leader or the world, and mostly a
// length byte and that many bytes.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "lone_member.h"
#include "wire/quorum.h"
#include "zab/learner.h"

namespace {

using namespace drover;
using namespace drover::fuzz;
using wire::PacketType;

class Leader {
 public:
  explicit Leader(std::uint8_t choices)
      : server_({.me = ServerId{(choices & 8) != 0 ? 4 : 1},
                 .fresh = (choices & 1) != 0,
                 .at_once = (choices & 2) == 0}) {
    server_.elect();
    if ((choices & 4) == 0) return;
    bring_level(choices >> 4);
  }

  void command(std::uint8_t what, Bytes& input) {
    switch (what & 7) {
      case 0: return say(input.counted());
      case 1: return packet(Bytes(input.counted()));
      case 2: return transaction(what >> 3, Bytes(input.counted()));
      case 3: return bring_level(what >> 3);
      case 4: return world(input);
      case 5: return notification(what >> 3, input.counted());
      case 6: return say(part_of_state(input.byte()));
      default: return server_.client(input.counted());
    }
  }

 private:
  std::uint32_t epoch() const { return server_.peer().accepted_epoch(); }
  LinkId link() const { return server_.dialled().value_or(zab::kNoLink); }
  void say(std::string_view bytes) { server_.say(link(), bytes); }

  void packet(Bytes bytes) {
    const auto type = static_cast<PacketType>(bytes.byte() % 21);
    const Zxid zxid = bytes.zxid(epoch());
    server_.packet(link(), type, zxid, bytes.rest());
  }

  // Sends the next transaction or a wrong one, as a proposal or committed at once.
  void transaction(int how, Bytes bytes) {
    const Zxid zxid = (how & 1) != 0 ? bytes.zxid(epoch()) : next_zxid();
    const auto op = static_cast<wire::OpCode>(static_cast<std::int8_t>(bytes.byte()));
    const bool inform = (how & 2) != 0;
    server_.packet(link(), inform ? PacketType::kInform : PacketType::kProposal, zxid,
                   entry_of(zxid, op, bytes.rest()));
    if (!inform && (how & 4) != 0) server_.packet(link(), PacketType::kCommit, zxid);
  }
  Zxid next_zxid() const {
    return epoch_of(server_.last()) == epoch() ? next(server_.last()) : zxid_of(epoch(), 1);
  }

  std::string_view part_of_state(std::size_t from) const {
    return std::string_view(state_).substr(std::min(from, state_.size()));
  }

  // Syncs the learner as a correct leader would, in one of three ways, or only partly.
  void bring_level(int how) {
    const int parts = how >> 2 == 0 ? 4 : (how >> 2) & 3;
    if (parts > 0) {
      wire::LeaderInfo info;
      if ((how & 16) != 0) info.history = {.id = 7, .empty = (how & 8) != 0, .agreed = true};
      server_.packet(link(), PacketType::kLeaderInfo, zxid_of(epoch() + 1, 0), wire::encode(info));
      server_.work_disk(4);
    }
    if (parts > 1) begin_sync(how & 3);
    if (parts > 2) {
      server_.packet(link(), PacketType::kNewLeader, zxid_of(epoch(), 0), "version=0");
      server_.work_disk(4);
    }
    if (parts > 3) server_.packet(link(), PacketType::kUpToDate, Zxid{-1});
  }
  void begin_sync(int how) {
    if (how == 0) return server_.packet(link(), PacketType::kDiff, server_.last());
    if (how == 1) return server_.packet(link(), PacketType::kTrunc, zxid_of(kEpoch, 2));
    server_.packet(link(), PacketType::kSnap, how == 2 ? zxid_of(kEpoch, 9) : server_.last());
    say(state_);
  }

  void world(Bytes& input) {
    const std::uint8_t how = input.byte();
    switch (how & 3) {
      case 0: return server_.pass(how);
      case 1: return server_.work_disk(1 + (how >> 4));
      case 2: return server_.hang_up(link());
      default: return server_.elect();
    }
  }

  void notification(int from, std::string_view bytes) {
    const auto n = wire::decode_notification(bytes);
    if (n) server_.notify(ServerId{from & 7}, *n);
  }

  LoneMember server_;
  // Taken once: a half-received state that is sent again would double each time.
  const std::string state_ = server_.state();
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes input(std::string_view(reinterpret_cast<const char*>(data), size));
  Leader leader(input.byte());
  while (!input.empty()) leader.command(input.byte(), input);
  return 0;
}
