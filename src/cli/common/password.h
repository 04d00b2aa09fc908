// SPDX-License-Identifier: Apache-2.0
//
// Passwords come from a file or from the terminal, never from the command line, which every user can see.
#pragma once

#include <expected>
#include <string>

namespace drover::cli {

// The first line. The buffers that were used are wiped; the result is the caller's to wipe.
std::expected<std::string, std::string> password_from_file(const std::string& path);
// Asks without showing what is typed.
std::expected<std::string, std::string> password_from_terminal(const std::string& prompt);

}  // namespace drover::cli
