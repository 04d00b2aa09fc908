// SPDX-License-Identifier: Apache-2.0
//
// Converts a wire Stat to the public one.
#pragma once

#include "drover/types.h"
#include "wire/records.h"

namespace drover::client {

inline Stat public_stat(const wire::Stat& from) {
  Stat stat;
  stat.czxid = from.czxid;
  stat.mzxid = from.mzxid;
  stat.ctime_ms = from.ctime;
  stat.mtime_ms = from.mtime;
  stat.version = Version{from.version};
  stat.cversion = from.cversion;
  stat.aversion = Version{from.aversion};
  stat.ephemeral_owner = SessionId{from.ephemeral_owner};
  stat.data_length = from.data_length;
  stat.num_children = from.num_children;
  stat.pzxid = from.pzxid;
  return stat;
}

}  // namespace drover::client
