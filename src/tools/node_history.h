// SPDX-License-Identifier: Apache-2.0
//
// Follows one node through the log: how each transaction changed it. Memory is one node, whatever the size of
// tree and log.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "wire/jute.h"
#include "wire/records.h"
#include "wire/txns.h"

namespace drover::tools {

struct NodeState {
  std::optional<std::string> data;
  std::string acl;  // jute bytes
  std::int32_t version = 0;
  std::int32_t aversion = 0;
  std::int64_t owner = 0;
  Zxid czxid{};
  Zxid mzxid{};
};

struct NodeChange {
  wire::TxnHeader header;
  wire::OpCode type{};  // for a multi, the type of its element
  bool in_multi = false;
  // A fuzzy snapshot may already contain the transaction's effect. Then the value before it is unknown.
  bool before_known = true;
  std::optional<NodeState> before;
  std::optional<NodeState> after;
};

class NodeHistory {
 public:
  explicit NodeHistory(std::string path) : path_(std::move(path)) {}

  const std::string& path() const { return path_; }
  // The node in the snapshot, before the first transaction.
  void start_with(NodeState state) {
    now_ = std::move(state);
    from_snapshot_ = true;
  }
  const std::optional<NodeState>& now() const { return now_; }

  // The transaction's changes to this node, in order.
  std::vector<NodeChange> apply(const wire::TxnEntry& txn);

 private:
  void apply(const wire::TxnHeader& header, wire::OpCode type, const wire::TxnRecord& record,
             std::vector<NodeChange>& changes);
  std::optional<NodeState> after(const wire::TxnHeader& header, wire::OpCode type,
                                 const wire::CreateTxn& txn);
  bool is_ended_by(const wire::TxnHeader& header, const wire::CloseSessionTxn& txn) const;

  std::string path_;
  std::optional<NodeState> now_;
  bool from_snapshot_ = false;  // not changed by a transaction since the snapshot
};

}  // namespace drover::tools
