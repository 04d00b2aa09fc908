// SPDX-License-Identifier: Apache-2.0
//
// A full-screen terminal: drawn as a whole, reads single keys, and is always restored at the end.
#pragma once

#include <termios.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace drover::cli::observe {

class Screen {
 public:
  // Only one may exist.
  Screen();
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  struct Size {
    std::size_t width = 80;
    std::size_t height = 24;
  };
  Size size() const;
  void draw(const std::vector<std::string>& lines) const;
  // The next key; empty after the timeout or a change of size. Ctrl-C and the end of input are
  // 'q'.
  std::optional<char> key(std::chrono::milliseconds patience) const;

 private:
  termios before_{};
};

// From now on the first SIGINT or SIGTERM only sets this flag; the second one ends the process.
void catch_signals();
bool is_interrupted();

}  // namespace drover::cli::observe
