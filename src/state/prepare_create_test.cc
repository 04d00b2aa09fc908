// SPDX-License-Identifier: Apache-2.0
//
// create, create2, createContainer, createTTL (docs/client-protocol.md, "Order of checks").
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "state/prepare.h"
#include "state/testing.h"

namespace drover::state {
namespace {

using namespace testing;
using wire::testing::acl_bytes;
using wire::testing::create_body;
using wire::testing::create_ttl_body;
using wire::testing::CreateArgs;

const std::string kBadAcl = acl_bytes({{31, {"world", "bob"}}});
const std::string kReadOnlyAcl = acl_bytes({{wire::kRead, {"world", "anyone"}}});

class Create : public ::testing::Test {
 protected:
  void SetUp() override {
    leader_.create("/p");
    leader_.create("/e", {.flags = wire::kEphemeral});
    leader_.create("/locked", {.acl = kReadOnlyAcl});
  }
  ErrorCode create(OpCode op, const std::string& body, const Who& who = {}) {
    return leader_.run(op, body, who);
  }
  ErrorCode create(const wire::Nullable& path, const CreateArgs& args = {}, const Who& who = {}) {
    return leader_.run(OpCode::kCreate, create_body(path, args), who);
  }

  Leader leader_{with_extended_types()};
  Who expired_{.session_error = ErrorCode::kSessionExpired};
  Who local_{.ephemeral_error = ErrorCode::kEphemeralOnLocalSession};
};

// Each case violates one check, and some cases also later ones: the first in ZooKeeper's order wins.
TEST_F(Create, ReportsTheFirstFailedCheck) {
  struct Case {
    const char* what;
    OpCode op;
    std::string body;
    Who who;
    ErrorCode expected;
  };
  const Who alive;
  const Case cases[] = {
      {"flags, before the null path", OpCode::kCreate, create_body(std::nullopt, {.flags = 9}), expired_,
       ErrorCode::kBadArguments},
      {"negative flags", OpCode::kCreate2, create_body("/n", {.flags = -1}), alive, ErrorCode::kBadArguments},
      {"a TTL mode without createTTL", OpCode::kCreate, create_body("/n", {.flags = 5}), alive,
       ErrorCode::kBadArguments},
      {"a TTL mode by createContainer", OpCode::kCreateContainer, create_body("/n", {.flags = 6}), alive,
       ErrorCode::kBadArguments},
      {"createTTL with a plain mode", OpCode::kCreateTtl, create_ttl_body("/n", 5, 0), alive,
       ErrorCode::kBadArguments},
      {"createTTL with a plain mode and no ttl, which stops Java", OpCode::kCreateTtl,
       create_ttl_body("/n", -1, 0), alive, ErrorCode::kBadArguments},
      {"ttl 0, before the session", OpCode::kCreateTtl, create_ttl_body("/n", 0), expired_,
       ErrorCode::kBadArguments},
      {"ttl < 0", OpCode::kCreateTtl, create_ttl_body("/n", -5), alive, ErrorCode::kBadArguments},
      {"ttl beyond 40 bits", OpCode::kCreateTtl, create_ttl_body("/n", kTtlMax + 1), alive,
       ErrorCode::kBadArguments},
      {"session, before the path", OpCode::kCreate, create_body("abc"), expired_, ErrorCode::kSessionExpired},
      {"ephemeral of a local session, before the path", OpCode::kCreate,
       create_body("abc", {.flags = wire::kEphemeralSequential}), local_,
       ErrorCode::kEphemeralOnLocalSession},
      {"what is not ephemeral of a local session", OpCode::kCreate, create_body("/l"), local_,
       ErrorCode::kOk},
      {"null path", OpCode::kCreate, create_body(std::nullopt), alive, ErrorCode::kMarshallingError},
      {"no slash, before the ACL", OpCode::kCreate, create_body("abc", {.acl = kBadAcl}), alive,
       ErrorCode::kBadArguments},
      {"empty path", OpCode::kCreate, create_body(""), alive, ErrorCode::kBadArguments},
      {"NUL", OpCode::kCreate, create_body(std::string_view("/p/\0", 4)), alive, ErrorCode::kBadArguments},
      {"ACL, before the parent", OpCode::kCreate, create_body("/none/x", {.acl = kBadAcl}), alive,
       ErrorCode::kInvalidAcl},
      {"no parent", OpCode::kCreate, create_body("/none/x"), alive, ErrorCode::kNoNode},
      {"a relative path has no parent", OpCode::kCreate, create_body("a/b"), alive, ErrorCode::kNoNode},
      {"parent, before the path's validity", OpCode::kCreate, create_body("/./a"), alive, ErrorCode::kNoNode},
      {"parent of an empty name", OpCode::kCreate, create_body("/none/"), alive, ErrorCode::kNoNode},
      {"permission, before the path's validity", OpCode::kCreate, create_body("/locked/."), alive,
       ErrorCode::kNoAuth},
      {"validity: empty name", OpCode::kCreate, create_body("/p/"), alive, ErrorCode::kBadArguments},
      {"validity: //", OpCode::kCreate, create_body("//"), alive, ErrorCode::kBadArguments},
      {"validity, before the ephemeral parent", OpCode::kCreate, create_body("/e/\x01"), alive,
       ErrorCode::kBadArguments},
      {"the root exists", OpCode::kCreate, create_body("/"), alive, ErrorCode::kNodeExists},
      {"exists", OpCode::kCreate, create_body("/p"), alive, ErrorCode::kNodeExists},
      {"ephemeral parent", OpCode::kCreate, create_body("/e/x"), alive, ErrorCode::kNoChildrenForEphemerals},
      {"undecodable", OpCode::kCreate, "xyz", expired_, ErrorCode::kMarshallingError},
  };
  for (const Case& c : cases) EXPECT_EQ(create(c.op, c.body, c.who), c.expected) << c.what;
  EXPECT_EQ(leader_.get("/n"), nullptr);
}

TEST_F(Create, TtlNodesNeedExtendedTypes) {
  Leader plain;
  EXPECT_EQ(plain.run(OpCode::kCreateTtl, create_ttl_body("/t", 5)), ErrorCode::kUnimplemented);
  EXPECT_EQ(plain.run(OpCode::kCreate, create_body("/t", {.flags = wire::kPersistentTtl}), expired_),
            ErrorCode::kUnimplemented);
  EXPECT_EQ(create(OpCode::kCreateTtl, create_ttl_body("/t", 1)), ErrorCode::kOk);
  EXPECT_EQ(leader_.get("/t")->ephemeral_owner, owner_of_ttl(1));
  EXPECT_EQ(create(OpCode::kCreateTtl, create_ttl_body("/t-", kTtlMax, wire::kPersistentSequentialTtl)),
            ErrorCode::kOk);
}

TEST_F(Create, PathsLongerThanTheLimitAreRefused) {
  const std::string longest = "/" + std::string(leader_.machine.options.path_bytes_max - 1, 'x');
  EXPECT_EQ(create(longest), ErrorCode::kOk);
  EXPECT_EQ(create(longest + "x"), ErrorCode::kBadArguments);
}

TEST_F(Create, EveryFailureIsLoggedAsAnErrorTransaction) {
  const Zxid before = leader_.machine.last_zxid;
  create("/p");
  EXPECT_EQ(leader_.machine.last_zxid, next(before));
  const auto txn = wire::decode_entry(leader_.applied.back());
  EXPECT_EQ(txn->header.type, OpCode::kError);
  EXPECT_EQ(std::get<wire::ErrorTxn>(txn->record).error, ErrorCode::kNodeExists);
  EXPECT_FALSE(txn->digest) << "error transactions carry none";
}

TEST_F(Create, ANewNodeHasInitialAttributesAndUpdatesItsParent) {
  leader_.now = WallTime{123456};
  ASSERT_EQ(create("/p/c", {.data = "hello"}), ErrorCode::kOk);
  const Zxid zxid = leader_.machine.last_zxid;
  const wire::Stat stat = leader_.stat("/p/c");
  EXPECT_EQ(stat, (wire::Stat{zxid, zxid, 123456, 123456, 0, 0, 0, 0, 5, 0, zxid}));
  const wire::Stat parent = leader_.stat("/p");
  EXPECT_EQ(parent.cversion, 1);
  EXPECT_EQ(parent.pzxid, zxid);
  EXPECT_EQ(parent.num_children, 1);
  EXPECT_LT(parent.mzxid, zxid);
}

TEST_F(Create, NullDataIsStoredAsNull) {
  create("/null", {.data = std::nullopt});
  EXPECT_EQ(leader_.get("/null")->data(), std::nullopt);
}

// The op code decides the node's kind first, then the flags.
TEST_F(Create, OpCodeAndFlagsDecideTheKind) {
  const Who session{.session = SessionId{77}};
  create(OpCode::kCreate, create_body("/eph", {.flags = wire::kEphemeral}), session);
  EXPECT_EQ(leader_.get("/eph")->ephemeral_owner, 77);
  create(OpCode::kCreate2, create_body("/plain", {.flags = wire::kContainer}), session);
  EXPECT_EQ(leader_.get("/plain")->ephemeral_owner, 0) << "a container mode by another op is a plain node";
  for (const std::int32_t flags : {0, 1, 4}) {
    const std::string path = "/container" + std::to_string(flags);
    create(OpCode::kCreateContainer, create_body(path, {.flags = flags}), session);
    ASSERT_NE(leader_.get(path), nullptr);
    EXPECT_EQ(leader_.get(path)->ephemeral_owner, kContainerOwner) << "flags " << flags;
    EXPECT_EQ(create(path + "/child", {.flags = wire::kEphemeral}), ErrorCode::kOk)
        << "containers may have children";
  }
}

TEST_F(Create, StoresTheResolvedAcl) {
  const Who bob{.identities = digest_user("bob:pw")};
  create("/mine", {.acl = acl_bytes({{31, {"auth", ""}}})}, bob);
  EXPECT_EQ(leader_.machine.tree.acl(*leader_.get("/mine"))->bytes,
            acl_bytes({{31, {"digest", digest_identity("bob:pw")}}}));
  EXPECT_EQ(create("/mine/x"), ErrorCode::kNoAuth);
  EXPECT_EQ(create("/mine/x", {}, bob), ErrorCode::kOk);
}

// ---- sequence numbers ----

TEST_F(Create, TheSequenceNumberCountsEveryCreateBelowTheParentAndNeverDecreases) {
  create("/p/s-", {.flags = wire::kPersistentSequential});
  EXPECT_NE(leader_.get("/p/s-0000000000"), nullptr);
  create("/p/plain");
  create("/p/t-", {.flags = wire::kEphemeralSequential});
  EXPECT_NE(leader_.get("/p/t-0000000002"), nullptr);
  leader_.run(OpCode::kDelete, wire::testing::path_version_body("/p/t-0000000002"));
  create("/p/", {.flags = wire::kPersistentSequential});
  EXPECT_NE(leader_.get("/p/0000000003"), nullptr) << "a path that ends in / is legal with a suffix";
}

TEST_F(Create, TheSequenceNumberCountsPendingCreates) {
  const std::string body = create_body("/p/s-", {.flags = wire::kPersistentSequential});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(leader_.prepare(OpCode::kCreate, body), ErrorCode::kOk);
  leader_.apply_all();
  EXPECT_NE(leader_.get("/p/s-0000000002"), nullptr);
}

TEST_F(Create, TheSequenceNumberWrapsToNegativeNumbers) {
  Tree& tree = leader_.machine.tree;
  const auto start_at = [&](std::int32_t cversion) {
    tree.set_child_version(tree.find("/p"), "/p", cversion, leader_.machine.last_zxid);
  };
  const CreateArgs sequential{.flags = wire::kPersistentSequential};
  start_at(std::numeric_limits<std::int32_t>::max());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(create("/p/s", sequential), ErrorCode::kOk);
  EXPECT_NE(leader_.get("/p/s2147483647"), nullptr);
  EXPECT_NE(leader_.get("/p/s-2147483648"), nullptr);
  EXPECT_NE(leader_.get("/p/s-2147483647"), nullptr);
  EXPECT_EQ(leader_.get("/p")->pzxid, leader_.machine.last_zxid);

  start_at(-5);
  for (int i = 0; i < 7; ++i) EXPECT_EQ(create("/p/n", sequential), ErrorCode::kOk);
  EXPECT_NE(leader_.get("/p/n-000000005"), nullptr);
  EXPECT_NE(leader_.get("/p/n-000000001"), nullptr);
  EXPECT_NE(leader_.get("/p/n0000000001"), nullptr);
}

}  // namespace
}  // namespace drover::state
