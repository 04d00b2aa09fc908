// SPDX-License-Identifier: Apache-2.0
//
// Collects what is not true of a server; the parts of Invariants share it.
#pragma once

#include <string>
#include <string_view>

#include "zab/invariants.h"

namespace drover::zab {

class Invariants::Check {
 public:
  explicit Check(const Peer& peer) : peer_(peer) {}

  // The first sentence that does not hold is the one to tell: what follows is mostly its consequence.
  void expect(bool holds, std::string_view sentence) {
    if (!holds && broken_.empty()) broken_ = sentence;
  }
  std::string text() const;

 private:
  const Peer& peer_;
  std::string_view broken_;  // literals
};

}  // namespace drover::zab
