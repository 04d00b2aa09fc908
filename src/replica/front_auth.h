// SPDX-License-Identifier: Apache-2.0
//
// What the parts of Front share about identities.
#pragma once

#include <cstddef>

#include "state/acl.h"

namespace drover::replica {

// Bytes of schemes and names.
std::size_t identity_bytes(const state::Identities& identities);

}  // namespace drover::replica
