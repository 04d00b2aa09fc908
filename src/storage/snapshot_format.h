// SPDX-License-Identifier: Apache-2.0
//
// The snapshot's bytes, as ZooKeeper writes them (uncompressed):
//
//   5a4b534e ("ZKSN")  00000002  ffffffffffffffff (dbid -1)
//   int n, n x { long session, int timeout }
//   int n, n x { long acl key, vector<ACL> }
//   nodes, parents first: ustring path (root: ""), buffer data, long acl, StatPersisted (60 bytes)
//   ustring "/"                                                          the end of the nodes
//   long adler32, ustring "/"                                            seal 1
//   [ long zxid, int version, long digest,  long adler32, ustring "/" ]  seal 2, since 3.6
//   [ long last processed zxid,             long adler32, ustring "/" ]  seal 3, since 3.9
//
// Each checksum covers everything before it, earlier seals included.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/ids.h"
#include "wire/records.h"

namespace drover::storage {

inline constexpr std::int32_t kSnapshotMagic = 0x5A4B534E;
inline constexpr std::int32_t kSnapshotVersion = 2;
inline constexpr std::int64_t kSnapshotDbId = -1;
inline constexpr std::string_view kEndMarker = "/";
inline constexpr std::int32_t kDigestVersion = 2;

// The tree's digest when `zxid` was the last transaction applied to it.
struct SnapshotDigest {
  Zxid zxid{};
  std::int32_t version = kDigestVersion;
  std::uint64_t tree = 0;
  friend bool operator==(const SnapshotDigest&, const SnapshotDigest&) = default;
};

// Receives a snapshot's contents in order. Views are valid during the call only. False rejects the snapshot
// as corrupt.
class SnapshotSink {
 public:
  virtual ~SnapshotSink() = default;
  virtual bool session(SessionId id, std::int32_t timeout_ms) = 0;
  virtual bool acl(std::int64_t key, std::string_view jute_list) = 0;
  virtual bool node(std::string_view path, const wire::Nullable& data, std::int64_t acl,
                    const wire::StatPersisted& stat) = 0;
};

// Contents of a snapshot that was read or verified.
struct SnapshotInfo {
  std::uint64_t sessions = 0;
  std::uint64_t acls = 0;
  std::uint64_t nodes = 0;
  std::optional<SnapshotDigest> digest;
  std::optional<Zxid> last_processed;
  Zxid newest{};  // highest zxid in any node's Stat: how far the fuzzy snapshot reaches
};

}  // namespace drover::storage
