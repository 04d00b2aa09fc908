// SPDX-License-Identifier: Apache-2.0
//
// Ctrl-C as a question, for commands that go on until they are told to stop.
#pragma once

namespace drover::cli {

// While it lives, SIGINT and SIGTERM are only noted.
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
