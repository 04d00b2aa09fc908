// SPDX-License-Identifier: Apache-2.0
//
// Patterns that mean the same in java.util.regex and in std::regex, and whose search ends.
#pragma once

#include <expected>
#include <regex>
#include <string>

namespace drover::sasl {

// The error names the pattern and what it uses.
std::expected<std::regex, std::string> compile_shared_regex(const std::string& pattern);

}  // namespace drover::sasl
