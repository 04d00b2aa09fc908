// SPDX-License-Identifier: Apache-2.0
//
// Statistics of a log: by type, by session, by first component of the path.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>

#include "base/ids.h"
#include "tools/output.h"
#include "wire/txns.h"

namespace drover::tools {

class LogStats {
 public:
  void add(const wire::TxnEntry& txn, std::size_t bytes);
  void print(Output& out) const;
  void print_json(Output& out) const;

 private:
  struct Sum {
    std::uint64_t txns = 0;
    std::uint64_t bytes = 0;
  };
  void add_path(std::string_view path, std::size_t bytes);

  Sum all_;
  std::uint64_t failed_ = 0;
  Zxid first_{};
  Zxid last_{};
  std::int64_t first_ms_ = 0;
  std::int64_t last_ms_ = 0;
  std::map<wire::OpCode, Sum> by_type_;
  std::unordered_map<std::int64_t, Sum> by_session_;
  std::unordered_map<std::string, Sum> by_top_;
};

// "/a/b/c" -> "/a".
std::string_view top_level(std::string_view path);

}  // namespace drover::tools
