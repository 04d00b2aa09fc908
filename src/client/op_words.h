// SPDX-License-Identifier: Apache-2.0
//
// Names of operations for tests: one word for all variants of an operation.
#pragma once

#include <string_view>

#include "wire/requests.h"

namespace drover::client {

constexpr std::string_view word_of(wire::OpCode op) {
  using wire::OpCode;
  switch (op) {
    case OpCode::kCreate:
    case OpCode::kCreate2:
    case OpCode::kCreateContainer:
    case OpCode::kCreateTtl: return "create";
    case OpCode::kDelete: return "delete";
    case OpCode::kSetData: return "set";
    case OpCode::kMulti: return "multi";
    case OpCode::kGetData: return "get";
    case OpCode::kExists: return "exists";
    case OpCode::kGetChildren:
    case OpCode::kGetChildren2: return "children";
    case OpCode::kSync: return "sync";
    case OpCode::kAddWatch: return "add_watch";
    case OpCode::kCheckWatches:
    case OpCode::kRemoveWatches: return "remove_watch";
    case OpCode::kCloseSession: return "close";
    default: return "other";
  }
}

}  // namespace drover::client
