// SPDX-License-Identifier: Apache-2.0
//
// Size limits of a transaction and of everything that carries one. All the arithmetic is here.
//
//   request      jute.maxbuffer                          a client's frame; a larger one closes the connection
//   transaction  jute.maxbuffer + jute.maxbuffer.extrasize, at most kTxnBytesMax
//
// An entry (header, record and digest) is one buffer in a PROPOSAL and in the log. Java reads a buffer of at
// most jute.maxbuffer + extrasize, so the second line limits the whole entry. state/prepare refuses a request
// with a larger transaction; nothing larger is ever proposed.
//
// Readers ignore the configured limit. A leader may have another configuration than its followers, and every
// server must be able to read what the leader has logged, or none could follow it. So links, logs and
// snapshots accept every transaction up to kTxnBytesMax:
//
//   packet            kTxnBytesMax + identities + fixed fields    kPacketBytesMax
//   log record        kTxnBytesMax + frame                        kRecordBytesMax
//   snapshot record   one path and its data, or one ACL, which    kRecordBytesMax
//                     came in one transaction
//
// None of them allocates memory for a length before the bytes have arrived.
#pragma once

#include <algorithm>
#include <cstddef>

#include "base/client_limits.h"

namespace drover::wire {

inline constexpr std::size_t kTxnBytesMax = std::size_t{256} << 20;

// Bytes around a transaction or its parts in a log, a packet or a snapshot.
inline constexpr std::size_t kEnvelopeBytes = 1024;
inline constexpr std::size_t kRecordBytesMax = kTxnBytesMax + kEnvelopeBytes;

// Schemes and ids of a client, which a learner sends with every write. Java's learners have no limit.
inline constexpr std::size_t kIdentitiesBytesMax = std::size_t{4} << 20;
static_assert(client_limits::kIdentityBytes <= kIdentitiesBytesMax, "forwarded requests can be read");

inline constexpr std::size_t kPacketBytesMax = kRecordBytesMax + 2 * kIdentitiesBytesMax;

// The largest transaction that a server with these settings proposes.
constexpr std::size_t txn_bytes_max(std::size_t jute_max_buffer, std::size_t jute_extra_size) {
  return std::min(jute_max_buffer + jute_extra_size, kTxnBytesMax);
}

// The largest request that a leader with this limit reads from a learner. Generous, because a learner may
// have another configuration: a request that is too large for a transaction gets an error, and the link
// stays.
constexpr std::size_t forwarded_bytes_max(std::size_t txn_bytes) {
  constexpr std::size_t kLeast = std::size_t{16} << 20;
  return std::min(std::max(4 * txn_bytes, kLeast), kTxnBytesMax);
}

}  // namespace drover::wire
