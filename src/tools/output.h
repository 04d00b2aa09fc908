// SPDX-License-Identifier: Apache-2.0
//
// Output of a command. Lines are buffered and written in large pieces, because there may be a million.
#pragma once

#include <cstdio>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace drover::tools {

class Output {
 public:
  static constexpr std::size_t kFlushBytes = std::size_t{64} << 10;

  // The file must outlive it. Without a file, lines stay in text(), for tests.
  explicit Output(std::FILE* file = nullptr, std::size_t flush_bytes = kFlushBytes)
      : file_(file), flush_bytes_(flush_bytes) {}
  ~Output() { flush(); }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  template <class... Arguments>
  void print(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(buffer_), format, std::forward<Arguments>(arguments)...);
    flush_if_large();
  }
  void write(std::string_view text) {
    buffer_.append(text);
    flush_if_large();
  }
  void flush() {
    if (!file_) return;
    std::fwrite(buffer_.data(), 1, buffer_.size(), file_);
    std::fflush(file_);
    buffer_.clear();
  }
  const std::string& text() const { return buffer_; }

 private:
  void flush_if_large() {
    if (file_ && buffer_.size() >= flush_bytes_) flush();
  }

  std::FILE* file_;
  std::size_t flush_bytes_;
  std::string buffer_;
};

}  // namespace drover::tools
