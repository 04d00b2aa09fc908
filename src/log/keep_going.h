// SPDX-License-Identifier: Apache-2.0
//
// For threads whose work may fail: a server does not exit because there was no memory for a page or a
// snapshot.
//
// The threads that change the state or the log have no such guard. Half a change is worse than a restart from
// the log, so an exception there ends the process.
#pragma once

#include <exception>
#include <string_view>

#include "log/log.h"

namespace drover::server {

// Returns false if the work threw an exception, which is logged.
template <class Work>
bool keep_going(std::string_view who, Work work) {
  try {
    work();
    return true;
  } catch (const std::exception& failure) {
    log_error(who, "interrupted by an exception, continuing: {}", failure.what());
    return false;
  }
}

}  // namespace drover::server
