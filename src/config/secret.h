// SPDX-License-Identifier: Apache-2.0
//
// A password or key, passed from the configuration to the one place that uses it.
//
// No stream operator, no fmt formatter, no implicit conversion: printing one by accident does not compile.
#pragma once

#include <string>
#include <utility>

namespace drover::server {

class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string value) : value_(std::move(value)) {}

  bool empty() const { return value_.empty(); }
  // The name is meant to stand out in a review.
  const std::string& reveal() const { return value_; }

 private:
  std::string value_;
};

}  // namespace drover::server
