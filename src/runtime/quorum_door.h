// SPDX-License-Identifier: Apache-2.0
//
// Accepted connections of the quorum port until it is known who they are: SASL, if it is on, and then the
// greeting.
//
// Bytes in, a verdict out: the owner has the links. Nothing of what a connection sends reaches the agreement
// protocol before it is admitted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "host/link_guard.h"
#include "net/link_auth.h"
#include "net/peer_refusals.h"
#include "zab/effects.h"
#include "zab/memberships.h"

namespace drover::server {

class QuorumDoor {
 public:
  // `auth` outlives the door.
  QuorumDoor(const host::LinkGuard& guard, const net::PeerAuth& auth) : guard_(guard), auth_(auth) {}

  // `id` is higher than all before.
  void add(zab::LinkId id, Instant now);
  bool is_waiting_for(zab::LinkId id) const { return guard_.is_waiting_for(id); }
  // It was admitted, or is gone.
  void remove(zab::LinkId id);
  std::optional<zab::LinkId> crowded_out() const { return guard_.crowded_out(); }
  std::vector<zab::LinkId> late(Instant now) const { return guard_.late(now); }
  std::optional<Instant> next_time() const { return guard_.next_time(); }

  struct Verdict {
    enum class Kind : std::uint8_t { kWait, kRefuse, kAdmit };
    Kind kind = Kind::kWait;
    std::size_t consumed = 0;  // the SASL exchange, but not the greeting
    ServerId server{};         // kAdmit: who it claims to be
    net::Refusal refusal{};    // kRefuse
    std::string reason = {};
  };
  // `bytes` is everything that was not consumed. Appends to `out` what has to be sent, also with kRefuse.
  Verdict on_bytes(zab::LinkId id, std::string_view bytes, const zab::Memberships& memberships,
                   std::string& out);

  // For a connection that waited too long, or that the peer has closed.
  bool is_authenticating(zab::LinkId id) const;

 private:
  Verdict judge_greeting(std::string_view bytes, const zab::Memberships& memberships) const;

  host::LinkGuard guard_;
  const net::PeerAuth& auth_;
  std::map<zab::LinkId, net::AcceptedAuth> exchanges_;  // with SASL: until it has passed or is absent
};

}  // namespace drover::server
