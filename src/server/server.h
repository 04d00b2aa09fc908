// SPDX-License-Identifier: Apache-2.0
//
// The server: recovers the state, starts the threads, serves until told to stop.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "config/config.h"
#include "runtime/rate_limit.h"

namespace drover::server {

class Server {
 public:
  struct Host {
    bool restarts = false;          // the host restarts the server when run() ends with wants_restart()
    AdminLimits* limits = nullptr;  // shared by all servers of the host; null: each has its own
  };
  // Reads the data directory and opens the ports. An error is one line for the operator.
  static IoResult<std::unique_ptr<Server>> start(const ServerConfig& config, Host host = {false, nullptr});
  virtual ~Server() = default;

  // Accepts connections until stop(), then completes pending requests and closes everything.
  virtual void run() = 0;
  // run() ended because `restore` replaced the state.
  virtual bool wants_restart() const = 0;
  // Safe to call from any thread and from signal handlers.
  virtual void stop() = 0;

  // The ports in use, also if the configuration said 0; 0: none.
  virtual int client_port() const = 0;
  virtual int secure_port() const = 0;
  virtual int http_port() const = 0;
};

}  // namespace drover::server
