// SPDX-License-Identifier: Apache-2.0
//
// A logged transaction for people and for programs.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wire/records.h"
#include "wire/txns.h"

namespace drover::tools {

// What one transaction does: itself, or each part of a multi. A part whose bytes make no sense has no record.
struct Operation {
  wire::OpCode type{};
  std::optional<wire::TxnRecord> record;
};
std::vector<Operation> operations_of(const wire::TxnEntry& txn);

// It took its place in the order, but changed nothing.
bool has_failed(const wire::TxnEntry& txn);

// "" when the record is about no single node.
std::string_view path_of(const wire::TxnRecord& record);

// Does it name a node at or below `top`?
bool touches(const wire::TxnEntry& txn, std::string_view top);

struct TxnTextOptions {
  bool data = false;  // show what nodes hold, not only how much
};

// A line, and one more for each part of a multi. `bytes` is the entry's size in the log.
void append_text(std::string& out, const wire::TxnEntry& txn, std::size_t bytes,
                 const TxnTextOptions& options);
// One JSON object and a line feed.
void append_json(std::string& out, const wire::TxnEntry& txn, std::size_t bytes,
                 const TxnTextOptions& options);

}  // namespace drover::tools
