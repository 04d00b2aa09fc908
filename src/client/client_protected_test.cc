// SPDX-License-Identifier: Apache-2.0
//
// One node, or none: creating and removing when the answer is lost.
#include <gtest/gtest.h>

#include <stop_token>
#include <string>
#include <vector>

#include "client/client_testing.h"

namespace drover::client::testing {
namespace {

const CreateOptions kEphemeral{.mode = CreateMode::kEphemeralSequential};

std::string path_in(const Request& request) {
  wire::Reader r(request.body);
  return std::string(r.string());
}

std::string children_bytes(const std::vector<std::string>& names) {
  std::string out;
  wire::Writer w(out);
  w.i32(static_cast<std::int32_t>(names.size()));
  for (const std::string& name : names) w.string(name);
  return out + World::stat_bytes();
}

std::string owned_bytes(SessionId owner, std::int64_t czxid = 0) {
  std::string out;
  wire::Writer w(out);
  wire::Stat stat;
  stat.ephemeral_owner = raw(owner);
  stat.czxid = Zxid{czxid};
  wire::encode(w, stat);
  return out;
}

class ProtectedCreate : public ::testing::Test {
 protected:
  ProtectedCreate() { world.accept(); }

  // Sends it, and loses the connection before the answer.
  std::shared_ptr<std::optional<Result<Created>>> create_and_lose(Wait wait = {}) {
    auto created = world.run(world.client->create_protected("/locks/lock-", "me", kEphemeral, wait));
    const Request request = world.take_request();
    EXPECT_EQ(request.op, OpCode::kCreate2);
    name = path_in(request);
    world.lose();
    return created;
  }
  std::string child() const { return name.substr(std::string("/locks/").size()); }

  World world;
  std::string name;  // as it was asked for
};

TEST_F(ProtectedCreate, HasAUniqueName) {
  const auto created = world.run(world.client->create_protected("/locks/lock-", "me", kEphemeral));
  const Request request = world.take_request();
  const std::string path = path_in(request);
  EXPECT_EQ(path.size(), std::string("/locks/_c_").size() + 36 + std::string("-lock-").size());
  EXPECT_TRUE(path.starts_with("/locks/_c_"));
  EXPECT_TRUE(path.ends_with("-lock-"));
  EXPECT_EQ(path[std::string("/locks/_c_").size() + 14], '4');
  world.answer(request, World::created_bytes(path + "0000000001"));
  EXPECT_EQ((**created)->path, path + "0000000001");
}

TEST_F(ProtectedCreate, FindsItsNodeAfterALostReply) {
  const auto created = create_and_lose();
  EXPECT_FALSE(*created);
  world.accept();
  world.answer_next(OpCode::kSync, World::created_bytes("/locks"));
  world.answer_next(OpCode::kGetChildren2,
                    children_bytes({"_c_other-lock-0000000004", child() + "0000000005"}));
  const Request looked = world.answer_next(OpCode::kExists, owned_bytes(kSession, 55));
  EXPECT_EQ(path_in(looked), name + "0000000005");
  ASSERT_TRUE(*created && (*created)->has_value());
  EXPECT_EQ((**created)->path, name + "0000000005");
  EXPECT_EQ((**created)->stat.czxid, Zxid{55});
}

TEST_F(ProtectedCreate, CreatesItAgainUnderTheSameNameIfItWasNotApplied) {
  const auto created = create_and_lose();
  world.accept();
  world.answer_next(OpCode::kSync, World::created_bytes("/locks"));
  world.answer_next(OpCode::kGetChildren2, children_bytes({}));
  const Request again = world.answer_next(OpCode::kCreate2, World::created_bytes(name + "0000000007"));
  EXPECT_EQ(path_in(again), name);
  EXPECT_EQ((**created)->path, name + "0000000007");
}

TEST_F(ProtectedCreate, KeepsLookingAfterFurtherLosses) {
  const auto created = create_and_lose();
  world.accept();
  world.answer_next(OpCode::kSync, World::created_bytes("/locks"));
  world.lose();
  world.accept();
  world.answer_next(OpCode::kSync, World::created_bytes("/locks"));
  world.answer_next(OpCode::kGetChildren2, children_bytes({child() + "0000000005"}));
  world.answer_next(OpCode::kExists, owned_bytes(kSession));
  EXPECT_TRUE((*created)->has_value());
}

TEST_F(ProtectedCreate, LeavesNoListenerBehind) {
  const std::size_t before = world.driver->listeners();
  for (int i = 0; i < 5; ++i) {
    const auto created = world.run(world.client->create_protected("/locks/lock-", "me", kEphemeral));
    world.answer_next(OpCode::kCreate2, World::created_bytes("/locks/x0000000001"));
    ASSERT_TRUE(*created && (*created)->has_value());
  }
  EXPECT_EQ(world.driver->listeners(), before);
}

TEST_F(ProtectedCreate, IsRetriedAfterATemporaryRefusal) {
  for (const ErrorCode refusal :
       {ErrorCode::kThrottledOp, ErrorCode::kSessionMoved, ErrorCode::kNotReadOnly}) {
    const auto created = world.run(world.client->create_protected("/locks/lock-", "me", kEphemeral));
    const std::string first = path_in(world.answer_next(OpCode::kCreate2, {}, refusal));
    EXPECT_FALSE(*created);
    EXPECT_TRUE(world.sent.empty()) << "not at once";
    world.pass(100);
    const Request again = world.answer_next(OpCode::kCreate2, World::created_bytes(first + "0000000001"));
    EXPECT_EQ(path_in(again), first);
    EXPECT_TRUE(*created && (*created)->has_value());
  }
}

TEST_F(ProtectedCreate, EndsWithItsWaitDuringTemporaryRefusals) {
  const auto created =
      world.run(world.client->create_protected("/locks/lock-", "me", kEphemeral, world.within(20)));
  world.answer_next(OpCode::kCreate2, {}, ErrorCode::kThrottledOp);
  world.pass(20);
  EXPECT_EQ(code_of(created), Errc::kDeadline);
  world.pass(1000);
  EXPECT_TRUE(world.sent.empty()) << "there is nothing to clean up";
}

TEST_F(ProtectedCreate, KeepsLookingAtWhatItFound) {
  const auto created = create_and_lose();
  world.accept();
  world.answer_next(OpCode::kSync, World::created_bytes("/locks"));
  world.answer_next(OpCode::kGetChildren2, children_bytes({child() + "0000000005"}));
  EXPECT_EQ(world.take_request().op, OpCode::kExists);
  world.lose();
  EXPECT_FALSE(*created);
  world.accept();
  world.answer_next(OpCode::kSync, World::created_bytes("/locks"));
  world.answer_next(OpCode::kGetChildren2, children_bytes({child() + "0000000005"}));
  world.answer_next(OpCode::kExists, owned_bytes(kSession));
  EXPECT_TRUE(*created && (*created)->has_value());
}

TEST_F(ProtectedCreate, DoesNotContinueInAnotherSession) {
  const auto created = create_and_lose();
  world.expire();
  world.accept(SessionId{77});
  EXPECT_EQ(code_of(created), Errc::kSessionExpired);
  EXPECT_FALSE((**created).error().maybe_applied());
  EXPECT_TRUE(world.sent.empty());
}

TEST_F(ProtectedCreate, IsCleanedUpInTheBackgroundAfterItsDeadline) {
  const auto created =
      world.run(world.client->create_protected("/locks/lock-", "me", kEphemeral, world.within(100)));
  const Request request = world.take_request();
  name = path_in(request);
  world.pass(100);
  EXPECT_EQ(code_of(created), Errc::kDeadline);
  world.answer(request, World::created_bytes(name + "0000000005"));
  world.answer_next(OpCode::kSync, World::created_bytes("/locks"));
  world.answer_next(OpCode::kGetChildren2,
                    children_bytes({child() + "0000000005", "_c_other-lock-0000000006"}));
  world.lose();  // Not even that stops it.
  world.accept();
  const Request removal = world.answer_next(OpCode::kDelete);
  EXPECT_EQ(path_in(removal), name + "0000000005");
  EXPECT_TRUE(world.sent.empty());
}

Task<Result<Created>> fail_later(Client client) {
  auto sleeping = client.scheduler().sleep(Wait::within(std::chrono::milliseconds(10)));
  co_await std::move(sleeping);
  co_return fail(Errc::kDeadline);
}

TEST_F(ProtectedCreate, IsCleanedUpWhenItsTaskIsDestroyed) {
  std::vector<Task<Result<Created>>> both;
  both.push_back(world.client->create_protected("/locks/lock-", "me", kEphemeral));
  both.push_back(fail_later(*world.client));
  const auto first = world.run(run_on(world.client->scheduler(), when_any(std::move(both))));
  const Request request = world.take_request();
  name = path_in(request);
  world.pass(10);
  ASSERT_TRUE(*first);
  EXPECT_EQ((*first)->index, 1u);
  world.answer(request, World::created_bytes(name + "0000000005"));
  world.answer_next(OpCode::kSync, World::created_bytes("/locks"));
  world.answer_next(OpCode::kGetChildren2, children_bytes({child() + "0000000005"}));
  EXPECT_EQ(path_in(world.answer_next(OpCode::kDelete)), name + "0000000005");
}

class Removals : public ::testing::Test {
 protected:
  Removals() { world.accept(); }
  World world;
};

TEST_F(Removals, AreRetriedAfterALostReplyAndAcceptAMissingNode) {
  const auto removed = world.run(world.client->remove_surely("/a"));
  EXPECT_EQ(world.take_request().op, OpCode::kDelete);
  world.lose();
  world.accept();
  world.answer_next(OpCode::kDelete, {}, ErrorCode::kNoNode);
  EXPECT_TRUE((*removed)->has_value());
}

TEST_F(Removals, WithACzxidLeaveASuccessorAlone) {
  // The first try was applied and its reply lost; the name belongs to another client now.
  const auto removed = world.run(world.client->remove_surely("/leader", Zxid{55}));
  world.answer_next(OpCode::kSync, World::created_bytes("/leader"));
  world.answer_next(OpCode::kExists, owned_bytes(kSession, 55));
  EXPECT_EQ(world.take_request().op, OpCode::kDelete);
  world.lose();
  world.accept();
  world.answer_next(OpCode::kSync, World::created_bytes("/leader"));
  world.answer_next(OpCode::kExists, owned_bytes(SessionId{5}, 60));
  EXPECT_TRUE((*removed)->has_value());
  EXPECT_TRUE(world.sent.empty());
}

TEST_F(Removals, ContinueInTheBackgroundAfterTheirDeadline) {
  world.lose();
  const auto removed = world.run(world.client->remove_surely("/a", std::nullopt, world.within(100)));
  world.pass_alone(100);
  EXPECT_EQ(code_of(removed), Errc::kDeadline);
  world.accept();
  world.answer_next(OpCode::kDelete);
  EXPECT_TRUE(world.sent.empty());
}

TEST_F(Removals, AreRetriedAfterATemporaryRefusal) {
  world.client->ensure_deleted("/a");
  world.driver->settle();
  for (int i = 0; i < 3; ++i) {
    world.answer_next(OpCode::kDelete, {}, ErrorCode::kThrottledOp);
    EXPECT_TRUE(world.sent.empty()) << "not at once";
    world.pass(100);
  }
  world.answer_next(OpCode::kDelete);
  world.pass(100);
  EXPECT_TRUE(world.sent.empty());
}

TEST_F(Removals, OfABoundClientEndWithItsSession) {
  world.lose();
  world.client->bound().ensure_deleted("/a");
  world.client->ensure_deleted("/b");
  world.expire();
  world.accept(SessionId{77});
  const Request removal = world.answer_next(OpCode::kDelete);
  EXPECT_EQ(path_in(removal), "/b");
  EXPECT_TRUE(world.sent.empty());
}

}  // namespace
}  // namespace drover::client::testing
