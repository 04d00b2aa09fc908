// SPDX-License-Identifier: Apache-2.0
//
// Everything that one client can make a server hold or do, and how much of it: the defaults in one table.
//
// Whatever grows with what clients send must have a line here. A client that reaches a limit is not read for
// a while, gets an error of the protocol, or is closed; docs/security.md, "Clients", says which.
#pragma once

#include <cstddef>
#include <cstdint>

namespace drover::client_limits {

// --- input ---
inline constexpr std::int32_t kFrameBytes = 0xfffff;   // jute.maxbuffer: a request
inline constexpr std::int32_t kHandshakeBytes = 4096;  // the first frame, from somebody who is nobody yet
inline constexpr std::size_t kPathBytes = 65'536;      // of a node, and of a watch
inline constexpr std::size_t kMultiOperations = 100'000;

// --- requests under way: beyond it, the connection is not read ---
inline constexpr std::size_t kOutstanding = 1000;         // of one connection
inline constexpr std::size_t kOutstandingTotal = 20'000;  // of all
// In bytes, with the identities that go along with every write. The total is half of what a follower's link
// to its leader may queue (runtime/ensemble_host.cc), so that clients cannot cut the link.
inline constexpr std::size_t kOutstandingBytes = 4 << 20;
inline constexpr std::size_t kOutstandingBytesTotal = 128 << 20;

// --- output ---
inline constexpr std::size_t kOutputHighWaterBytes = 1 << 20;  // unsent: the connection is not read
// Unsent, when an event or a further reply comes: close. Also the largest reply that is put together from
// many nodes (multiRead, getEphemerals): QUOTAEXCEEDED.
inline constexpr std::size_t kOutputBytes = 8 << 20;
// Unsent, of all connections, as the buffers have it: nobody is read on, and those who do not take what they
// asked for are closed.
inline constexpr std::size_t kOutputBytesTotal = 256 << 20;
// Events and replies that were not yet handed to their connections' outputs. From here on a connection may
// have less and less of them, down to nothing at twice as much, or is closed.
inline constexpr std::size_t kStagedBytesTotal = 64 << 20;

// --- work ---
// Nodes and watches looked at under one taking of the tree's lock: the rest waits for the next one. A request
// that has begun is finished.
inline constexpr std::size_t kWorkOfConnection = 5'000;
inline constexpr std::size_t kWorkOfRound = 20'000;

// --- what a connection keeps ---
inline constexpr std::size_t kWatches = 100'000;
inline constexpr std::size_t kWatchesTotal = 1'000'000;
inline constexpr std::size_t kWatchBytes = 16 << 20;  // of their paths
inline constexpr std::size_t kWatchBytesTotal = 256 << 20;
inline constexpr std::size_t kIdentities = 128;
inline constexpr std::size_t kIdentityBytes = 16 << 10;  // of schemes and names together

}  // namespace drover::client_limits
