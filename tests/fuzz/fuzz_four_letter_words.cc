// SPDX-License-Identifier: Apache-2.0
//
// Fuzzes the parsers for a new connection's first bytes and for the whitelist, and renders every word with
// names and numbers from the input.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "monitor/four_letter_words.h"

namespace {

using namespace drover;
using namespace drover::server;

void require(bool condition) {
  if (!condition) std::abort();
}

std::int64_t take_number(std::string_view& input) {
  std::int64_t number = 0;
  const std::size_t size = std::min(sizeof number, input.size());
  std::memcpy(&number, input.data(), size);
  input.remove_prefix(size);
  return number;
}

std::uint64_t take_count(std::string_view& input) { return static_cast<std::uint64_t>(take_number(input)); }

Facts facts_from(std::string_view input) {
  Facts facts;
  facts.serving = take_number(input) % 4 != 0;
  facts.mode = static_cast<ServerMode>(take_count(input) % 5);
  facts.latency_ms = {
      .count = take_count(input), .sum = take_count(input), .min = take_count(input), .max = 0};
  facts.last_zxid = Zxid{take_number(input)};
  // A wall clock may be wrong, but only within the range of calendar years.
  const WallTime time{take_number(input) % 200'000'000'000'000};
  facts.session_buckets = {{time, {SessionId{take_number(input)}}}};
  facts.digests = {{Zxid{take_number(input)}, take_number(input)}};
  const std::string name(input);
  facts.version = name;
  facts.ephemerals = {{SessionId{1}, {name}}};
  facts.watches_by_path = {{name, {SessionId{1}}}};
  ConnectionFacts connection;
  connection.remote = name;
  connection.session = SessionId{-1};
  facts.connections = {connection};
  facts.metrics = {{name, facts.latency_ms}};
  return facts;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  if (const Word* word = recognise(input)) {
    require(input.starts_with(word->bytes));
    require(!refusal(*word).empty());
  }
  (void)trace_mask_of(input);
  require(Whitelist::parse(input).allows("srvr"));

  const Facts facts = facts_from(input);
  for (const Word& word : four_letter_words()) (void)render(word, facts);
  return 0;
}
