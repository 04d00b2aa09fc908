// SPDX-License-Identifier: Apache-2.0
//
// Fills the state machine from a snapshot's records, then from transactions: from this server's own files at
// start, or from a leader that syncs it.
//
// Digests are compared as soon as the tree is known to be complete: a fuzzy snapshot is complete only once
// replay has reached the zxid that its seal names.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "state/apply.h"
#include "state/machine.h"
#include "wire/jute.h"
#include "wire/records.h"
#include "wire/txns.h"

namespace drover::replica {

// Call order: reset(); sessions, ACLs and nodes, then loaded(), unless the history begins with nothing;
// transactions; finish(). reset() may come again at any time, and starts over. The machine outlives it.
//
// All input comes from a file or a peer. False means that it is invalid, and the caller gives up.
class StateBuilder {
 public:
  // The tree's digest when `zxid` was the last transaction applied to it.
  struct Digest {
    Zxid zxid{};
    std::int32_t version = 0;
    std::uint64_t tree = 0;
  };
  // Called for every transaction once it is applied; the entry is valid only during the call. A starting
  // server fills its window of recent transactions with it.
  using OnTxn = std::function<void(Zxid zxid, std::string_view entry)>;

  explicit StateBuilder(state::Machine& machine, OnTxn on_txn = {});

  void reset();
  bool session(SessionId id, std::int32_t timeout_ms);
  bool acl(std::int64_t key, std::string_view jute_list);
  bool node(std::string_view path, const wire::Nullable& data, std::int64_t acl,
            const wire::StatPersisted& stat);
  // The snapshot is complete, and holds at least everything up to `zxid`. A leader's stream has no digest.
  void loaded(Zxid zxid, const std::optional<Digest>& digest = std::nullopt);
  bool txn(Zxid zxid, std::string_view entry);
  // This entry comes soon.
  void prefetch(std::string_view entry) const { machine_.tree.prefetch(wire::likely_path_of_entry(entry)); }
  // After everything: builds indexes that need the whole tree, and reports findings that waited for more.
  void finish();

  // The zxid of loaded(); 0 before.
  Zxid loaded_at() const { return loaded_at_; }
  // The state is what the history produces and nothing more: it has been compared with its digests.
  bool is_exact() const { return comparable_ && doubt_.empty(); }

  // The last digest that could be compared is not this state's. An earlier one does not matter: if this state
  // is the last leader's, it is the right one, whatever an earlier leader claimed. Valid after finish().
  bool is_contradicted() const { return contradicted_; }

  // Lines about trees that did not match the digests in the files, since the last reset(). Complete after
  // finish().
  const std::vector<std::string>& findings() const { return findings_; }

 private:
  void compare_with_snapshot(Zxid zxid);
  void compare(Zxid zxid, std::uint64_t expected);
  bool differs(std::uint64_t expected) const;
  std::string contradiction(Zxid zxid, std::uint64_t expected) const;
  state::NodeRef parent_of(std::string_view path);

  state::Machine& machine_;
  OnTxn on_txn_;
  // Nodes come depth first, so the next one mostly has the same parent as the last.
  std::string last_parent_path_;
  state::NodeRef last_parent_ = state::kNoNode;
  state::TreeEvents events_;  // no watchers yet
  Zxid loaded_at_{};
  bool loaded_ = false;            // otherwise the tree is bare: not even /zookeeper is there
  std::optional<Digest> awaited_;  // the snapshot's own digest, at a later zxid
  bool touched_ = false;           // by a transaction: what was read is not the tree of an empty server
  bool comparable_ = false;        // digests of transactions can be compared from here on
  std::string doubt_;              // the snapshot's digest differed; a later transaction's decides
  bool contradicted_ = false;      // by the last digest that was compared
  std::vector<std::string> findings_;
};

}  // namespace drover::replica
