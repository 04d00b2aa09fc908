// SPDX-License-Identifier: Apache-2.0
#include "cli/common/output.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace drover::cli {

Output::Output()
    : out_is_terminal_(::isatty(STDOUT_FILENO) == 1),
      err_is_terminal_(::isatty(STDERR_FILENO) == 1),
      colours_(out_is_terminal_ && std::getenv("NO_COLOR") == nullptr) {}

void Output::out(std::string_view text) {
  const std::lock_guard lock(mutex_);
  std::fwrite(text.data(), 1, text.size(), stdout);
}

void Output::err(std::string_view text) {
  const std::lock_guard lock(mutex_);
  std::fflush(stdout);
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

void Output::event(std::string_view text) {
  const std::lock_guard lock(mutex_);
  if (wake_) {
    kept_ += text;
    wake_();
    return;
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

void Output::flush() {
  const std::lock_guard lock(mutex_);
  std::fflush(stdout);
}

bool Output::is_broken() { return std::ferror(stdout) != 0; }

std::string Output::coloured(std::string_view text, std::string_view code) const {
  if (!colours_) return std::string(text);
  return std::string("\033[").append(code).append("m").append(text).append("\033[0m");
}

void Output::begin_line(std::function<void()> wake) {
  const std::lock_guard lock(mutex_);
  std::fflush(stdout);
  wake_ = std::move(wake);
}

void Output::end_line() {
  const std::lock_guard lock(mutex_);
  wake_ = nullptr;
  std::fwrite(kept_.data(), 1, kept_.size(), stdout);
  kept_.clear();
}

std::string Output::take_events() {
  const std::lock_guard lock(mutex_);
  return std::exchange(kept_, {});
}

}  // namespace drover::cli
