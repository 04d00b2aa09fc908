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

namespace drover::zab {

// Entries back to back, as they are logged and sent. Shared by the log's thread, which writes it, the window
// of recent history, and the replica that applies it. It is immutable once it is shared.
struct TxnBatch {
  std::string bytes;
  std::vector<std::uint64_t> ends;  // where entry i ends
  Zxid first{};
  Zxid last{};

  std::size_t size() const { return ends.size(); }
  std::string_view entry(std::size_t i) const {
    const std::uint64_t start = i == 0 ? 0 : ends[i - 1];
    return std::string_view(bytes).substr(start, ends[i] - start);
  }
  void add(Zxid zxid, std::string_view entry_bytes) {
    if (ends.empty()) first = zxid;
    bytes.append(entry_bytes);
    ends.push_back(bytes.size());
    last = zxid;
  }
};
using TxnBatchPtr = std::shared_ptr<const TxnBatch>;

}  // namespace drover::zab
