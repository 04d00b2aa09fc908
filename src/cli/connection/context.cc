// SPDX-License-Identifier: Apache-2.0
#include "cli/connection/context.h"

#include "cli/common/text.h"

namespace drover::cli {

Outcome check_path(std::string_view path) {
  if (auto problem = path_problem(path)) return fail_with(*std::move(problem));
  return {};
}

std::expected<Version, Failure> version_flag(const Flags& flags) {
  if (!flags.has("v")) return Version::kAny;
  const auto version = parse_int(flags.value("v"));
  if (!version) return fail_with("-v argument must be an int value: \"" + flags.value("v") + "\"");
  return Version{*version};
}

}  // namespace drover::cli
