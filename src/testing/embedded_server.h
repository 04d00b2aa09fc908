// SPDX-License-Identifier: Apache-2.0
//
// A server in this process, behind an interface without the server's own types: the server's Result is not
// the public one (ARCHITECTURE.md).
#pragma once

#include <memory>
#include <string>

namespace drover::testing {

class EmbeddedServer {
 public:
  // Starts like `drover server FILE`. Null: `error` says why.
  static std::unique_ptr<EmbeddedServer> start(const std::string& config_file, std::string& error);
  virtual ~EmbeddedServer() = default;  // stops it
  virtual int port() const = 0;
};

}  // namespace drover::testing
