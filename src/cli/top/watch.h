// SPDX-License-Identifier: Apache-2.0
//
// The recursive watch for the changes by path. It is set when there is a session, and again in the next
// one.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "cli/top/paths.h"
#include "drover/client.h"

namespace drover::cli::observe {

class PathWatch {
 public:
  PathWatch(const Client& client, bool wanted);
  void fill(Board& board, int depth, std::size_t count) const;

 private:
  // Shared with the client's executor, which may outlive this object.
  struct State {
    explicit State(Client c) : client(std::move(c)) {}
    Client client;
    std::mutex mutex;
    PathCounts counts;
    std::optional<std::chrono::steady_clock::time_point> since = {};
    std::string trouble = "waiting for a session";
    Watch watch;
  };
  static void set(const std::shared_ptr<State>& state);

  std::shared_ptr<State> state_;
};

}  // namespace drover::cli::observe
