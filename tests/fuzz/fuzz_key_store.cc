// SPDX-License-Identifier: Apache-2.0
//
// Fuzzes the byte parsers of net/: the JKS parser and the frame splitter.
//
// The JKS reader gets the input three times: as a file (the digest refuses nearly all of those), as a file's
// body with a matching digest (so that the keys and certificates are parsed, too), and as the bare structure.
// The same input is split into frames.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "net/frame.h"
#include "net/key_store.h"
#include "net/key_store_jks.h"

namespace {

using namespace drover::net;

void require(bool condition) {
  if (!condition) std::abort();
}

bool lies_within(std::string_view part, std::string_view whole) {
  return part.empty() ||
         (part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size());
}

void fuzz_jks(std::string_view input) {
  constexpr std::string_view kPassword = "changeit";
  (void)parse_jks(input, kPassword);
  const std::string closed = std::string(input) + jks_digest(input, jks_password(kPassword));
  (void)parse_jks(closed, kPassword);
  const auto entries = read_jks_entries(input);
  if (!entries) return;
  for (const JksEntry& entry : *entries) {
    require(lies_within(entry.sealed_key, input));
    for (const std::string_view certificate : entry.certificates) require(lies_within(certificate, input));
  }
}

void fuzz_frames(std::string_view input) {
  constexpr std::size_t kMax = 1000;
  const std::string_view whole = input;
  std::string_view frame;
  while (next_frame(input, kMax, frame) == FrameStatus::kComplete) {
    require(frame.size() <= kMax && lies_within(frame, whole));
    input.remove_prefix(kFrameHeaderBytes + frame.size());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  fuzz_jks(input);
  fuzz_frames(input);
  return 0;
}
