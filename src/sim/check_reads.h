// SPDX-License-Identifier: Apache-2.0
//
// A read shows the exact state at its zxid: value, Stat, ACL and children are the model's (I7).
#pragma once

#include <string_view>

#include "base/ids.h"
#include "sim/check_calls.h"
#include "sim/oracle_failures.h"
#include "sim/oracle_model.h"
#include "wire/replies.h"

namespace drover::sim {

class CheckReads {
 public:
  CheckReads(Failures& failures, const Model& model, const state::Options& options)
      : failures_(failures), model_(model), options_(options) {}

  // `session`: who asks. Operations that do not read the tree pass.
  void on_reply(ClientId client, const Call& call, const wire::ReplyHeader& header, std::string_view body);

 private:
  struct Shown;
  void check(const Shown& shown) const;
  void check_multi(const Shown& shown) const;
  ErrorCode expected_error(const NodeVersion* node) const;

  Failures& failures_;
  const Model& model_;
  state::Options options_;
};

}  // namespace drover::sim
