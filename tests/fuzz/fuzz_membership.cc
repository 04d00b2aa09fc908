// SPDX-License-Identifier: Apache-2.0
//
// The text of a membership, as it comes from other servers and from files. What is accepted must be bounded
// and consistent, and the text that we write of it must be read back as the same membership.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/ensure.h"
#include "zab/membership_text.h"

namespace {

using namespace drover;
using namespace drover::zab;

constexpr MembershipOptions kOptions{.multi_address = true};

void check_sentence(const MembershipError& error) {
  ENSURE(!error.sentence.empty() && error.sentence.size() < 200, "an error is a short sentence");
  ENSURE(std::ranges::none_of(error.sentence, [](char c) { return static_cast<unsigned char>(c) < ' '; }),
         "a sentence is one line");
}

void check_consistent(const Membership& m) {
  ENSURE(m.servers().size() == m.voters().size() + m.observers().size(), "every server has one role");
  ENSURE(m.servers().size() <= 1000 && m.groups().size() <= 1000, "a membership is bounded");
  ENSURE(m.version() >= 0, "a version is a zxid");
  for (const auto& [id, server] : m.servers()) ENSURE(!server.addresses.empty(), "a server has an address");
  ENSURE(!m.is_quorum({}), "nobody is no quorum");
}

void check_round_trip(const Membership& m) {
  const std::string text = to_text(m);
  const auto again = parse_membership(text, kOptions);
  ENSURE(again.has_value(), "what we write can be read");
  ENSURE(to_text(*again) == text, "and is the same");
  ENSURE(is_same_membership(m, *again), "the same servers decide");
  const auto from_file = parse_membership(file_text(m, VersionLine::kWritten), kOptions);
  ENSURE(from_file && *from_file == *again, "a file says the same");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  (void)version_of_file_name(input);
  const auto membership = parse_membership(input, kOptions);
  if (!membership) {
    check_sentence(membership.error());
    return 0;
  }
  check_consistent(*membership);
  check_round_trip(*membership);
  return 0;
}
