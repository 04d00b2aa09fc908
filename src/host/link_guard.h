// SPDX-License-Identifier: Apache-2.0
//
// Limits of links between servers: who may become a learner's link, how soon it must say who it is, and how
// much may wait in it.
//
// The agreement protocol checks the same again. But it keeps state for every link, and an
// unidentified connection should cost as little as possible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "wire/txn_limits.h"
#include "zab/effects.h"
#include "zab/memberships.h"

namespace drover::host {

struct LinkLimits {
  // The greeting must arrive within this time.
  std::int64_t greeting_ms = 0;
  // Connections without a greeting. Above this the oldest is closed: a real learner greets as soon as it is
  // connected.
  std::size_t ungreeted_max = 64;
  // A learner that is this far behind on its own link has stopped and is not just slow. It can reconnect; no
  // other server waits for it meanwhile.
  std::size_t queued_bytes_max = std::size_t{256} << 20;
  std::size_t txn_bytes_max = wire::kTxnBytesMax;

  // A transaction that is being sent and one after it do not count: however large, they are not the learner's
  // fault.
  bool is_too_much(std::size_t queued_bytes) const {
    return queued_bytes > queued_bytes_max + 2 * txn_bytes_max;
  }
};

enum class Greeting : std::uint8_t {
  kIncomplete,
  kInvalid,
  kNoMember,  // its server is not another member, and the members do not change
  kGood,
};

// The accepted connections that have not been identified yet.
class LinkGuard {
 public:
  LinkGuard(ServerId me, bool reconfig_enabled, const LinkLimits& limits)
      : me_(me), reconfig_enabled_(reconfig_enabled), limits_(limits) {}

  // `id` is higher than all before.
  void add(zab::LinkId id, Instant now) { deadlines_[id] = now + limits_.greeting_ms; }
  bool is_waiting_for(zab::LinkId id) const { return deadlines_.contains(id); }
  // It was identified, or is gone.
  void remove(zab::LinkId id) { deadlines_.erase(id); }
  // The connection that has to go before another one is added.
  std::optional<zab::LinkId> crowded_out() const;
  std::vector<zab::LinkId> late(Instant now) const;
  std::optional<Instant> next_time() const;

  struct Judgement {
    Greeting greeting{};
    ServerId server{};  // if it says so
  };
  // `bytes` is everything that has arrived.
  Judgement judge(std::string_view bytes, const zab::Memberships& memberships) const;

 private:
  ServerId me_;
  bool reconfig_enabled_;
  LinkLimits limits_;
  std::map<zab::LinkId, Instant> deadlines_;  // in order of arrival
};

}  // namespace drover::host
