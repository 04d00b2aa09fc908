// SPDX-License-Identifier: Apache-2.0
//
// Why a command failed: a line as ZooKeeper's shell prints it, an exit code, and a hint what to do
// next.
#pragma once

#include <expected>
#include <optional>
#include <string>

#include "drover/error.h"

namespace drover::cli {

struct Failure {
  std::string message;
  int exit_code = 1;
  std::optional<Error> error = {};  // from the server or the client
  std::string hint = {};            // what to do next
};

using Outcome = std::expected<void, Failure>;

std::unexpected<Failure> fail_with(std::string message, int exit_code = 1);
std::unexpected<Failure> fail_with(const Error& error);

// "KeeperErrorCode = NoNode for /a"
std::string keeper_message(const Error& error);
// "Node does not exist: /a"
std::string shell_message(const Error& error);
// Empty: no hint.
std::string hint_for(const Error& error);

// CLI_TRY(outcome) and CLI_GET(name, result) return from the function if there is an error.
#define CLI_TRY(expression)                                                 \
  do {                                                                      \
    if (auto tried = (expression); !tried) return fail_with(tried.error()); \
  } while (false)
#define CLI_GET(name, expression)                              \
  auto name##_result = (expression);                           \
  if (!name##_result) return fail_with(name##_result.error()); \
  auto& name = *name##_result

inline std::unexpected<Failure> fail_with(Failure failure) { return std::unexpected(std::move(failure)); }

}  // namespace drover::cli
