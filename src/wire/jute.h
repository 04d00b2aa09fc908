// SPDX-License-Identifier: Apache-2.0
//
// Jute, the encoding of every ZooKeeper record: big-endian integers, length-prefixed strings, no tags.
//
//   create("/a", "hi") body:  00000002 2f61  00000002 6869  ...
//   a null string or buffer:  ffffffff
//
// All bytes are std::string and std::string_view: one type for paths, data and frames.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace drover::wire {

// Null and empty are different on the wire and stay different in the tree.
using Nullable = std::optional<std::string_view>;

template <class Int>
Int load_be(const char* at) {
  Int value;
  std::memcpy(&value, at, sizeof value);
  if constexpr (sizeof(Int) == 4)
    return static_cast<Int>(__builtin_bswap32(static_cast<std::uint32_t>(value)));
  return static_cast<Int>(__builtin_bswap64(static_cast<std::uint64_t>(value)));
}

template <class Int>
void store_be(char* at, Int value) {
  if constexpr (sizeof(Int) == 4) {
    const std::uint32_t v = __builtin_bswap32(static_cast<std::uint32_t>(value));
    std::memcpy(at, &v, 4);
  } else {
    const std::uint64_t v = __builtin_bswap64(static_cast<std::uint64_t>(value));
    std::memcpy(at, &v, 8);
  }
}
static_assert(std::endian::native == std::endian::little, "load_be and store_be swap");

// Reads records from untrusted bytes. Never reads outside them and never throws. The first field that is cut
// off or invalid makes ok() false for good, and every later field reads as zero or null. Callers decode a
// whole record and check ok() once. Views point into the given bytes.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  bool ok() const { return ok_; }
  std::size_t remaining() const { return ok_ ? bytes_.size() - at_ : 0; }
  std::size_t position() const { return at_; }
  bool at_end() const { return remaining() == 0; }
  void fail() { ok_ = false; }

  std::uint8_t byte() {
    const char* p = take(1);
    return p ? static_cast<std::uint8_t>(*p) : 0;
  }
  bool boolean() { return byte() != 0; }
  std::int32_t i32() {
    const char* p = take(4);
    return p ? load_be<std::int32_t>(p) : 0;
  }
  std::int64_t i64() {
    const char* p = take(8);
    return p ? load_be<std::int64_t>(p) : 0;
  }

  // A string or buffer. A length below -1 or beyond the remaining bytes is an error.
  Nullable buffer() {
    const std::int32_t length = i32();
    if (!ok_ || length == -1) return std::nullopt;
    if (length < 0) {
      ok_ = false;
      return std::nullopt;
    }
    const char* p = take(static_cast<std::size_t>(length));
    if (!p) return std::nullopt;
    return std::string_view(p, static_cast<std::size_t>(length));
  }
  // For fields where null and empty mean the same.
  std::string_view string() { return buffer().value_or(std::string_view{}); }

  // For fields that may not be null, such as paths.
  std::string_view required_string() {
    const Nullable found = buffer();
    if (!found) ok_ = false;
    return found.value_or(std::string_view{});
  }

  // The element count of a vector whose elements take at least `element_bytes_min` bytes each. A count that
  // the remaining bytes cannot hold is an error. Null and negative counts read as empty, as in Java.
  std::size_t count(std::size_t element_bytes_min) {
    const std::int32_t n = i32();
    if (!ok_ || n <= 0) return 0;
    if (static_cast<std::size_t>(n) > remaining() / element_bytes_min) {
      ok_ = false;
      return 0;
    }
    return static_cast<std::size_t>(n);
  }

  // The bytes from `start`, a former position(), to the current position.
  std::string_view since(std::size_t start) const { return bytes_.substr(start, at_ - start); }

 private:
  const char* take(std::size_t n) {
    if (!ok_ || bytes_.size() - at_ < n) {
      ok_ = false;
      return nullptr;
    }
    const char* p = bytes_.data() + at_;
    at_ += n;
    return p;
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
  bool ok_ = true;
};

// Appends records to a buffer that the caller owns.
class Writer {
 public:
  explicit Writer(std::string& out) : out_(out) {}

  void byte(std::uint8_t v) { out_.push_back(static_cast<char>(v)); }
  void boolean(bool v) { byte(v ? 1 : 0); }
  void i32(std::int32_t v) { fixed(v); }
  void i64(std::int64_t v) { fixed(v); }
  void string(std::string_view s) {
    i32(static_cast<std::int32_t>(s.size()));
    out_.append(s);
  }
  void null() { i32(-1); }
  void buffer(const Nullable& b) { b ? string(*b) : null(); }
  void raw(std::string_view bytes) { out_.append(bytes); }

  std::string& out() { return out_; }

 private:
  template <class Int>
  void fixed(Int v) {
    char b[sizeof v];
    store_be(b, v);
    out_.append(b, sizeof b);
  }

  std::string& out_;
};

// Writes the length prefix of a frame; the frame's content is everything appended during the object's life.
class Frame {
 public:
  explicit Frame(std::string& out) : out_(out), start_(out.size()) { out_.append(4, '\0'); }
  ~Frame() {
    store_be<std::int32_t>(out_.data() + start_, static_cast<std::int32_t>(out_.size() - start_ - 4));
  }
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

 private:
  std::string& out_;
  std::size_t start_;
};

}  // namespace drover::wire
