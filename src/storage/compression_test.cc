// SPDX-License-Identifier: Apache-2.0
#include "storage/compression.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace drover::storage {
namespace {

class StringSink final : public ByteSink {
 public:
  IoResult<void> write(std::string_view bytes) override {
    out.append(bytes);
    return {};
  }
  IoResult<void> finish() override { return {}; }
  std::string out;
};

std::string packed(Compression compression, std::string_view bytes, std::size_t step) {
  StringSink sink;
  const auto out = compress_to(compression, sink);
  for (; !bytes.empty(); bytes.remove_prefix(std::min(step, bytes.size()))) {
    EXPECT_TRUE(out->write(bytes.substr(0, step)));
  }
  EXPECT_TRUE(out->finish());
  return sink.out;
}

IoResult<std::string> unpacked(Compression compression, std::string_view bytes, std::size_t step = 1000) {
  MemorySource source(bytes);
  const auto in = decompress(compression, source);
  std::string out;
  std::string buffer(step, '\0');
  for (;;) {
    TRY_ASSIGN(const std::size_t n, in->read(buffer.data(), buffer.size()));
    if (n == 0) return out;
    out.append(buffer, 0, n);
  }
}

// Half random, half repetitive.
std::string sample(std::size_t size) {
  Random random(size);
  std::string bytes;
  while (bytes.size() < size) {
    bytes.append(random.below(50), 'z');
    bytes.push_back(static_cast<char>(random.next()));
  }
  bytes.resize(size);
  return bytes;
}

class Compressions : public ::testing::TestWithParam<Compression> {};
INSTANTIATE_TEST_SUITE_P(All, Compressions,
                         ::testing::Values(Compression::kNone, Compression::kGzip, Compression::kSnappy));

TEST_P(Compressions, RoundTrip) {
  for (const std::size_t size : {0u, 1u, 32767u, 32768u, 32769u, 300000u}) {
    const std::string bytes = sample(size);
    for (const std::size_t step : {std::size_t{7}, std::size_t{100000}}) {
      EXPECT_EQ(unpacked(GetParam(), packed(GetParam(), bytes, step)), bytes) << size;
    }
  }
}

TEST_P(Compressions, DetectAMissingEnd) {
  if (GetParam() == Compression::kNone) return;
  const std::string bytes = packed(GetParam(), sample(100000), 100000);
  for (const std::size_t missing : {1u, 5u, 1000u}) {
    EXPECT_FALSE(unpacked(GetParam(), std::string_view(bytes).substr(0, bytes.size() - missing)));
  }
}

TEST(Snappy, UsesTheFramingOfSnappyJava) {
  const std::string bytes = packed(Compression::kSnappy, std::string(40000, 'a'), 40000);
  EXPECT_EQ(bytes.substr(0, 16), std::string("\x82SNAPPY\0\0\0\0\1\0\0\0\1", 16));
  // A block of 32 KiB: varint length 0x8000 first, then a literal and copies.
  EXPECT_EQ(bytes.substr(20, 3), std::string("\x80\x80\x02", 3));
}

TEST(Snappy, RejectsImpossibleLengths) {
  const std::string header("\x82SNAPPY\0\0\0\0\1\0\0\0\1", 16);
  EXPECT_FALSE(unpacked(Compression::kSnappy, header + std::string("\x7f\xff\xff\xff", 4)));
  EXPECT_FALSE(unpacked(Compression::kSnappy, header + std::string("\xff\xff\xff\xff", 4)));
  // A block that claims to expand to 4 GiB.
  EXPECT_FALSE(unpacked(Compression::kSnappy, header + std::string("\0\0\0\6\xff\xff\xff\xff\x0f\0", 10)));
  EXPECT_FALSE(unpacked(Compression::kSnappy, "no header at all here"));
}

}  // namespace
}  // namespace drover::storage
