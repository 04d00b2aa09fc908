// SPDX-License-Identifier: Apache-2.0
#include "storage/compression.h"

#include <snappy.h>
#include <zlib.h>

#include <algorithm>
#include <string>

#include "base/ensure.h"
#include "wire/jute.h"

namespace drover::storage {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{64} << 10;

class PlainSink final : public ByteSink {
 public:
  explicit PlainSink(ByteSink& to) : to_(to) {}
  IoResult<void> write(std::string_view bytes) override { return to_.write(bytes); }
  IoResult<void> finish() override { return to_.finish(); }

 private:
  ByteSink& to_;
};

class PlainSource final : public ByteSource {
 public:
  explicit PlainSource(ByteSource& from) : from_(from) {}
  IoResult<std::size_t> read(char* into, std::size_t size) override { return from_.read(into, size); }

 private:
  ByteSource& from_;
};

// --- gzip

constexpr int kGzipWindowBits = 15 + 16;  // 16 asks zlib for gzip's header and trailer

class GzipSink final : public ByteSink {
 public:
  explicit GzipSink(ByteSink& to) : to_(to), out_(kBufferBytes, '\0') {
    const int result =
        deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindowBits, 8, Z_DEFAULT_STRATEGY);
    ENSURE(result == Z_OK, "zlib accepts its own default parameters");
  }
  ~GzipSink() override { deflateEnd(&stream_); }
  GzipSink(const GzipSink&) = delete;
  GzipSink& operator=(const GzipSink&) = delete;

  IoResult<void> write(std::string_view bytes) override {
    // zlib counts in unsigned int.
    while (!bytes.empty()) {
      const std::string_view part = bytes.substr(0, std::size_t{1} << 30);
      stream_.next_in = reinterpret_cast<unsigned char*>(const_cast<char*>(part.data()));
      stream_.avail_in = static_cast<unsigned>(part.size());
      while (stream_.avail_in > 0) TRY(step(Z_NO_FLUSH));
      bytes.remove_prefix(part.size());
    }
    return {};
  }

  IoResult<void> finish() override {
    while (!ended_) TRY(step(Z_FINISH));
    return to_.finish();
  }

 private:
  IoResult<void> step(int flush) {
    stream_.next_out = reinterpret_cast<unsigned char*>(out_.data());
    stream_.avail_out = static_cast<unsigned>(out_.size());
    const int result = deflate(&stream_, flush);
    ENSURE(result != Z_STREAM_ERROR, "a deflate stream is used in order");
    ended_ = result == Z_STREAM_END;
    return to_.write(std::string_view(out_).substr(0, out_.size() - stream_.avail_out));
  }

  ByteSink& to_;
  z_stream stream_{};
  std::string out_;
  bool ended_ = false;
};

class GzipSource final : public ByteSource {
 public:
  explicit GzipSource(ByteSource& from) : from_(from), in_(kBufferBytes, '\0') {
    ENSURE(inflateInit2(&stream_, kGzipWindowBits) == Z_OK, "zlib accepts its own parameters");
  }
  ~GzipSource() override { inflateEnd(&stream_); }
  GzipSource(const GzipSource&) = delete;
  GzipSource& operator=(const GzipSource&) = delete;

  IoResult<std::size_t> read(char* into, std::size_t size) override {
    const unsigned room = static_cast<unsigned>(std::min(size, std::size_t{1} << 30));
    stream_.next_out = reinterpret_cast<unsigned char*>(into);
    stream_.avail_out = room;
    while (stream_.avail_out == room && !ended_) {
      if (stream_.avail_in == 0) TRY(refill());
      const int result = inflate(&stream_, Z_NO_FLUSH);
      if (result == Z_STREAM_END) {
        ended_ = true;
      } else if (result != Z_OK) {
        return std::unexpected(data_error("invalid gzip stream"));
      }
    }
    return room - stream_.avail_out;
  }

 private:
  IoResult<void> refill() {
    TRY_ASSIGN(const std::size_t n, from_.read(in_.data(), in_.size()));
    if (n == 0) return std::unexpected(data_error("gzip stream ends early"));
    stream_.next_in = reinterpret_cast<unsigned char*>(in_.data());
    stream_.avail_in = static_cast<unsigned>(n);
    return {};
  }

  ByteSource& from_;
  z_stream stream_{};
  std::string in_;
  bool ended_ = false;
};

// --- snappy-java

constexpr std::string_view kSnappyHeader("\x82SNAPPY\0\0\0\0\1\0\0\0\1", 16);
constexpr std::size_t kSnappyMagicBytes = 8;
constexpr std::size_t kSnappyBlockBytes = std::size_t{32} << 10;
// Java lets the writer choose the block size; no real writer chooses one this large.
constexpr std::size_t kSnappyBlockBytesMax = std::size_t{16} << 20;

class SnappySink final : public ByteSink {
 public:
  explicit SnappySink(ByteSink& to) : to_(to) {}

  IoResult<void> write(std::string_view bytes) override {
    while (!bytes.empty()) {
      const std::size_t n = std::min(bytes.size(), kSnappyBlockBytes - block_.size());
      block_.append(bytes.substr(0, n));
      bytes.remove_prefix(n);
      if (block_.size() == kSnappyBlockBytes) TRY(write_block());
    }
    return {};
  }

  IoResult<void> finish() override {
    if (!block_.empty()) TRY(write_block());
    TRY(write_header_once());
    return to_.finish();
  }

 private:
  IoResult<void> write_header_once() {
    if (header_written_) return {};
    header_written_ = true;
    return to_.write(kSnappyHeader);
  }

  IoResult<void> write_block() {
    TRY(write_header_once());
    snappy::Compress(block_.data(), block_.size(), &compressed_);
    block_.clear();
    char length[4];
    wire::store_be(length, static_cast<std::int32_t>(compressed_.size()));
    TRY(to_.write({length, sizeof length}));
    return to_.write(compressed_);
  }

  ByteSink& to_;
  std::string block_;
  std::string compressed_;
  bool header_written_ = false;
};

class SnappySource final : public ByteSource {
 public:
  explicit SnappySource(ByteSource& from) : from_(from) {}

  IoResult<std::size_t> read(char* into, std::size_t size) override {
    while (at_ == block_.size() && !ended_) TRY(next_block());
    const std::size_t n = std::min(size, block_.size() - at_);
    block_.copy(into, n, at_);
    at_ += n;
    return n;
  }

 private:
  // Returns fewer bytes only at the end of the stream.
  IoResult<std::size_t> read_fully(char* into, std::size_t size) {
    std::size_t done = 0;
    while (done < size) {
      TRY_ASSIGN(const std::size_t n, from_.read(into + done, size - done));
      if (n == 0) break;
      done += n;
    }
    return done;
  }

  IoResult<void> read_header() {
    char header[kSnappyHeader.size()];
    TRY_ASSIGN(const std::size_t n, read_fully(header, sizeof header));
    if (std::string_view(header, n).substr(0, kSnappyMagicBytes) !=
            kSnappyHeader.substr(0, kSnappyMagicBytes) ||
        n != sizeof header) {
      return std::unexpected(data_error("missing snappy header"));
    }
    header_read_ = true;
    return {};
  }

  IoResult<void> next_block() {
    if (!header_read_) TRY(read_header());
    char length_bytes[4];
    TRY_ASSIGN(const std::size_t n, read_fully(length_bytes, sizeof length_bytes));
    ended_ = n == 0;
    if (ended_) return {};
    const std::int32_t length = wire::load_be<std::int32_t>(length_bytes);
    if (n != sizeof length_bytes || length <= 0 || static_cast<std::size_t>(length) > kSnappyBlockBytesMax) {
      return std::unexpected(data_error("invalid length of a snappy block"));
    }
    compressed_.resize(static_cast<std::size_t>(length));
    TRY_ASSIGN(const std::size_t got, read_fully(compressed_.data(), compressed_.size()));
    std::size_t plain = 0;
    if (got != compressed_.size() || !snappy::GetUncompressedLength(compressed_.data(), got, &plain) ||
        plain > kSnappyBlockBytesMax || !snappy::Uncompress(compressed_.data(), got, &block_)) {
      return std::unexpected(data_error("invalid snappy block"));
    }
    at_ = 0;
    return {};
  }

  ByteSource& from_;
  std::string compressed_;
  std::string block_;
  std::size_t at_ = 0;
  bool header_read_ = false;
  bool ended_ = false;
};

}  // namespace

std::string_view suffix_of(Compression compression) {
  switch (compression) {
    case Compression::kNone: return "";
    case Compression::kGzip: return ".gz";
    case Compression::kSnappy: return ".snappy";
  }
  return "";
}

std::unique_ptr<ByteSink> compress_to(Compression compression, ByteSink& to) {
  switch (compression) {
    case Compression::kNone: return std::make_unique<PlainSink>(to);
    case Compression::kGzip: return std::make_unique<GzipSink>(to);
    case Compression::kSnappy: return std::make_unique<SnappySink>(to);
  }
  return nullptr;
}

std::unique_ptr<ByteSource> decompress(Compression compression, ByteSource& from) {
  switch (compression) {
    case Compression::kNone: return std::make_unique<PlainSource>(from);
    case Compression::kGzip: return std::make_unique<GzipSource>(from);
    case Compression::kSnappy: return std::make_unique<SnappySource>(from);
  }
  return nullptr;
}

}  // namespace drover::storage
