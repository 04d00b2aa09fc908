// SPDX-License-Identifier: Apache-2.0
#include "state/acl_table.h"

#include <algorithm>

#include "base/ensure.h"

namespace drover::state {

AclListPtr parse_acl_list(std::string_view bytes) {
  wire::Reader r(bytes);
  auto list = std::make_shared<AclList>();
  list->entries = wire::decode_acl_list(r);
  list->bytes = std::string(bytes);
  return list;
}

namespace {

const AclListPtr& open_list() {
  static const AclListPtr list = parse_acl_list(wire::open_acl_bytes());
  return list;
}

// An empty list would mean "everybody may"; this list has an entry that matches nobody.
const AclListPtr& nobody_list() {
  static const AclListPtr list = [] {
    std::string bytes;
    wire::Writer w(bytes);
    wire::encode_acl_list(w, {{0, {"world", "anyone"}}});
    return parse_acl_list(bytes);
  }();
  return list;
}

}  // namespace

AclId AclTable::acquire(std::string_view bytes) {
  if (bytes == wire::open_acl_bytes()) return kOpenAcl;
  if (auto found = by_bytes_.find(bytes); found != by_bytes_.end()) {
    ++by_id_.at(found->second).uses;
    return AclId{found->second};
  }
  const std::int32_t id = ++last_id_;
  ENSURE(id > 0, "ACL ids do not wrap");
  by_id_.emplace(id, Entry{parse_acl_list(bytes), 1});
  by_bytes_.emplace(std::string(bytes), id);
  return AclId{id};
}

void AclTable::release(AclId id) {
  if (id == kOpenAcl) return;
  const auto found = by_id_.find(static_cast<std::int32_t>(id));
  if (found == by_id_.end() || --found->second.uses > 0) return;
  by_bytes_.erase(found->second.list->bytes);
  by_id_.erase(found);
}

const AclListPtr& AclTable::list(AclId id) const {
  if (id == kOpenAcl) return open_list();
  const auto found = by_id_.find(static_cast<std::int32_t>(id));
  return found == by_id_.end() ? nobody_list() : found->second.list;
}

bool AclTable::load(std::int64_t key, std::string_view bytes) {
  if (key <= 0 || key > std::numeric_limits<std::int32_t>::max()) return false;
  const auto id = static_cast<std::int32_t>(key);
  if (!by_id_.emplace(id, Entry{parse_acl_list(bytes), 0}).second) return false;
  by_bytes_.emplace(std::string(bytes), id);
  last_id_ = std::max(last_id_, id);
  return true;
}

void AclTable::count_loaded_use(AclId id) {
  if (id == kOpenAcl) return;
  if (auto found = by_id_.find(static_cast<std::int32_t>(id)); found != by_id_.end()) {
    ++found->second.uses;
    return;
  }
  // The list was created after the snapshot's table was written; replay will add it. Until then no other list
  // may get this id: this node would spoil its use count.
  last_id_ = std::max(last_id_, static_cast<std::int32_t>(id));
}

void AclTable::drop_unused() {
  std::vector<std::int32_t> unused;
  for (const auto& [id, entry] : by_id_) {
    if (entry.uses <= 0) unused.push_back(id);
  }
  for (const std::int32_t id : unused) {
    by_bytes_.erase(by_id_.at(id).list->bytes);
    by_id_.erase(id);
  }
}

void AclTable::clear() {
  by_id_.clear();
  by_bytes_.clear();
  last_id_ = 0;
}

std::vector<std::pair<std::int64_t, AclListPtr>> AclTable::all() const {
  std::vector<std::pair<std::int64_t, AclListPtr>> lists;
  lists.reserve(by_id_.size());
  for (const auto& [id, entry] : by_id_) lists.emplace_back(id, entry.list);
  std::sort(lists.begin(), lists.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return lists;
}

}  // namespace drover::state
