// SPDX-License-Identifier: Apache-2.0
#include "sim/check_order.h"

#include <utility>
#include <vector>

#include "base/hash.h"

namespace drover::sim {
namespace {

constexpr HashKey kHashKey{0x51ed'270b'9f86'2a31, 0};

}  // namespace

void CheckOrder::begin_with(std::string_view entry) {
  const Zxid zxid = wire::zxid_of_entry(entry);
  Txn* txn = learn(zxid, entry);
  if (txn) commit_one(*txn);
}

void CheckOrder::on_known(std::string_view entry) {
  if (entry.size() < wire::kTxnHeaderBytes) return failures_.add("I2: a transaction without a header");
  learn(wire::zxid_of_entry(entry), entry);
}

// A zxid is one transaction forever, committed or not. Returns null if this is another one.
CheckOrder::Txn* CheckOrder::learn(Zxid zxid, std::string_view entry) {
  const std::uint64_t hash = hash_bytes(entry, kHashKey);
  const auto [found, is_new] = txns_.try_emplace(zxid);
  Txn& txn = found->second;
  if (is_new) {
    txn.hash = hash;
    txn.entry.assign(entry);
  } else if (txn.hash != hash) {
    failures_.add("I2: two different transactions are ", zxid);
    return nullptr;
  }
  return &txn;
}

std::optional<Zxid> CheckOrder::predecessor(Zxid zxid) const {
  if (counter_of(zxid) > 1 || standalone_) return Zxid{raw(zxid) - 1};
  const Reign* of = reign(epoch_of(zxid));
  if (of) return of->last;
  return std::nullopt;
}

const CheckOrder::Reign* CheckOrder::reign(std::uint32_t epoch) const {
  const auto found = reigns_.find(epoch);
  return found == reigns_.end() ? nullptr : &found->second;
}

bool CheckOrder::is_committed(Zxid zxid) const {
  if (raw(zxid) == 0) return true;
  const auto found = txns_.find(zxid);
  return found != txns_.end() && found->second.committed;
}

void CheckOrder::on_applied(ServerId id, Zxid zxid, std::string_view entry,
                            std::optional<std::uint64_t> digest, bool serving) {
  if (entry.size() < wire::kTxnHeaderBytes || wire::zxid_of_entry(entry) != zxid)
    return failures_.add("I2: server ", id, " applied ", zxid, " with the bytes of another transaction");
  Txn* txn = learn(zxid, entry);
  Server& server = servers_[id];
  const Zxid before = server.position;
  const bool was_known = std::exchange(server.known, true);
  server.position = zxid;
  if (!txn) return;
  const auto expected = predecessor(zxid);
  const bool continues = !was_known || !expected || *expected == before;
  if (!continues) {
    failures_.add("I2: server ", id, " applied ", zxid, " after ", before, " instead of ", *expected);
  }
  if (serving && !commit(zxid, {"server", raw(id)})) return;
  if (digest) compare_tree(id, zxid, *txn, *digest);
}

void CheckOrder::on_state(ServerId id, Zxid zxid, std::optional<std::uint64_t> tree_digest,
                          std::optional<std::uint64_t> sessions_digest) {
  servers_[id].position = zxid;
  servers_[id].known = true;
  const auto found = txns_.find(zxid);
  if (found == txns_.end()) return;
  Txn& txn = found->second;
  if (tree_digest) compare_tree(id, zxid, txn, *tree_digest);
  if (sessions_digest && txn.committed && *sessions_digest != txn.sessions_digest)
    failures_.add("I4: server ", id, " has other sessions than the model at ", zxid);
}

void CheckOrder::compare_tree(ServerId id, Zxid zxid, Txn& txn, std::uint64_t digest) {
  if (txn.committed) {
    if (digest != txn.tree_digest)
      failures_.add("I4: server ", id, " has another tree than the model at ", zxid);
  } else if (!txn.reported) {
    txn.reported = digest;
    txn.reported_by = id;
  } else if (*txn.reported != digest) {
    failures_.add("I4: servers ", txn.reported_by, " and ", id, " have different trees at ", zxid);
  }
}

void CheckOrder::on_standalone(ServerId server, Zxid last, Instant now) {
  standalone_ = true;
  if (last < last_)
    failures_.add("I3: server ", server, " starts with a history up to ", last, ", but ", last_,
                  " is committed");
  // Transactions that a crash has cost were never shown to anybody. Their zxids are used again.
  boost::unordered::erase_if(txns_,
                             [&](const auto& each) { return each.first > last && !each.second.committed; });
  reigns_[epoch_of(last)] = Reign{server, last, now};
  if (last > last_) commit(last, {"server", raw(server)});
}

void CheckOrder::on_established(ServerId server, std::uint32_t epoch, Zxid last, Instant now) {
  const bool newest = reigns_.empty() || epoch > reigns_.rbegin()->first;
  const auto [found, is_new] = reigns_.try_emplace(epoch, Reign{server, last, now});
  if (!is_new) {
    return failures_.add("I1: epoch ", epoch, " has leaders ", found->second.server, " and ", server);
  }
  const std::uint32_t led = std::exchange(servers_[server].led, epoch);
  if (led > epoch) failures_.add("I1: server ", server, " leads epoch ", epoch, " after epoch ", led);
  if (epoch_of(last) >= epoch) {
    failures_.add("I1: server ", server, " leads epoch ", epoch, " with ", last, " of no earlier one");
  }
  // A leader of an older epoch may hear late that it had a quorum; then it is behind, and harmless.
  if (newest && last < last_) {
    failures_.add("I3: server ", server, " leads epoch ", epoch, " with a history up to ", last, ", but ",
                  last_, " is committed");
  }
  // A quorum has taken over what it began with: that is decided, though perhaps no server has shown it yet.
  if (newest && last > last_) commit(last, {"leader", raw(server)});
}

bool CheckOrder::on_seen(Zxid zxid, const Witness& witness) {
  if (is_committed(zxid)) return true;
  if (txns_.contains(zxid)) return commit(zxid, witness);
  failures_.add("I3: ", witness, " has seen ", zxid, ", which is no transaction");
  return false;
}

// Everything from the last committed one to this one is committed with it.
bool CheckOrder::commit(Zxid zxid, const Witness& witness) {
  if (is_committed(zxid)) return true;
  if (lost_track_) return false;
  std::vector<Txn*> path;
  Zxid at = zxid;
  while (!is_committed(at)) {
    const auto found = txns_.find(at);
    if (found == txns_.end()) {
      failures_.add("I2: ", witness, " has ", zxid, ", but nobody was seen to propose ", at);
      lost_track_ = true;
      return false;
    }
    path.push_back(&found->second);
    // If no leader of the epoch was reported, its history is taken to be what is committed.
    const Zxid before = predecessor(at).value_or(last_);
    if (before >= at) {
      failures_.add("I2: ", witness, " has ", zxid, ", and ", at, " comes after ", before);
      lost_track_ = true;
      return false;
    }
    at = before;
  }
  if (at != last_) {
    failures_.add("I2: ", witness, " has ", zxid, " on top of ", at, ", but ", last_, " is committed");
    return false;
  }
  for (auto it = path.rbegin(); it != path.rend(); ++it) {
    if (!commit_one(**it)) return false;
  }
  return true;
}

bool CheckOrder::commit_one(Txn& txn) {
  const std::string entry = std::move(txn.entry);
  const Zxid zxid = wire::zxid_of_entry(entry);
  const auto decoded = wire::decode_entry(entry);
  if (!decoded) {
    failures_.add("I2: ", zxid, " is no transaction that can be read");
    lost_track_ = true;
    return false;
  }
  txn.committed = true;
  txn.entry = {};
  last_ = zxid;
  committing_ = &txn;
  listener_.on_committed(entry, *decoded);
  committing_ = nullptr;
  if (txn.reported && *txn.reported != txn.tree_digest)
    failures_.add("I4: server ", txn.reported_by, " has another tree than the model at ", zxid);
  return true;
}

void CheckOrder::set_model_digests(std::uint64_t tree, std::uint64_t sessions) {
  committing_->tree_digest = tree;
  committing_->sessions_digest = sessions;
}

void CheckOrder::on_settled(ServerId id, Zxid zxid, std::uint64_t tree_digest,
                            std::uint64_t sessions_digest) {
  if (zxid != last_) failures_.add("I3: server ", id, " ended at ", zxid, ", but ", last_, " is committed");
  on_state(id, zxid, tree_digest, sessions_digest);
}

}  // namespace drover::sim
