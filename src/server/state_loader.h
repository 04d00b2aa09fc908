// SPDX-License-Identifier: Apache-2.0
//
// Fills the state machine from what recovery reads: a snapshot's records, then transactions.
//
// Digests are compared as soon as the tree is known to be whole: a fuzzy snapshot is only once replay has
// reached the zxid that its seal names.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "state/apply.h"
#include "state/machine.h"
#include "storage/recovery.h"

namespace drover::server {

class StateLoader : public storage::RecoverySink {
 public:
  explicit StateLoader(state::Machine& machine) : machine_(machine) {}

  void reset() override;
  bool session(SessionId id, std::int32_t timeout_ms) override;
  bool acl(std::int64_t key, std::string_view jute_list) override;
  bool node(std::string_view path, const wire::Nullable& data, std::int64_t acl,
            const wire::StatPersisted& stat) override;
  void snapshot_loaded(Zxid zxid, const std::optional<storage::SnapshotDigest>& digest) override;
  bool txn(Zxid zxid, std::string_view entry) override;

  // After everything: indexes that only make sense on the whole tree.
  void finish();

  // When the snapshot had been read, and the transactions began.
  Instant snapshot_loaded_at() const { return snapshot_loaded_at_; }
  // Lines about trees that did not come out as the log foretold.
  const std::vector<std::string>& findings() const { return findings_; }

 private:
  void compare(Zxid zxid, std::uint64_t expected);

  state::NodeRef parent_of(std::string_view path);

  state::Machine& machine_;
  // Nodes come depth first, so the next one mostly has the parent of the last.
  std::string last_parent_path_;
  state::NodeRef last_parent_ = state::kNoNode;
  Instant snapshot_loaded_at_;
  state::TreeEvents events_;                        // nobody watches yet
  std::optional<storage::SnapshotDigest> awaited_;  // the snapshot's own digest, at a later zxid
  bool comparable_ = false;                         // digests of transactions can be compared from here on
  std::uint64_t mismatches_ = 0;
  std::vector<std::string> findings_;
};

}  // namespace drover::server
