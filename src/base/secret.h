// SPDX-License-Identifier: Apache-2.0
//
// A password or key, passed from the configuration to the one place that uses it.
//
// No stream operator, no fmt formatter, no implicit conversion: printing one by accident does not compile.
// The memory is overwritten when the value goes away, so that a core dump does not show it.
#pragma once

#include <string.h>

#include <string>
#include <string_view>
#include <utility>

namespace drover {

// Overwrites the whole buffer, also what lies behind the end of the text.
inline void wipe(std::string& text) {
  text.resize(text.capacity());
  ::explicit_bzero(text.data(), text.size());
  text.clear();
}

class Secret {
 public:
  Secret() = default;
  // The caller's own copy is the caller's to wipe.
  explicit Secret(std::string_view value) : value_(value) {}
  explicit Secret(const char* value) : value_(value) {}
  // Takes the buffer over. A short text lies inside the string object and is wiped there.
  explicit Secret(std::string&& value) { take(value); }

  Secret(const Secret&) = default;
  Secret(Secret&& other) noexcept { take(other.value_); }
  Secret& operator=(const Secret& other) {
    if (this != &other) replace(std::string(other.value_));
    return *this;
  }
  Secret& operator=(Secret&& other) noexcept {
    if (this != &other) replace(std::move(other.value_));
    return *this;
  }
  ~Secret() { wipe(value_); }

  bool empty() const { return value_.empty(); }
  // The name is meant to stand out in a review.
  const std::string& reveal() const { return value_; }

 private:
  void take(std::string& value) noexcept {
    value_.swap(value);
    wipe(value);
  }
  void replace(std::string&& value) noexcept {
    wipe(value_);
    take(value);
  }

  std::string value_;
};

}  // namespace drover
