// SPDX-License-Identifier: Apache-2.0
//
// Transactions that travel together: one hand-over, one write, one fsync for many.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"

namespace drover::wire {

// Entries back to back, as they are logged and sent. Shared by the log's thread, which writes it, the window
// of recent history, and the replica that applies it. It is immutable once it is shared.
struct TxnBatch {
  std::string bytes;
  std::vector<std::uint64_t> ends;  // where entry i ends
  Zxid first{};
  Zxid last{};

  std::size_t size() const { return ends.size(); }
  bool empty() const { return ends.empty(); }
  std::string_view entry(std::size_t i) const {
    const std::uint64_t start = i == 0 ? 0 : ends[i - 1];
    return std::string_view(bytes).substr(start, ends[i] - start);
  }
  void clear() {
    bytes.clear();
    ends.clear();
  }
  void add(Zxid zxid, std::string_view entry_bytes) {
    if (empty()) first = zxid;
    bytes.append(entry_bytes);
    ends.push_back(bytes.size());
    last = zxid;
  }
  void add(const TxnBatch& more) {
    if (empty()) first = more.first;
    const std::uint64_t base = bytes.size();
    bytes.append(more.bytes);
    for (const std::uint64_t end : more.ends) ends.push_back(base + end);
    last = more.last;
  }
};
using TxnBatchPtr = std::shared_ptr<const TxnBatch>;

}  // namespace drover::wire
