// SPDX-License-Identifier: Apache-2.0
//
// Strings in JSON, for output that is written piece by piece. Java's admin server escapes differently; see
// http/pretty_json.h.
#pragma once

#include <string>
#include <string_view>

namespace drover {

// Appends `text` in quotes, escaped. Malformed UTF-8 becomes U+FFFD.
void append_json_string(std::string& out, std::string_view text);

}  // namespace drover
