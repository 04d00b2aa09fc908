// SPDX-License-Identifier: Apache-2.0
//
// Shared by zab's tests: histories in one line, and packets and disk orders as readable text.
//
//   "PROPOSAL 5.1"   a packet             "append 5.1-5.3"   an order to the disk
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/ensure.h"
#include "wire/quorum.h"
#include "wire/testing.h"
#include "wire/txns.h"
#include "zab/effects.h"
#include "zab/election_testing.h"
#include "zab/history.h"
#include "zab/membership_text.h"
#include "zab/reconfig_entry.h"

namespace drover::zab::testing {

using Story = std::vector<std::string>;

constexpr Zxid zx(std::uint32_t epoch, std::uint32_t counter) {
  return Zxid{static_cast<std::int64_t>((static_cast<std::uint64_t>(epoch) << 32U) | counter)};
}

inline std::string text(Zxid zxid) {
  if (raw(zxid) <= 0) return std::to_string(raw(zxid));
  return std::to_string(epoch_of(zxid)) + "." + std::to_string(counter_of(zxid));
}

// A log entry. Zab reads only its zxid.
inline std::string entry(Zxid zxid, std::string_view payload = "payload") {
  return wire::testing::written([&](wire::Writer& w) {
    wire::encode(w, wire::TxnHeader{.zxid = zxid, .type = wire::OpCode::kSetData});
    w.raw(payload);
  });
}

inline std::string reconfig_entry(Zxid zxid, const Membership& next) {
  const std::string members = to_text(next);
  return wire::testing::written([&](wire::Writer& w) {
    wire::encode(w, wire::TxnHeader{.zxid = zxid, .type = wire::OpCode::kReconfig});
    wire::encode(w, wire::SetDataTxn{"/zookeeper/config", members, -1});
  });
}

inline TxnBatchPtr batch(const std::vector<Zxid>& zxids, std::string_view payload = "payload") {
  auto made = std::make_shared<TxnBatch>();
  for (const Zxid zxid : zxids) made->add(zxid, entry(zxid, payload));
  return made;
}

// A history after a start: a snapshot that ends at `begin`, and a log after it, all durable and applied.
inline zab::History history(Zxid begin, const std::vector<Zxid>& zxids, const WindowLimits& limits = {}) {
  zab::History made(limits);
  made.begin_at(begin);
  for (const Zxid zxid : zxids) made.replay(zxid, entry(zxid));
  return made;
}

inline Story zxids_in(const zab::History& history) {
  Story zxids;
  history.for_each(history.window_begin(), history.last(),
                   [&](Zxid zxid, std::string_view) { zxids.push_back(text(zxid)); });
  return zxids;
}

// --- what was sent ---

inline std::string text(const wire::QuorumPacket& packet) {
  std::string said{wire::name_of(packet.type)};
  // The zxid of these packets means nothing.
  const bool plain = packet.type == wire::PacketType::kUpToDate || packet.type == wire::PacketType::kSync ||
                     packet.type == wire::PacketType::kRequest;
  if (!plain) said += " " + text(packet.zxid);
  if (packet.type == wire::PacketType::kAckEpoch)
    said += " of epoch " + std::to_string(wire::decode_int(packet.data).value_or(-2));
  return said;
}

// Calls visit(packet) for each packet; its views are valid only during the call.
template <class Visit>
void for_each_packet(std::string_view bytes, Visit visit) {
  wire::QuorumPacket packet;
  while (!bytes.empty()) {
    const wire::DecodedPacket decoded = wire::decode_packet(bytes, {}, packet);
    ENSURE(decoded.status == wire::Decoded::kComplete, "only complete packets are sent");
    bytes.remove_prefix(decoded.bytes);
    visit(std::as_const(packet));
  }
}

inline Story sent_to(LinkId link, const Effects& effects) {
  Story said;
  for (const LinkSend& send : effects.send) {
    if (send.link != link) continue;
    if (send.snapshot) said.emplace_back("the state");
    if (send.log)
      said.push_back("the log after " + text(send.log->after) + " until " + text(send.log->until));
    for_each_packet(send.bytes, [&](const wire::QuorumPacket& packet) { said.push_back(text(packet)); });
  }
  return said;
}

// --- what was ordered ---

inline std::string text(const DiskOrder& order) {
  if (const auto* append = std::get_if<AppendTxns>(&order)) {
    const TxnBatch& txns = *append->batch;
    return "append " + text(txns.first) + (txns.size() > 1 ? "-" + text(txns.last) : "");
  }
  if (const auto* save = std::get_if<SaveEpoch>(&order)) {
    return (save->kind == EpochKind::kAccepted ? "acceptedEpoch " : "currentEpoch ") +
           std::to_string(save->epoch);
  }
  if (const auto* cut = std::get_if<TruncateLog>(&order)) return "truncate to " + text(cut->last);
  if (std::holds_alternative<ReloadState>(order)) return "read the state";
  if (const auto* save = std::get_if<SaveMembership>(&order))
    return std::string(save->committed ? "membership " : "proposed membership ") +
           text(Zxid{save->membership->version()});
  if (std::holds_alternative<WithdrawMembership>(order)) return "withdraw the proposed membership";
  return "snapshot " + text(std::get<SaveSnapshot>(order).zxid);
}

inline Story ordered(const Effects& effects) {
  Story orders;
  for (const DiskOrder& order : effects.disk) orders.push_back(text(order));
  return orders;
}

}  // namespace drover::zab::testing
