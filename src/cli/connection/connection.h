// SPDX-License-Identifier: Apache-2.0
//
// The shell's session with the servers.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cli/connection/failure.h"
#include "cli/connection/watches.h"
#include "drover/client.h"

namespace drover::cli {

struct ConnectionOptions {
  std::string servers = "localhost:2181";  // with a chroot, if there is one
  std::chrono::milliseconds timeout{30'000};
  bool read_only = false;
  std::optional<TlsOptions> tls = {};
  std::shared_ptr<const SaslLogin> sasl = {};
  // Run callbacks on the I/O thread. Not for commands that print many events: blocking there would end the
  // session.
  bool for_one_command = false;
};

class Connection {
 public:
  // Connects in the background. `watches` gets every change of state.
  static std::expected<std::unique_ptr<Connection>, Failure> open(ConnectionOptions options,
                                                                  Watches& watches);
  ~Connection() { close({.tell = false}); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  const std::string& servers() const { return options_.servers; }
  const Client& client() const { return client_; }
  // The same without the chroot.
  const Client& root() const { return root_; }

  // Neither closed nor expired.
  bool is_alive() const;
  bool is_connected() const;
  // As Java's States: "CONNECTED".
  std::string_view state_name() const;
  // The wait for one operation: short if there is no connection.
  Wait wait() const;
  Result<void> wait_until_connected(std::chrono::milliseconds patience) const;

  struct CloseOptions {
    bool tell = true;  // report the close to the watches
  };
  void close(CloseOptions options);

 private:
  Connection(ConnectionOptions options, Client root, Client client)
      : options_(std::move(options)), root_(std::move(root)), client_(std::move(client)) {}

  ConnectionOptions options_;
  Client root_;
  Client client_;
  bool closed_ = false;
  std::shared_ptr<std::atomic<bool>> telling_ = std::make_shared<std::atomic<bool>>(true);
  Client::Subscription states_;
};

}  // namespace drover::cli
