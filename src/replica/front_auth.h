// SPDX-License-Identifier: Apache-2.0
//
// Code about identities that the parts of Front share.
#pragma once

#include <cstddef>

#include "state/acl.h"

namespace drover::replica {

// Bytes of schemes and names.
std::size_t identity_bytes(const state::Identities& identities);

}  // namespace drover::replica
