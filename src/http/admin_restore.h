// SPDX-License-Identifier: Apache-2.0
//
// The command `restore`: a snapshot that somebody sends takes the place of everything this server holds.
//
// The body goes to a file as it comes, is verified to its last seal, and is then marked as the state to try
// first (storage/recovery.h): a crash leaves the old state or the new one. Clients are sent away before that,
// and after its answer the server ends and starts anew. The old state goes when the new one is loaded; if
// that fails it is served again. Only for a server alone: one of an ensemble would take its leader's state,
// or make the others take back what was acknowledged.
#pragma once

#include <atomic>

#include "http/admin_commands.h"
#include "http/router.h"
#include "runtime/server_inside.h"

namespace drover::server {

class Restore {
 public:
  explicit Restore(const ServerInside& inside) : inside_(inside) {}

  // Why there cannot be one here; empty: there can.
  std::string_view hindrance() const;
  // The caller has checked who asks.
  UploadStart begin(const AdminCommand& command);

 private:
  const ServerInside& inside_;
  std::atomic<bool> busy_{false};
};

}  // namespace drover::server
