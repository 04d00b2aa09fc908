// SPDX-License-Identifier: Apache-2.0
//
// ACL lists, each stored once and known to nodes by a small number.
//
// Lists are keyed by their jute bytes. The open list (world:anyone:cdrwa) is never in the table: its id
// is -1, in memory as in snapshots. Counts may run high after a fuzzy snapshot was replayed; a list that
// nobody uses is then dropped at the next load.
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

// Events outlive the node that caused them, so lists are shared with those who still have to check one.
struct AclList {
  std::vector<wire::Acl> entries;
  std::string bytes;  // the jute vector
};
using AclListPtr = std::shared_ptr<const AclList>;
AclListPtr parse_acl_list(std::string_view bytes);

class AclTable {
 public:
  explicit AclTable(const HashKey& key) : by_bytes_(0, KeyedHash{key}) {}

  // The id of the list, adding it when new, and counts one more use.
  AclId acquire(std::string_view bytes);
  void release(AclId id);

  // Never null; for kOpenAcl the open list. Unknown ids (a damaged snapshot) read as nobody may.
  const AclListPtr& list(AclId id) const;

  // For loading: what the snapshot says, uses still uncounted.
  bool load(std::int64_t key, std::string_view bytes);
  void count_loaded_use(AclId id);
  bool knows(AclId id) const { return id == kOpenAcl || by_id_.contains(static_cast<std::int32_t>(id)); }
  void drop_unused();
  void clear();

  std::size_t size() const { return by_id_.size(); }
  // Every (key, list) for a snapshot, in the order of keys.
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
