// SPDX-License-Identifier: Apache-2.0
#include "sim/workload.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "wire/requests.h"
#include "wire/testing.h"

namespace drover::sim {
namespace {

using wire::OpCode;

std::string create_reply(const std::string& path) {
  return wire::testing::written([&](wire::Writer& w) { w.string(path); });
}

TEST(Workload, SendsEveryKindOfRequest) {
  Workload workload(1, 0, {.ttl_nodes = true});
  std::set<OpCode> ops;
  std::set<std::int32_t> flags;
  std::set<WorkloadStep::Kind> kinds;
  for (int i = 0; i < 20'000; ++i) {
    const WorkloadStep step = workload.next();
    kinds.insert(step.kind);
    if (step.kind != WorkloadStep::Kind::kCall) continue;
    ops.insert(step.op);
    wire::Reader r(step.body);
    if (step.op == OpCode::kCreate || step.op == OpCode::kCreate2)
      flags.insert(wire::decode_create(r, step.op)->flags);
  }
  EXPECT_EQ(kinds.size(), 3u);
  for (const OpCode op :
       {OpCode::kCreate, OpCode::kCreate2, OpCode::kCreateContainer, OpCode::kCreateTtl, OpCode::kSetData,
        OpCode::kSetAcl, OpCode::kDelete, OpCode::kMulti, OpCode::kGetData, OpCode::kExists,
        OpCode::kGetChildren, OpCode::kGetChildren2, OpCode::kGetAcl, OpCode::kMultiRead, OpCode::kSync,
        OpCode::kAddWatch, OpCode::kRemoveWatches, OpCode::kCheckWatches}) {
    EXPECT_TRUE(ops.contains(op)) << static_cast<int>(op);
  }
  EXPECT_EQ(flags, (std::set<std::int32_t>{0, 1, 2, 3}));
}

TEST(Workload, CrowdConsistsOfEphemeralsThatItsClientDoesNotTouch) {
  Workload workload(3, 0, {.write_percent = 100, .crowd_percent = 50});
  int members = 0;
  for (int i = 0; i < 2000; ++i) {
    const WorkloadStep step = workload.next();
    const bool in_crowd = step.body.find("/crowd-") != std::string::npos;
    if (!in_crowd) continue;
    ++members;
    ASSERT_EQ(step.op, OpCode::kCreate);
    wire::Reader r(step.body);
    EXPECT_EQ(wire::decode_create(r, step.op)->flags, wire::kEphemeralSequential);
    std::string name = step.body.substr(4, step.body.find('-') + 4) + "0000000001";
    workload.on_reply(step.op, step.body, {}, create_reply(name));
  }
  EXPECT_GT(members, 700);
}

TEST(Workload, EveryRequestCanBeRead) {
  Workload workload(2, 0, {.ttl_nodes = true});
  for (int i = 0; i < 5000; ++i) {
    const WorkloadStep step = workload.next();
    wire::Reader r(step.body);
    if (step.op == OpCode::kMulti || step.op == OpCode::kMultiRead) {
      EXPECT_TRUE(wire::decode_multi(r, 100).has_value());
    } else if (step.op == OpCode::kSetData) {
      EXPECT_TRUE(wire::decode_set_data(r).has_value());
    } else if (step.op == OpCode::kCreateTtl) {
      EXPECT_TRUE(wire::decode_create(r, step.op).has_value());
    }
  }
}

TEST(Workload, NoValueIsWrittenTwice) {
  std::set<std::string> values;
  for (std::uint32_t writer = 0; writer < 3; ++writer) {
    Workload workload(1, writer, {});  // the same seed: only the writer differs
    for (int i = 0; i < 2000; ++i) {
      const WorkloadStep step = workload.next();
      if (step.kind != WorkloadStep::Kind::kCall || step.op != OpCode::kSetData) continue;
      wire::Reader r(step.body);
      EXPECT_TRUE(values.emplace(wire::decode_set_data(r)->data.value()).second);
    }
  }
}

TEST(Workload, ASyncIsFollowedByItsRead) {
  Workload workload(3, 0, {.close_in = 0, .vanish_in = 0});
  int syncs = 0;
  for (int i = 0; i < 2000; ++i) {
    if (workload.next().op != OpCode::kSync) continue;
    ++syncs;
    EXPECT_EQ(workload.next().op, OpCode::kGetData);
  }
  EXPECT_GT(syncs, 10);
}

TEST(Workload, UsesTheVersionsThatItHasSeen) {
  Workload workload(4, 0, {.top_paths = 1, .children = 1, .grandchildren = 1});
  std::string reply;
  wire::Writer w(reply);
  wire::encode(w, wire::Stat{.version = 41});
  for (const char* path : {"/k0", "/k0/c0", "/k0/c0/g0", "/k0/g0"})
    workload.on_reply(OpCode::kExists, wire::testing::path_watch_body(path), {}, reply);
  std::map<std::int32_t, int> versions;
  for (int i = 0; i < 3000; ++i) {
    const WorkloadStep step = workload.next();
    if (step.kind != WorkloadStep::Kind::kCall || step.op != OpCode::kSetData) continue;
    wire::Reader r(step.body);
    ++versions[wire::decode_set_data(r)->version];
  }
  EXPECT_GT(versions[41], versions[42]) << "mostly right";
  EXPECT_GT(versions[42], 0) << "sometimes wrong";
  EXPECT_GT(versions[-1], 0) << "sometimes whatever it is";
}

}  // namespace
}  // namespace drover::sim
