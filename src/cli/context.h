// SPDX-License-Identifier: Apache-2.0
//
// What a command may use.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "cli/connection.h"
#include "cli/failure.h"
#include "cli/flags.h"
#include "cli/json.h"
#include "cli/output.h"
#include "cli/watches.h"
#include "drover/client.h"

namespace drover::cli {

// How many requests are under way at a time where there are many to make.
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
  // All at the same time; the answers in the order of the questions.
  template <class T>
  std::vector<Result<T>> ask_all(std::vector<Task<Result<T>>> tasks) const {
    return sync_wait(run_on(client().scheduler(), when_all(std::move(tasks))));
  }

  void print(std::string_view line) const { output.out_line(line); }
  void print(const JsonObject& object) const { output.out(object.line()); }
};

// A path that no server would take is refused here, in Java's words.
Outcome check_path(std::string_view path);
// -v VERSION, or any.
std::expected<Version, Failure> version_flag(const Flags& flags);

}  // namespace drover::cli
