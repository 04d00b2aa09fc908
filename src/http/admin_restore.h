// SPDX-License-Identifier: Apache-2.0
//
// The command `restore`: an uploaded snapshot replaces all data of this server.
//
// The body is written to a file as it arrives, is verified up to its last seal, and is then marked as the
// state to load first (storage/recovery.h). So a crash leaves either the old state or the new one. Clients
// are disconnected before the mark. After the answer the server restarts. The old state is deleted when the
// new one is loaded; if loading fails, the old state is served again. Only for a standalone server: a member
// of an ensemble would take its leader's state, or make the others revert acknowledged writes.
#pragma once

#include <atomic>

#include "http/admin_commands.h"
#include "http/router.h"
#include "runtime/server_inside.h"

namespace drover::server {

class Restore {
 public:
  explicit Restore(const ServerInside& inside) : inside_(inside) {}

  // Why a restore is not possible here; empty: it is possible.
  std::string_view hindrance() const;
  // The caller has checked the authorization.
  UploadStart begin(const AdminCommand& command);

 private:
  const ServerInside& inside_;
  std::atomic<bool> busy_{false};
};

}  // namespace drover::server
