// SPDX-License-Identifier: Apache-2.0
//
// Collects broken invariants of a server; shared by the parts of Invariants.
#pragma once

#include <string>
#include <string_view>

#include "zab/invariants.h"

namespace drover::zab {

class Invariants::Check {
 public:
  explicit Check(const Peer& peer) : peer_(peer) {}

  // Only the first broken sentence is reported: the later ones are mostly its consequences.
  void expect(bool holds, std::string_view sentence) {
    if (!holds && broken_.empty()) broken_ = sentence;
  }
  std::string text() const;

 private:
  const Peer& peer_;
  std::string_view broken_;  // literals
};

}  // namespace drover::zab
