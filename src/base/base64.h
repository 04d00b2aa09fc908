// SPDX-License-Identifier: Apache-2.0
//
// Base64 with padding (RFC 4648, section 4): "any\xFF" <-> "YW55/w==".
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace drover {

std::string to_base64(std::string_view bytes);
// Nullopt: another character, a line break, or padding that is missing or not at the end.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace drover
