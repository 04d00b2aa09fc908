// SPDX-License-Identifier: Apache-2.0
//
// The name of a JAAS file, as Java reads it, and the properties that its values may use.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace drover::sasl {

// From the value of `java.security.auth.login.config`: a path or a file: URL. A leading "="
// ("-Djava.security.auth.login.config==/path") means that no other file is read, which is always so here.
std::string jaas_path(std::string_view value);

// The properties of a JVM that occur in paths: user.home and user.name.
std::optional<std::string> jvm_property(std::string_view name);

}  // namespace drover::sasl
