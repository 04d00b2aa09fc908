// SPDX-License-Identifier: Apache-2.0
//
// A terminal as a screen: drawn as a whole, one key at a time, and left as it was found however one leaves.
#pragma once

#include <termios.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace drover::cli::observe {

class Screen {
 public:
  // There is one at a time.
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
  // The next key, or nothing when the time is over or the size has changed. 'q' for Ctrl-C and the end of
  // input.
  std::optional<char> key(std::chrono::milliseconds patience) const;

 private:
  termios before_{};
};

// SIGINT and SIGTERM only set this from now on, the first time; the second time they end the process.
void catch_signals();
bool is_interrupted();

}  // namespace drover::cli::observe
