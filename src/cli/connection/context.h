// SPDX-License-Identifier: Apache-2.0
//
// Everything that a command can use.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "cli/common/json.h"
#include "cli/common/output.h"
#include "cli/connection/connection.h"
#include "cli/connection/failure.h"
#include "cli/connection/flags.h"
#include "cli/connection/watches.h"
#include "drover/client.h"

namespace drover::cli {

// Requests in flight of commands that touch many nodes.
inline constexpr std::size_t kWindow = 1000;

struct Context {
  Connection& connection;
  Output& output;
  Watches& watches;
  bool json = false;

  const Client& client() const { return connection.client(); }
  Wait wait() const { return connection.wait(); }

  // Blocks until it is done.
  template <class T>
  static Result<T> ask(Task<Result<T>> task) {
    return sync_wait(std::move(task));
  }
  // Sends all at once; results are in the order of the requests.
  template <class T>
  std::vector<Result<T>> ask_all(std::vector<Task<Result<T>>> tasks) const {
    return sync_wait(run_on(client().scheduler(), when_all(std::move(tasks))));
  }

  void print(std::string_view line) const { output.out_line(line); }
  void print(const JsonObject& object) const { output.out(object.line()); }
};

// Rejects invalid paths with the messages of Java's shell.
Outcome check_path(std::string_view path);
// The value of -v, or any version.
std::expected<Version, Failure> version_flag(const Flags& flags);

}  // namespace drover::cli
