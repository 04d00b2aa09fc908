// SPDX-License-Identifier: Apache-2.0
#include "cli/common/progress.h"

#include <fmt/format.h>

#include <chrono>

namespace drover::cli {
namespace {

// Short work shows nothing.
constexpr std::chrono::milliseconds kFirst{300};
constexpr std::chrono::milliseconds kBetween{100};
constexpr std::size_t kWidth = 30;

}  // namespace

std::string progress_text(const std::string& what, std::size_t done, std::size_t total) {
  if (total == 0) return fmt::format("{} {}", what, done);
  const std::size_t full = done >= total ? kWidth : kWidth * done / total;
  return fmt::format("{} [{}{}] {:3} %  {}/{}", what, std::string(full, '#'), std::string(kWidth - full, '-'),
                     done >= total ? 100 : 100 * done / total, done, total);
}

void Progress::show(std::size_t done) {
  if (!output_.is_error_terminal()) return;
  const Clock::time_point now = Clock::now();
  if (now - began_ < kFirst || (shown_ && now - last_ < kBetween)) return;
  last_ = now;
  shown_ = true;
  output_.err("\r\033[K" + progress_text(what_, done, total_));
}

void Progress::end() {
  if (!shown_) return;
  shown_ = false;
  output_.err("\r\033[K");
}

}  // namespace drover::cli
