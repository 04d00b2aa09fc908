// SPDX-License-Identifier: Apache-2.0
//
// Shows the progress of a long command in one line, only on a terminal.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace drover::tools {

class Progress {
 public:
  // `what` is the activity; `total` its size in bytes, 0 if unknown.
  Progress(std::string what, std::uint64_t total, bool shown);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Cheap: most calls only compare.
  void reached(std::uint64_t done) {
    if (shown_ && done >= next_bytes_) look(done);
  }

 private:
  static constexpr std::uint64_t kBytesPerLook = std::uint64_t{1} << 20;

  void look(std::uint64_t done);

  std::string what_;
  std::uint64_t total_;
  bool shown_;
  bool drawn_ = false;
  std::uint64_t next_bytes_ = kBytesPerLook;
  std::chrono::steady_clock::time_point next_;
};

}  // namespace drover::tools
