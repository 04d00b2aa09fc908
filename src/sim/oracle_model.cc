// SPDX-License-Identifier: Apache-2.0
#include "sim/oracle_model.h"

#include <algorithm>

#include "base/path.h"
#include "state/prepare.h"

namespace drover::sim {
namespace {

constexpr std::uint64_t kChildSeed = 0x8f1b'bcdc'ca62'c1d6;
constexpr std::uint64_t kSessionSeed = 0x3c6e'f372'fe94'f82b;

std::uint64_t hash_of_session(SessionId session, std::int32_t timeout_ms) {
  return mix64(static_cast<std::uint64_t>(raw(session)) ^ kSessionSeed,
               static_cast<std::uint64_t>(timeout_ms) ^ kChildSeed);
}

}  // namespace

std::uint64_t hash_of_child(std::string_view name) { return hash_bytes(name, {kChildSeed, 0}); }

std::uint64_t digest_of(const state::SessionTable& sessions) {
  std::uint64_t sum = 0;
  for (const auto& [session, timeout_ms] : sessions) sum += hash_of_session(session, timeout_ms);
  return sum;
}

Model::Model(const state::Options& options) : machine_(options), pending_(machine_.tree) {
  for (const std::string_view special : {kRootPath, kZooKeeperPath, kQuotaPath, kConfigPath}) {
    const PathId id = path(special);
    if (special != kRootPath) count_child(id, true);
  }
  for (const std::string_view special : {kRootPath, kZooKeeperPath, kQuotaPath, kConfigPath}) {
    add_version(path(special));
  }
}

PathId Model::path(std::string_view text) {
  if (const auto found = ids_.find(text); found != ids_.end()) return found->second;
  const std::size_t slash = text.rfind('/');
  const bool is_top = text == kRootPath || slash == std::string_view::npos;
  const PathId above = is_top ? PathId{} : path(slash == 0 ? kRootPath : text.substr(0, slash));
  const PathId id{static_cast<std::uint32_t>(records_.size())};
  records_.emplace_back();
  records_.back().path = text;
  records_.back().parent = is_top ? id : above;
  ids_.emplace(text, id);
  return id;
}

const NodeVersion* Model::at(std::string_view text, Zxid zxid) const {
  const auto found = ids_.find(text);
  if (found == ids_.end()) return nullptr;
  const auto& versions = record(found->second).versions;
  const auto after = std::upper_bound(versions.begin(), versions.end(), zxid,
                                      [](Zxid z, const NodeVersion& version) { return z < version.zxid; });
  return after == versions.begin() ? nullptr : &*std::prev(after);
}

std::string Model::decide(const state::WriteRequest& request, Zxid zxid, WallTime time) {
  std::string entry;
  state::prepare(machine_, pending_, request, zxid, time, entry);
  pending_.applied(zxid);  // This is only a question: nothing stays pending.
  return entry;
}

const state::ApplyResult& Model::apply(const wire::TxnEntry& txn) {
  count_session(txn);
  events_.clear();
  touched_.clear();
  last_changes_.clear();
  result_ = state::apply(machine_, txn, events_);
  for (const state::TreeEvent& event : events_.list) note_event(event);
  // Changes without an event.
  if (const auto* acl = std::get_if<wire::SetAclTxn>(&txn.record)) touch(path(acl->path));
  touch_swept(txn);
  for (const PathId id : touched_) add_version(id);
  return result_;
}

// A sweep sets the pzxid of parents whose children are already gone, without an event.
void Model::touch_swept(const wire::TxnEntry& txn) {
  const auto* multi = std::get_if<wire::MultiTxn>(&txn.record);
  if (!multi || raw(txn.header.session) != 0) return;
  for (const wire::SubTxn& sub : multi->txns) {
    wire::Reader r(sub.record);
    const auto record = wire::decode_txn_record(r, sub.type, /*in_multi=*/true);
    const auto* removed = record ? std::get_if<wire::DeleteTxn>(&*record) : nullptr;
    if (removed) touch(this->record(path(removed->path)).parent);
  }
}

void Model::count_session(const wire::TxnEntry& txn) {
  const SessionId session = txn.header.session;
  const bool creates = std::holds_alternative<wire::CreateSessionTxn>(txn.record);
  const bool closes = std::holds_alternative<wire::CloseSessionTxn>(txn.record);
  const auto found = machine_.sessions.find(session);
  if ((creates || closes) && found != machine_.sessions.end())
    sessions_digest_ -= hash_of_session(session, found->second);
  if (creates)
    sessions_digest_ += hash_of_session(session, std::get<wire::CreateSessionTxn>(txn.record).timeout_ms);
}

void Model::note_event(const state::TreeEvent& event) {
  const PathId id = path(event.path);
  const TreeChange change{machine_.last_zxid, event.type, id};
  touch(id);
  record(id).changes.push_back(change);
  last_changes_.push_back(change);
  if (event.type == wire::EventType::kNodeChildrenChanged) return;
  if (event.type == wire::EventType::kNodeCreated) count_child(id, true);
  if (event.type == wire::EventType::kNodeDeleted) count_child(id, false);
  PathId above = id;
  while (true) {
    record(above).below.push_back(change);
    if (record(above).parent == above) return;
    above = record(above).parent;
  }
}

void Model::count_child(PathId child, bool there) {
  Record& above = record(record(child).parent);
  const std::uint64_t hash = hash_of_child(base_name(record(child).path));
  above.children += there ? hash : 0 - hash;
}

void Model::touch(PathId id) {
  if (record(id).touched == machine_.last_zxid) return;
  record(id).touched = machine_.last_zxid;
  touched_.push_back(id);
}

void Model::add_version(PathId id) {
  Record& r = record(id);
  NodeVersion version;
  version.zxid = machine_.last_zxid;
  if (const state::Node* node = machine_.tree.get(r.path)) {
    version.exists = true;
    version.has_data = node->data().has_value();
    version.data = node->data().value_or("");
    version.stat = machine_.tree.stat(*node);
    version.children = r.children;
    if (node->acl != state::kOpenAcl) version.acl = machine_.tree.acl(*node);
  }
  r.versions.push_back(std::move(version));
}

}  // namespace drover::sim
