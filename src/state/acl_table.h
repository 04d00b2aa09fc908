// SPDX-License-Identifier: Apache-2.0
//
// Stores each distinct ACL list once. Nodes refer to it by a small number.
//
// Lists are keyed by their jute bytes. The open list (world:anyone:cdrwa) is never in the table: its id is
// -1, in memory and in snapshots. Use counts may be too high after a fuzzy snapshot is replayed; an unused
// list is then dropped at the next load.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "base/hash.h"
#include "wire/records.h"

namespace drover::state {

enum class AclId : std::int32_t {};
inline constexpr AclId kOpenAcl{-1};

// Events outlive the node that caused them, so lists are shared with the code that checks them later.
struct AclList {
  std::vector<wire::Acl> entries;
  std::string bytes;  // the jute vector
};
using AclListPtr = std::shared_ptr<const AclList>;
AclListPtr parse_acl_list(std::string_view bytes);

class AclTable {
 public:
  explicit AclTable(const HashKey& key) : by_bytes_(0, KeyedHash{key}) {}

  // The id of the list; adds the list if it is new. Counts one more use.
  AclId acquire(std::string_view bytes);
  void release(AclId id);

  // Never null; for kOpenAcl the open list. Unknown ids (a damaged snapshot) give a list that allows nobody.
  const AclListPtr& list(AclId id) const;

  // For loading: adds a list from a snapshot. Its uses are not counted yet.
  bool load(std::int64_t key, std::string_view bytes);
  void count_loaded_use(AclId id);
  bool knows(AclId id) const { return id == kOpenAcl || by_id_.contains(static_cast<std::int32_t>(id)); }
  void drop_unused();
  void clear();

  std::size_t size() const { return by_id_.size(); }
  // Every (key, list) for a snapshot, sorted by key.
  std::vector<std::pair<std::int64_t, AclListPtr>> all() const;

 private:
  struct Entry {
    AclListPtr list;
    std::int64_t uses = 0;
  };
  boost::unordered_flat_map<std::int32_t, Entry> by_id_;
  boost::unordered_flat_map<std::string, std::int32_t, KeyedHash, std::equal_to<>> by_bytes_;
  std::int32_t last_id_ = 0;
};

}  // namespace drover::state
