// SPDX-License-Identifier: Apache-2.0
//
// Decoding of multi and multiRead (docs/client-protocol.md, "multi").
#include <gtest/gtest.h>

#include <string>

#include "wire/multi_flaw.h"
#include "wire/requests.h"
#include "wire/testing.h"

namespace drover::wire {
namespace {

using namespace testing;

std::optional<std::vector<MultiOp>> decoded(const std::string& body, std::size_t ops_max = 100) {
  Reader r(body);
  return decode_multi(r, ops_max);
}

TEST(Multi, ReadsEveryKindOfWrite) {
  const std::string body = multi_body({{OpCode::kCreate, create_body("/a")},
                                       {OpCode::kCreate2, create_body("/b")},
                                       {OpCode::kDelete, path_version_body("/c", 3)},
                                       {OpCode::kSetData, set_data_body("/d", "x", 4)},
                                       {OpCode::kCheck, path_version_body("/e", 5)}});
  const auto ops = decoded(body);
  ASSERT_TRUE(ops);
  ASSERT_EQ(ops->size(), 5u);
  EXPECT_EQ((*ops)[0].op, OpCode::kCreate);
  EXPECT_EQ((*ops)[1].op, OpCode::kCreate2);
  EXPECT_EQ(std::get<CreateRequest>((*ops)[1].request).path, "/b");
  EXPECT_EQ(std::get<DeleteRequest>((*ops)[2].request).version, 3);
  EXPECT_EQ(std::get<SetDataRequest>((*ops)[3].request).data, "x");
  EXPECT_EQ(std::get<CheckRequest>((*ops)[4].request).version, 5);
}

TEST(Multi, MayBeEmpty) {
  const auto ops = decoded(multi_body({}));
  ASSERT_TRUE(ops);
  EXPECT_TRUE(ops->empty());
}

TEST(Multi, AnyHeaderWithDoneSetEndsTheList) {
  // The end header may have any type and any non-zero `done` byte.
  for (const char* end : {"ffffffff 01 ffffffff", "00000001 02 00000000"}) {
    const auto ops = decoded(from_hex(end));
    ASSERT_TRUE(ops) << end;
    EXPECT_TRUE(ops->empty());
  }
}

TEST(Multi, TheEndHeaderMustBeThere) {
  const std::string body = multi_body({{OpCode::kDelete, path_version_body("/a")}});
  EXPECT_FALSE(decoded(body.substr(0, body.size() - 9)));
  EXPECT_FALSE(decoded(""));
  EXPECT_FALSE(decoded(from_hex("ffffffff 00 ffffffff")));
}

TEST(Multi, OtherOpsAndNestedMultisAreRefused) {
  for (const OpCode op :
       {OpCode::kSetAcl, OpCode::kExists, OpCode::kGetChildren2, OpCode::kMulti, OpCode::kMultiRead,
        OpCode::kCloseSession, OpCode::kError, OpCode::kReconfig, OpCode::kDeleteContainer}) {
    EXPECT_FALSE(decoded(multi_body({{op, path_version_body("/a")}}))) << static_cast<int>(op);
  }
}

TEST(Multi, ReadsAndWritesDoNotMix) {
  const MultiPart read{OpCode::kGetData, path_watch_body("/a")};
  const MultiPart write{OpCode::kDelete, path_version_body("/a")};
  EXPECT_TRUE(decoded(multi_body({read, {OpCode::kGetChildren, path_watch_body("/b")}})));
  EXPECT_FALSE(decoded(multi_body({read, write})));
  EXPECT_FALSE(decoded(multi_body({write, read})));
}

TEST(Multi, HasALimitedNumberOfParts) {
  std::vector<MultiPart> parts(10, {OpCode::kDelete, path_version_body("/a")});
  EXPECT_TRUE(decoded(multi_body(parts), 10));
  EXPECT_FALSE(decoded(multi_body(parts), 9));
}

TEST(Multi, NullPathsAreRefused) {
  EXPECT_FALSE(decoded(multi_body({{OpCode::kCreate, create_body(std::nullopt)}})));
  EXPECT_FALSE(decoded(multi_body({{OpCode::kDelete, path_version_body(std::nullopt)}})));
  EXPECT_FALSE(decoded(multi_body({{OpCode::kGetData, path_watch_body(std::nullopt)}})));
}

// Inside a multi, the flags decide the kind of a create.
struct KindCase {
  OpCode sent;
  std::int32_t flags;
  std::optional<OpCode> becomes;  // nullopt: the whole multi is refused
};

TEST(Multi, TheKindOfACreateFollowsItsFlags) {
  const KindCase cases[] = {
      {OpCode::kCreate, kPersistent, OpCode::kCreate},
      {OpCode::kCreate, kEphemeralSequential, OpCode::kCreate},
      {OpCode::kCreate, kContainer, OpCode::kCreateContainer},
      {OpCode::kCreate, kPersistentTtl, std::nullopt},
      {OpCode::kCreate, 9, std::nullopt},
      {OpCode::kCreate2, kPersistent, OpCode::kCreate2},
      {OpCode::kCreate2, kContainer, OpCode::kCreateContainer},
      {OpCode::kCreate2, -1, std::nullopt},
      {OpCode::kCreateContainer, kContainer, OpCode::kCreateContainer},
      {OpCode::kCreateContainer, kPersistentSequentialTtl, std::nullopt},
      {OpCode::kCreateTtl, kPersistentTtl, OpCode::kCreateTtl},
      {OpCode::kCreateTtl, kPersistentSequentialTtl, OpCode::kCreateTtl},
      {OpCode::kCreateTtl, kEphemeral, OpCode::kCreate},
      {OpCode::kCreateTtl, kContainer, OpCode::kCreateContainer},
  };
  for (const KindCase& c : cases) {
    const std::string body = c.sent == OpCode::kCreateTtl ? create_ttl_body("/a", 5, c.flags)
                                                          : create_body("/a", {.flags = c.flags});
    const auto ops = decoded(multi_body({{c.sent, body}}));
    ASSERT_EQ(ops.has_value(), c.becomes.has_value()) << static_cast<int>(c.sent) << " flags " << c.flags;
    if (!ops) continue;
    EXPECT_EQ(ops->front().op, *c.becomes) << static_cast<int>(c.sent) << " flags " << c.flags;
    const std::int64_t ttl = std::get<CreateRequest>(ops->front().request).ttl_ms;
    EXPECT_EQ(ttl, *c.becomes == OpCode::kCreateTtl ? 5 : -1) << "a ttl counts only for a TTL node";
  }
}

TEST(MultiHeader, IsNineBytes) {
  const std::string bytes = written([](Writer& w) { encode(w, kMultiEnd); });
  EXPECT_EQ(to_hex(bytes), "ffffffff01ffffffff");
  Reader r(bytes);
  const MultiHeader header = decode_multi_header(r);
  EXPECT_EQ(header.type, OpCode::kError);
  EXPECT_TRUE(header.done);
  EXPECT_EQ(header.error, -1);
}

TEST(CreatesEphemeral, DetectsARequestThatNeedsAGlobalSession) {
  const auto create = [](std::int32_t flags) { return testing::create_body("/a", {.flags = flags}); };
  EXPECT_TRUE(creates_ephemeral(OpCode::kCreate, create(kEphemeral), 10));
  EXPECT_TRUE(creates_ephemeral(OpCode::kCreate2, create(kEphemeralSequential), 10));
  EXPECT_FALSE(creates_ephemeral(OpCode::kCreate, create(kPersistent), 10));
  EXPECT_FALSE(creates_ephemeral(OpCode::kCreate, "x", 10)) << "an undecodable request needs nothing";
  EXPECT_FALSE(creates_ephemeral(OpCode::kSetData, create(kEphemeral), 10));
  const auto multi = [&](std::int32_t second) {
    return testing::written([&](Writer& w) {
      for (const std::int32_t flags : {static_cast<std::int32_t>(kPersistent), second}) {
        w.i32(static_cast<std::int32_t>(OpCode::kCreate));
        w.boolean(false);
        w.i32(-1);
        w.raw(create(flags));
      }
      w.i32(-1);
      w.boolean(true);
      w.i32(-1);
    });
  };
  EXPECT_TRUE(creates_ephemeral(OpCode::kMulti, multi(kEphemeral), 10));
  EXPECT_FALSE(creates_ephemeral(OpCode::kMulti, multi(kPersistent), 10));
  EXPECT_FALSE(creates_ephemeral(OpCode::kMulti, multi(kEphemeral), 1))
      << "more than one request may contain";
}

TEST(Multi, ANullAclInvalidatesTheWholeMulti) {
  const std::string null_list = from_hex("ffffffff");
  for (const OpCode op : {OpCode::kCreate, OpCode::kCreate2, OpCode::kCreateContainer}) {
    const MultiPart part{op, create_body("/a", {.acl = null_list})};
    EXPECT_FALSE(decoded(multi_body({{OpCode::kCheck, path_version_body("/a")}, part})));
    EXPECT_EQ(flaw_of_multi(multi_body({part}), 100), MultiFlaw::kNullAcl);
    EXPECT_EQ(flaw_of_multi(multi_body({part, {OpCode::kSetAcl, ""}}), 100), MultiFlaw::kNullAcl)
        << "the first error is reported";
    EXPECT_EQ(flaw_of_multi(multi_body({{OpCode::kSetAcl, ""}, part}), 100), MultiFlaw::kMalformed);
  }
  const MultiPart impossible{OpCode::kCreate, create_body("/a", {.acl = null_list, .flags = 9})};
  EXPECT_EQ(flaw_of_multi(multi_body({impossible}), 100), MultiFlaw::kMalformed);
  EXPECT_EQ(flaw_of_multi(multi_body({{OpCode::kCreate, create_body("/a")}}), 100), MultiFlaw::kNone);
}

}  // namespace
}  // namespace drover::wire
