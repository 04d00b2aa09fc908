// SPDX-License-Identifier: Apache-2.0
#include "cli/common/interrupt.h"

#include <csignal>

namespace drover::cli {
namespace {

volatile std::sig_atomic_t interrupted = 0;

void on_signal(int) { interrupted = 1; }

}  // namespace

struct Interruptible::Handlers {
  struct sigaction interrupt{};
  struct sigaction terminate{};
};

Interruptible::Interruptible() : before_(new Handlers) {
  interrupted = 0;
  struct sigaction action{};
  action.sa_handler = on_signal;
  ::sigaction(SIGINT, &action, &before_->interrupt);
  ::sigaction(SIGTERM, &action, &before_->terminate);
}

Interruptible::~Interruptible() {
  ::sigaction(SIGINT, &before_->interrupt, nullptr);
  ::sigaction(SIGTERM, &before_->terminate, nullptr);
  delete before_;
}

bool Interruptible::is_interrupted() { return interrupted != 0; }

}  // namespace drover::cli
