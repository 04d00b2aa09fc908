// SPDX-License-Identifier: Apache-2.0
//
// Ctrl-C as a flag, for commands that run until they are stopped.
#pragma once

namespace drover::cli {

// While it exists, SIGINT and SIGTERM only set a flag.
class Interruptible {
 public:
  Interruptible();
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

  static bool is_interrupted();

 private:
  struct Handlers;
  Handlers* before_;
};

}  // namespace drover::cli
