// SPDX-License-Identifier: Apache-2.0
//
// Shows the progress of a long command in one line on standard error, only if that is a
// terminal.
#pragma once

#include <cstddef>
#include <string>

#include "cli/common/output.h"
#include "drover/wait.h"

namespace drover::cli {

class Progress {
 public:
  // Without a total only the count is shown.
  Progress(Output& output, std::string what, std::size_t total = 0)
      : output_(output), what_(std::move(what)), total_(total) {}
  ~Progress() { end(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(std::size_t done);
  void end();  // removes the line

 private:
  Output& output_;
  std::string what_;
  std::size_t total_;
  bool shown_ = false;
  Clock::time_point began_ = Clock::now();
  Clock::time_point last_ = began_;
};

// "deleting [#####-----]  50 %  500/1000"
std::string progress_text(const std::string& what, std::size_t done, std::size_t total);

}  // namespace drover::cli
