// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/read_write_lock.h"

#include <gtest/gtest.h>

#include "recipes/locks/lock_testing.h"
#include "recipes/testing.h"

namespace drover::recipes {
namespace {

using namespace testing;  // NOLINT: test helpers

const std::string kPath = "/locks/table";

class ReadWriteLocks : public ::testing::Test {
 protected:
  ReadWriteLock lock(std::size_t i) { return ReadWriteLock(world.client(i), kPath); }
  // The contender is in line when this returns.
  GuardResult read(std::size_t i) { return in_line(lock(i).read()); }
  GuardResult write(std::size_t i) { return in_line(lock(i).write()); }
  GuardResult in_line(Task<Result<Guard>> task) {
    const std::size_t before = world.children(kPath).size();
    auto result = world.start(std::move(task));
    EXPECT_TRUE(world.run_until([&] { return world.children(kPath).size() == before + 1; }));
    world.run_for(milliseconds(300));
    return result;
  }
  static void let_go(const GuardResult& result) { result->reset(); }
  void pass() { world.run_for(milliseconds(300)); }

  RecipeWorld world{{.clients = 3}};
};

TEST_F(ReadWriteLocks, ReadersShareAndAWriterIsAlone) {
  const auto first = read(0), second = read(1);
  EXPECT_TRUE(succeeded(first));
  EXPECT_TRUE(succeeded(second));
  const auto writer = write(2);
  EXPECT_FALSE(has_ended(writer));
  let_go(first);
  pass();
  EXPECT_FALSE(has_ended(writer)) << "it waits for readers, not only for writers";
  let_go(second);
  pass();
  EXPECT_TRUE(succeeded(writer));
}

TEST_F(ReadWriteLocks, ReaderBehindAWaitingWriterWaits) {
  const auto reader = read(0), writer = write(1), late = read(2);
  EXPECT_TRUE(succeeded(reader));
  EXPECT_FALSE(has_ended(writer));
  EXPECT_FALSE(has_ended(late)) << "or the writer would starve";
  let_go(reader);
  pass();
  EXPECT_TRUE(succeeded(writer));
  EXPECT_FALSE(has_ended(late));
  let_go(writer);
  pass();
  EXPECT_TRUE(succeeded(late));
}

TEST_F(ReadWriteLocks, NoContenderWaitsForALaterOne) {
  const auto first = write(0), reader = read(1), second = write(2);
  let_go(first);
  pass();
  EXPECT_TRUE(succeeded(reader));
  EXPECT_FALSE(has_ended(second));
  let_go(reader);
  pass();
  EXPECT_TRUE(succeeded(second));
}

TEST_F(ReadWriteLocks, ReaderBehindManyWritersIsWokenOnce) {
  std::vector<GuardResult> writers;
  for (int i = 0; i < 3; ++i) writers.push_back(write(0));
  std::vector<GuardResult> readers;
  for (int i = 0; i < 4; ++i) readers.push_back(read(i % 2 + 1));
  const auto before = world.watch_events(1) + world.watch_events(2);
  for (const GuardResult& each : writers) {
    let_go(each);
    pass();
  }
  for (const GuardResult& each : readers) EXPECT_TRUE(succeeded(each));
  // Two clients have two readers each that watch one node; the server notifies each client once.
  EXPECT_EQ(world.watch_events(1) + world.watch_events(2) - before, 2u);
}

TEST_F(ReadWriteLocks, DowngradeAdmitsReadersAndNoWriter) {
  const auto writer = write(0), reader = read(1), waiting = write(2);
  const std::string number = (*writer)->value().node().substr((*writer)->value().node().size() - 10);
  auto read = world.get(lock(0).downgrade((*writer)->value()));
  ASSERT_TRUE(read);
  pass();
  EXPECT_FALSE((*writer)->value().is_held());
  EXPECT_TRUE(read->is_held());
  EXPECT_TRUE(read->node().ends_with("-__READ__" + number));
  EXPECT_EQ(read->fence(), (*writer)->value().fence());
  EXPECT_TRUE(succeeded(reader));
  EXPECT_FALSE(has_ended(waiting));
  let_go(writer);  // No client holds it any more.
  let_go(reader);
  pass();
  EXPECT_FALSE(has_ended(waiting)) << "the downgraded one still reads";
  ASSERT_TRUE(world.get(read->release()));
  pass();
  ASSERT_TRUE(succeeded(waiting));
  EXPECT_GT((*waiting)->value().fence(), read->fence());
  EXPECT_EQ(world.children(kPath).size(), 1u);
}

TEST_F(ReadWriteLocks, WriterWhoseNodeIsGoneIsNotDowngraded) {
  const auto writer = write(0), next = write(1);
  ASSERT_TRUE(world.get(world.client(2).remove((*writer)->value().node())));
  ASSERT_TRUE(world.run_until([&] { return succeeded(next); }));
  EXPECT_EQ(world.get(lock(0).downgrade((*writer)->value())).error(), Errc::kLockLost);
  pass();
  EXPECT_TRUE((*writer)->value().lost().stop_requested());
  EXPECT_EQ(world.children(kPath).size(), 1u) << "no reader beside the other writer";
}

TEST_F(ReadWriteLocks, OnlyAWriterCanBeDowngraded) {
  const auto reader = read(0);
  EXPECT_EQ(world.get(lock(0).downgrade((*reader)->value())).error(), Errc::kNotOwner);
  EXPECT_EQ(world.get(lock(0).downgrade(Guard())).error(), Errc::kNotOwner);
}

TEST_F(ReadWriteLocks, ReadingOwnerThatAsksToWriteIsRefused) {
  const ReadWriteLock mine = lock(0);
  const Owner me, other;
  auto read = world.get(mine.read(me));
  ASSERT_TRUE(read);
  EXPECT_EQ(world.get(mine.write(me)).error(), Errc::kWouldDeadlock);
  const auto others = world.start(mine.write(other));
  pass();
  EXPECT_FALSE(has_ended(others));
  ASSERT_TRUE(world.get(read->release()));
  pass();
  EXPECT_TRUE(succeeded(others));
  let_go(others);
  EXPECT_TRUE(world.get(mine.write(me))) << "it reads no longer";
}

TEST_F(ReadWriteLocks, WritingOwnerThatAsksAgainIsRefused) {
  const ReadWriteLock mine = lock(0);
  const Owner me;
  auto write = world.get(mine.write(me));
  ASSERT_TRUE(write);
  EXPECT_EQ(world.get(mine.write(me)).error(), Errc::kWouldDeadlock);
  EXPECT_EQ(world.get(mine.read(me)).error(), Errc::kWouldDeadlock);
  auto read = world.get(mine.downgrade(*write));
  ASSERT_TRUE(read);
  EXPECT_EQ(world.get(mine.write(me)).error(), Errc::kWouldDeadlock) << "it reads now";
  ASSERT_TRUE(world.get(read->release()));
  EXPECT_TRUE(world.get(mine.write(me)));
}

TEST_F(ReadWriteLocks, ReadingOwnerMayReadAgainAlthoughAWriterWaits) {
  const ReadWriteLock mine = lock(0);
  const Owner me;
  auto first = world.get(mine.read(me));
  ASSERT_TRUE(first);
  const auto writer = write(1);
  auto second = world.get(mine.read(me, Wait::within(milliseconds(1000))));
  ASSERT_TRUE(second);
  ASSERT_TRUE(world.get(first->release()));
  pass();
  EXPECT_FALSE(has_ended(writer)) << "the second guard still reads";
  ASSERT_TRUE(world.get(second->release()));
  pass();
  EXPECT_TRUE(succeeded(writer));
}

TEST_F(ReadWriteLocks, HasCuratorsNames) {
  const auto reader = read(0);
  EXPECT_TRUE((*reader)->value().node().ends_with("-__READ__0000000000"));
  let_go(reader);
  pass();
  const auto writer = write(0);
  EXPECT_TRUE((*writer)->value().node().ends_with("-__WRIT__0000000001"));
  EXPECT_EQ(world.get(lock(1).participants())->size(), 1u);
}

TEST(ReadWriteLock, SurvivesEveryFaultAtEveryMessage) {
  with_every_fault({.clients = 2}, [](RecipeWorld& world, const Fault& fault) {
    lock_story(world, fault, kPath,
               [](Client client) { return ReadWriteLock(std::move(client), kPath).write(); });
  });
}

// Client 0 writes, then reads; client 1 keeps asking to write.
TEST(ReadWriteLock, DowngradeSurvivesEveryFault) {
  with_every_fault({.clients = 2}, [](RecipeWorld& world, const Fault& fault) {
    const ReadWriteLock mine(world.client(0), kPath);
    GuardResult write = world.start(mine.write());
    ASSERT_TRUE(world.run_until([&] { return succeeded(write); }));
    const auto waiting = world.start(ReadWriteLock(world.client(1), kPath).write());
    world.run_for(milliseconds(100));
    GuardResult read = world.start(mine.downgrade((*write)->value()));
    world.run_until([&] { return has_ended(read) || has_ended(waiting); });
    Inside inside(world, fault);
    inside.look({read, waiting});
    if (!fault.ends_session) {
      ASSERT_TRUE(succeeded(read));
      EXPECT_FALSE(has_ended(waiting));
    }
    world.run_for(milliseconds(200));
    inside.look({read, waiting});
    read->reset();
    write->reset();
    ASSERT_TRUE(world.run_until([&] { return succeeded(waiting); }));
    world.run_for(milliseconds(15'000));
    EXPECT_EQ(world.children(kPath).size(), 1u);
  });
}

TEST(ReadWriteLock, LeavesNothingBehindHoweverTheCallEnds) {
  GuardResult held;
  with_every_ending<Guard>(
      {.clients = 2},
      [&](RecipeWorld& world, Wait wait) {
        held = world.start(ReadWriteLock(world.client(1), kPath).write());
        world.run_until([&] { return succeeded(held); });
        return ReadWriteLock(world.client(0), kPath).read(wait);
      },
      [&](RecipeWorld& world) {
        EXPECT_EQ(world.children(kPath).size(), 1u);
        held.reset();
      });
}

}  // namespace
}  // namespace drover::recipes
