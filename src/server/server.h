// SPDX-License-Identifier: Apache-2.0
//
// The process: recovers the state, starts the threads, serves until told to stop.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "config/config.h"
#include "runtime/rate_limit.h"

namespace drover::server {

class Server {
 public:
  // Reads the data directory and opens the ports. An error is one line for the operator.
  struct Host {
    bool restarts = false;          // starts it again when run() has ended with wants_restart()
    AdminLimits* limits = nullptr;  // of all the servers that it starts; null: each has its own
  };
  static IoResult<std::unique_ptr<Server>> start(const ServerConfig& config, Host host = {false, nullptr});
  virtual ~Server() = default;

  // Accepts connections until stop(); then finishes what is in flight and closes everything.
  virtual void run() = 0;
  // run() has ended because another state took the place of this one's (`restore`).
  virtual bool wants_restart() const = 0;
  // From any thread and from signal handlers.
  virtual void stop() = 0;

  // The ports in use, also when the configuration said 0; 0: none.
  virtual int client_port() const = 0;
  virtual int secure_port() const = 0;
  virtual int http_port() const = 0;
};

}  // namespace drover::server
