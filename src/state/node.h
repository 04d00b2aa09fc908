// SPDX-License-Identifier: Apache-2.0
//
// One znode in memory: 104 bytes, plus one block for its name and data.
//
// A million nodes of 100 bytes should fit in 260 MB. So nodes refer to each other by 32-bit index, and only
// the node stores the name; the path index does not repeat it.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/ids.h"
#include "state/acl_table.h"
#include "wire/jute.h"
#include "wire/records.h"

namespace drover::state {

// Index into the node store; 0 is no node.
enum class NodeRef : std::uint32_t {};
inline constexpr NodeRef kNoNode{};

struct Node {
  Zxid czxid{};
  Zxid mzxid{};
  Zxid pzxid{};
  std::int64_t ctime = 0;
  std::int64_t mtime = 0;
  std::int64_t ephemeral_owner = 0;  // as stored: see ephemeral_owner.h
  std::int32_t version = 0;
  std::int32_t cversion = 0;  // total number of creates below this node
  std::int32_t aversion = 0;
  AclId acl = kOpenAcl;
  NodeRef parent = kNoNode;
  NodeRef first_child = kNoNode;
  NodeRef next_sibling = kNoNode;
  NodeRef prev_sibling = kNoNode;
  std::uint32_t child_count = 0;
  std::uint32_t name_length = 0;
  std::int32_t data_length = -1;  // -1: null
  std::uint32_t content_crc = 0;  // CRC-32 of path and data: the first part of the node's digest
  char* bytes = nullptr;          // name, then data

  std::string_view name() const { return {bytes, name_length}; }
  wire::Nullable data() const {
    if (data_length < 0) return std::nullopt;
    return std::string_view(bytes + name_length, static_cast<std::size_t>(data_length));
  }
  std::size_t data_bytes() const { return data_length < 0 ? 0 : static_cast<std::size_t>(data_length); }
};
static_assert(sizeof(Node) == 104);

wire::StatPersisted persisted_stat(const Node& node);

}  // namespace drover::state
