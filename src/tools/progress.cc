// SPDX-License-Identifier: Apache-2.0
#include "tools/progress.h"

#include <cstdio>

#include <fmt/format.h>

#include "tools/text.h"

namespace drover::tools {
namespace {

// Commands that finish earlier show no progress.
constexpr std::chrono::milliseconds kFirstLook{300};
constexpr std::chrono::milliseconds kInterval{100};

}  // namespace

Progress::Progress(std::string what, std::uint64_t total, bool shown)
    : what_(std::move(what)),
      total_(total),
      shown_(shown),
      next_(std::chrono::steady_clock::now() + kFirstLook) {}

Progress::~Progress() {
  if (drawn_) std::fputs("\r\033[K", stderr);
}

void Progress::look(std::uint64_t done) {
  next_bytes_ = done + kBytesPerLook;
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) return;
  next_ = now + kInterval;
  drawn_ = true;
  const std::string part =
      total_ == 0 ? bytes_text(done) : fmt::format("{:3}% of {}", done * 100 / total_, bytes_text(total_));
  fmt::print(stderr, "\r{}: {}\033[K", what_, part);
  std::fflush(stderr);
}

}  // namespace drover::tools
