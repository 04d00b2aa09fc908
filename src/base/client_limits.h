// SPDX-License-Identifier: Apache-2.0
//
// The default limits of what one client can make a server store or do, in one table.
//
// Everything that grows with client input must have a line here. If a client reaches a limit, the server
// stops reading from it for a while, replies with a protocol error, or closes the connection.
// docs/security.md, "Clients", says which.
#pragma once

#include <cstddef>
#include <cstdint>

namespace drover::client_limits {

// --- input ---
inline constexpr std::int32_t kFrameBytes = 0xfffff;   // jute.maxbuffer: one request
inline constexpr std::int32_t kHandshakeBytes = 4096;  // the first frame, before the client has a session
inline constexpr std::size_t kPathBytes = 65'536;      // path of a node or a watch
inline constexpr std::size_t kMultiOperations = 100'000;

// --- requests in progress: beyond the limit, the connection is not read ---
inline constexpr std::size_t kOutstanding = 1000;         // per connection
inline constexpr std::size_t kOutstandingTotal = 20'000;  // all connections
// In bytes, including the identities that are sent with every write. The total is half of what a follower's
// link to its leader may queue (host/link_guard.h), so that clients cannot cut the link.
inline constexpr std::size_t kOutstandingBytes = 4 << 20;
inline constexpr std::size_t kOutstandingBytesTotal = 128 << 20;

// --- output ---
inline constexpr std::size_t kOutputHighWaterBytes = 1 << 20;  // unsent; beyond it, reads stop
// Unsent bytes. If an event or another reply comes beyond this limit, the connection is closed. Also the
// largest reply that is built from many nodes (multiRead, getEphemerals); a larger one becomes QUOTAEXCEEDED.
inline constexpr std::size_t kOutputBytes = 8 << 20;
// Unsent bytes of all connections, as counted in the buffers. Beyond it, no connection is read, and
// connections that do not read their replies are closed.
inline constexpr std::size_t kOutputBytesTotal = 256 << 20;
// Events and replies that are not yet moved to the outputs of their connections. From this total on, the
// share that each connection may have shrinks, down to zero at twice this total. Connections above their
// share are closed.
inline constexpr std::size_t kStagedBytesTotal = 64 << 20;

// --- work ---
// Nodes and watches examined per acquisition of the tree lock. The rest waits for the next round. A request
// that has begun is finished, except for getChildren.
inline constexpr std::size_t kWorkOfConnection = 5'000;
inline constexpr std::size_t kWorkOfRound = 20'000;
// getChildren of a node with more children is answered in pieces, one per acquisition of the lock.
inline constexpr std::size_t kChildrenAtOnce = 20'000;
inline constexpr std::size_t kChildrenOfPiece = 5'000;
// Other requests that visit more nodes get an error (QUOTAEXCEEDED).
inline constexpr std::size_t kNodesOfReply = 100'000;

// --- state kept per connection ---
inline constexpr std::size_t kWatches = 100'000;
inline constexpr std::size_t kWatchesTotal = 1'000'000;
inline constexpr std::size_t kWatchBytes = 16 << 20;  // total size of the watched paths
inline constexpr std::size_t kWatchBytesTotal = 256 << 20;
inline constexpr std::size_t kIdentities = 128;
inline constexpr std::size_t kIdentityBytes = 16 << 10;  // schemes and names together

// --- SASL ---
inline constexpr std::size_t kSaslTokenBytes = 64 << 10;  // a Kerberos ticket with many groups fits
inline constexpr std::size_t kSaslSteps = 8;              // DIGEST-MD5 needs two, GSSAPI three

}  // namespace drover::client_limits
