// SPDX-License-Identifier: Apache-2.0
//
// enableEagerACLCheck: a member refuses a write by its own state, instead of letting the leader make an error
// transaction of it. (Upstream: ZooKeeperServer.authWriteRequest.)
//
// The leader checks again. So a member that is behind may only refuse too much for a moment, never too
// little.
#pragma once

#include <string_view>

#include "base/error_code.h"
#include "state/acl.h"
#include "state/machine.h"
#include "wire/records.h"

namespace drover::state {

// kNoAuth or kInvalidAcl for a create, create2, delete, setData or setACL that may not be; otherwise kOk: the
// leader decides.
ErrorCode eager_refusal(const Machine& machine, wire::OpCode op, std::string_view body,
                        const Identities& who);

}  // namespace drover::state
