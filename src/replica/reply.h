// SPDX-License-Identifier: Apache-2.0
//
// The answer to a write, made from the result of applying its transaction.
#pragma once

#include <cstdint>
#include <string>

#include "base/ids.h"
#include "state/apply.h"
#include "wire/records.h"

namespace drover::replica {

// Appends a whole frame.
void append_write_reply(std::string& out, wire::OpCode op, std::int32_t xid, Zxid zxid,
                        const state::ApplyResult& result);

}  // namespace drover::replica
