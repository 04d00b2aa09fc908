// SPDX-License-Identifier: Apache-2.0
//
// For threads whose work may be left undone: a server does not end because there was no memory for a page or
// a snapshot.
//
// The threads that change the state or the log have no such guard. Half a change is worse than a start from
// the log, so what they throw ends the process.
#pragma once

#include <exception>
#include <string_view>

#include "log/log.h"

namespace drover::server {

// False: the work threw, and the log says what.
template <class Work>
bool keep_going(std::string_view who, Work work) {
  try {
    work();
    return true;
  } catch (const std::exception& failure) {
    log_error(who, "given up for now: {}", failure.what());
    return false;
  }
}

}  // namespace drover::server
