// SPDX-License-Identifier: Apache-2.0
//
// One line on a terminal that says how far a long command is; nothing at all when nobody watches.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace drover::tools {

class Progress {
 public:
  // `what` is being done over `total` bytes in all; 0 when that is not known.
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
