// SPDX-License-Identifier: Apache-2.0
//
// The membership inside a transaction. Zab looks at nothing else in a transaction: agreement depends on who
// takes part.
#pragma once

#include <cstdint>
#include <string_view>

#include "wire/txns.h"

namespace drover::zab {

inline bool is_reconfig(std::string_view entry) {
  constexpr std::size_t kTypeAt = wire::kTxnHeaderBytes - sizeof(std::int32_t);
  return wire::OpCode{wire::load_be<std::int32_t>(entry.data() + kTypeAt)} == wire::OpCode::kReconfig;
}

// The text of the new membership; empty: the entry is no reconfiguration, or holds none.
inline std::string_view membership_in(std::string_view entry) {
  if (!is_reconfig(entry)) return {};
  const auto txn = wire::decode_entry(entry);
  const auto* set = txn ? std::get_if<wire::SetDataTxn>(&txn->record) : nullptr;
  return set ? set->data.value_or(std::string_view{}) : std::string_view{};
}

}  // namespace drover::zab
