// SPDX-License-Identifier: Apache-2.0
//
// The I/O thread of a client: sockets, TLS, name resolution, and the clock.
#pragma once

#include <expected>
#include <memory>
#include <string>
#include <vector>

#include "client/connect_string.h"
#include "client/driver.h"
#include "client/sasl_login.h"
#include "client/strand.h"
#include "drover/executor.h"

namespace drover::client {

struct TlsFiles {
  std::string trust_store;
  std::string trust_store_password;
  std::string key_store;
  std::string key_store_password;
  bool verify_host_name = true;
};

struct IoDriverOptions {
  std::vector<ServerAddress> servers;
  const TlsFiles* tls = nullptr;               // null: plain
  std::shared_ptr<const SaslLogin> sasl = {};  // null: none
};

// Also an executor: posted jobs run on its thread after each round of I/O.
class IoDriver : public Driver, public Executor {
 public:
  using Made = std::expected<std::shared_ptr<IoDriver>, std::string>;
  static Made create(const IoDriverOptions& options);
  // Call it once.
  virtual void start(std::unique_ptr<DrivenMachine> machine, std::shared_ptr<Strand> strand) = 0;
};

}  // namespace drover::client
