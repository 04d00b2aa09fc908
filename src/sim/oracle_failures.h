// SPDX-License-Identifier: Apache-2.0
//
// The findings of the checkers: one line each, with zxids, for the person who will read the trace.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/error_code.h"
#include "base/ids.h"

namespace drover::sim {

inline void append_text(std::string& out, std::string_view text) { out.append(text); }
inline void append_text(std::string& out, const char* text) { out.append(text); }
inline void append_text(std::string& out, ErrorCode code) { out.append(name_of(code)); }
inline void append_hex(std::string& out, std::int64_t value) {
  char digits[16];
  const auto end = std::to_chars(digits, digits + sizeof digits, static_cast<std::uint64_t>(value), 16).ptr;
  out.append("0x").append(digits, end);
}
inline void append_text(std::string& out, Zxid zxid) { append_hex(out, raw(zxid)); }
inline void append_text(std::string& out, SessionId session) { append_hex(out, raw(session)); }
inline void append_text(std::string& out, ServerId server) { out.append(std::to_string(raw(server))); }
template <class Int>
  requires std::is_integral_v<Int>
void append_text(std::string& out, Int value) {
  out.append(std::to_string(value));
}

template <class... Parts>
std::string text(const Parts&... parts) {
  std::string out;
  (append_text(out, parts), ...);
  return out;
}

// The first ones matter; those after a broken history are noise.
class Failures {
 public:
  template <class... Parts>
  void add(const Parts&... parts) {
    ++count_;
    if (lines_.size() < kKept) lines_.push_back(text(parts...));
  }
  bool empty() const { return count_ == 0; }
  std::size_t count() const { return count_; }
  const std::vector<std::string>& lines() const { return lines_; }

 private:
  static constexpr std::size_t kKept = 50;
  std::vector<std::string> lines_;
  std::size_t count_ = 0;
};

}  // namespace drover::sim
