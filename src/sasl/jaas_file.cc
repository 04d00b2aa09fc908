// SPDX-License-Identifier: Apache-2.0
#include "sasl/jaas_file.h"

#include <cstdlib>

namespace drover::sasl {

std::string jaas_path(std::string_view value) {
  if (value.starts_with('=')) value.remove_prefix(1);
  if (value.starts_with("file:")) value.remove_prefix(5);
  while (value.starts_with("//")) value.remove_prefix(1);
  return std::string(value);
}

std::optional<std::string> jvm_property(std::string_view name) {
  const char* variable = name == "user.home" ? "HOME" : name == "user.name" ? "USER" : nullptr;
  const char* value = variable != nullptr ? std::getenv(variable) : nullptr;
  return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
}

}  // namespace drover::sasl
