// SPDX-License-Identifier: Apache-2.0
//
// Follows one node through the log: what each transaction made of it. Holds that node and nothing else,
// however large tree and log are.
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
  wire::OpCode type{};  // of the part when it was a multi
  bool in_multi = false;
  // A fuzzy snapshot may show a transaction's work already: what was before it is then not known.
  bool before_known = true;
  std::optional<NodeState> before;
  std::optional<NodeState> after;
};

class NodeHistory {
 public:
  explicit NodeHistory(std::string path) : path_(std::move(path)) {}

  const std::string& path() const { return path_; }
  // What the snapshot has under this path, before the first transaction.
  void start_with(NodeState state) {
    now_ = std::move(state);
    from_snapshot_ = true;
  }
  const std::optional<NodeState>& now() const { return now_; }

  // The changes of this node that the transaction makes, in order.
  std::vector<NodeChange> apply(const wire::TxnEntry& txn);

 private:
  void apply(const wire::TxnHeader& header, wire::OpCode type, const wire::TxnRecord& record,
             std::vector<NodeChange>& changes);
  std::optional<NodeState> after(const wire::TxnHeader& header, wire::OpCode type,
                                 const wire::CreateTxn& txn);
  bool is_ended_by(const wire::TxnHeader& header, const wire::CloseSessionTxn& txn) const;

  std::string path_;
  std::optional<NodeState> now_;
  bool from_snapshot_ = false;  // no transaction has changed it since
};

}  // namespace drover::tools
