// SPDX-License-Identifier: Apache-2.0
//
// The tree's digest: the sum over nodes of CRC-32(path, data, attributes), modulo 2^64.
//
// Leaders write the digest of the resulting tree into each transaction. Every server computes its own digest
// and compares. The CRC is computed in two steps: first path and data (stored with the node), then the 60
// bytes of attributes. So a change of a parent's counters does not read its data again.
#pragma once

#include <cstdint>
#include <string_view>

#include "state/node.h"
#include "wire/records.h"

namespace drover::state {

// Nodes below /zookeeper do not count: they may legitimately differ between servers (quota statistics).
inline bool counts_in_digest(std::string_view path) { return !path.starts_with("/zookeeper/"); }

// `path` is "" for the root.
std::uint32_t content_crc(std::string_view path, const wire::Nullable& data);

// The node's part of the tree's digest.
std::uint64_t node_digest(std::uint32_t content_crc, const wire::StatPersisted& stat);

}  // namespace drover::state
