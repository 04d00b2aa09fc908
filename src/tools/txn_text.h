// SPDX-License-Identifier: Apache-2.0
//
// Prints a logged transaction as text or JSON.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wire/records.h"
#include "wire/txns.h"

namespace drover::tools {

// The operations of a transaction: one, or the elements of a multi. A malformed element has no record.
struct Operation {
  wire::OpCode type{};
  std::optional<wire::TxnRecord> record;
};
std::vector<Operation> operations_of(const wire::TxnEntry& txn);

// An error transaction: it has a zxid but changed nothing.
bool has_failed(const wire::TxnEntry& txn);

// "" if the record is not about a single node.
std::string_view path_of(const wire::TxnRecord& record);

// True if it names a node at or below `top`.
bool touches(const wire::TxnEntry& txn, std::string_view top);

struct TxnTextOptions {
  bool data = false;  // print the data, not only its size
};

// One line, and one more per element of a multi. `bytes` is the entry's size in the log.
void append_text(std::string& out, const wire::TxnEntry& txn, std::size_t bytes,
                 const TxnTextOptions& options);
// One JSON object and a newline.
void append_json(std::string& out, const wire::TxnEntry& txn, std::size_t bytes,
                 const TxnTextOptions& options);

}  // namespace drover::tools
