// SPDX-License-Identifier: Apache-2.0
//
// Arbitrary reconfig requests to a leader. What it accepts must be a membership that everybody can read and
// that has a quorum among the synced servers.
//
// Input: one byte of switches, then the body of the request.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/ensure.h"
#include "wire/jute.h"
#include "zab/reconfig.h"

namespace {

using namespace drover;
using namespace drover::zab;

Membership members(bool groups) {
  const std::string text =
      "server.1=10.0.0.1:2888:3888;2181\nserver.2=10.0.0.2:2888:3888;2181\nserver.3=[fe80::3]:2888:3888\n"
      "server.4=zk4:2888:3888:observer\nversion=100000004\n";
  return *parse_membership(text + (groups ? "group.1=1:2\ngroup.2=3\nweight.3=2\n" : ""));
}

bool is_error_of_reconfig(ErrorCode code) {
  return code == ErrorCode::kBadArguments || code == ErrorCode::kMarshallingError ||
         code == ErrorCode::kBadVersion || code == ErrorCode::kNewConfigNoQuorum;
}

void check_next(const Membership& next, const ServerSet& synced, const ReconfigRules& rules) {
  ENSURE(next.voters().size() >= (rules.standalone_enabled ? 2U : 1U), "enough servers vote");
  ENSURE(next.servers().size() <= 1000, "a membership is bounded");
  ENSURE(next.is_quorum(synced), "a quorum is synced");
  const auto read = parse_membership(to_text(next), {.multi_address = rules.multi_address});
  ENSURE(read.has_value(), "every server can read the new membership");
  ENSURE(is_same_membership(*read, next) && to_text(*read) == to_text(next), "and reads the same");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::uint8_t switches = data[0];
  wire::Reader reader(std::string_view(reinterpret_cast<const char*>(data) + 1, size - 1));
  const auto request = wire::decode_reconfig(reader);
  if (!request) return 0;
  const ReconfigRules rules{.standalone_enabled = (switches & 1) != 0, .multi_address = (switches & 2) != 0};
  const Membership present = members((switches & 4) != 0);
  const ServerSet synced{ServerId{1}, ServerId{2}, ServerId{3}};
  const auto next = decide_reconfig(
      *request, {.committed = present, .last_seen = present, .synced = synced, .may_write_config = true},
      rules);
  if (next) {
    check_next(*next, synced, rules);
  } else {
    ENSURE(is_error_of_reconfig(next.error().code), "Java has this error too");
  }
  return 0;
}
