// SPDX-License-Identifier: Apache-2.0
//
// Names as Curator, kazoo and ZooKeeper write them, and what a directory with them is recognised as.
#include "layouts/layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace drover::layouts {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr const char* kUuidA = "_c_0a1b2c3d-1111-4222-8333-444455556666-";
constexpr const char* kUuidB = "_c_ffffffff-1111-4222-8333-444455556666-";
constexpr const char* kHexA = "0123456789abcdef0123456789abcdef";
constexpr const char* kHexB = "fedcba9876543210fedcba9876543210";

std::vector<std::string> names_of(const Recognition& seen) {
  std::vector<std::string> names;
  for (const Part& part : seen.parts) names.push_back(part.name);
  return names;
}

Recognition of(std::vector<std::string> names) { return recognise(names); }

std::string a(std::string rest) { return kUuidA + std::move(rest); }
std::string b(std::string rest) { return kUuidB + std::move(rest); }
std::string hex_a(std::string rest) { return kHexA + std::move(rest); }
std::string hex_b(std::string rest) { return kHexB + std::move(rest); }

TEST(RecipeLayout, CuratorsMutexIsOrderedBySequenceNumber) {
  const Recognition seen = of({b("lock-0000000002"), a("lock-0000000010"), a("lock-0000000001")});
  EXPECT_EQ(seen.kind, Kind::kMutex);
  EXPECT_EQ(seen.family, Family::kCurator);
  EXPECT_THAT(names_of(seen), ElementsAre(a("lock-0000000001"), b("lock-0000000002"), a("lock-0000000010")));
  EXPECT_EQ(holders_in(seen.kind, seen.parts), 1U);
}

TEST(RecipeLayout, OrderContinuesAcrossTheWrapOfSequenceNumbers) {
  const Recognition seen = of({a("lock--2147483648"), a("lock-2147483647"), a("lock--2147483647")});
  EXPECT_THAT(names_of(seen),
              ElementsAre(a("lock-2147483647"), a("lock--2147483648"), a("lock--2147483647")));
}

TEST(RecipeLayout, GoZooKeepersAndUnprotectedLocksAreMutexesToo) {
  EXPECT_EQ(of({"_c_" + hex_a("-lock-0000000001")}).kind, Kind::kMutex);
  EXPECT_EQ(of({"lock-0000000001", "some-guid-lock-0000000002"}).kind, Kind::kMutex);
  EXPECT_EQ(of({hex_a("-lock-0000000003")}).family, Family::kCurator);  // kazoo, told Curator's names
}

TEST(RecipeLayout, KazoosLockHasItsOwnNames) {
  const Recognition seen = of({hex_a("__lock__0000000002"), hex_b("__lock__0000000001")});
  EXPECT_EQ(seen.kind, Kind::kMutex);
  EXPECT_EQ(seen.family, Family::kKazoo);
  EXPECT_THAT(names_of(seen), ElementsAre(hex_b("__lock__0000000001"), hex_a("__lock__0000000002")));
}

TEST(RecipeLayout, ZooKeepersWriteLockHasTheSessionInItsNames) {
  for (const char* name : {"x-72057594037927936-0000000001", "x--72057594037927936-0000000001",
                           "x-0100000000000abc-0000000001", "lock-0100000000000abc-0000000001"}) {
    EXPECT_EQ(of({name}).kind, Kind::kMutex) << name;
    EXPECT_EQ(of({name}).family, Family::kZooKeeper) << name;
    EXPECT_EQ(of({name}).parts.at(0).sequence, 1) << name;
  }
}

TEST(RecipeLayout, TwoLibrariesInOneDirectoryAreReported) {
  const Recognition seen = of({a("lock-0000000001"), hex_a("__lock__0000000002")});
  EXPECT_EQ(seen.kind, Kind::kSeveral);
  EXPECT_THAT(seen.things, ElementsAre("mutex (Curator, drover)", "mutex (kazoo)"));
}

TEST(RecipeLayout, LatchAndLockInOneDirectoryAreReported) {
  EXPECT_EQ(of({a("lock-0000000001"), a("latch-0000000002")}).kind, Kind::kSeveral);
}

TEST(RecipeLayout, ReadersHoldTogetherUpToTheFirstWriter) {
  const Recognition seen = of(
      {a("__READ__0000000003"), b("__WRIT__0000000002"), a("__READ__0000000000"), b("__READ__0000000001")});
  EXPECT_EQ(seen.kind, Kind::kReadWriteLock);
  EXPECT_EQ(holders_in(seen.kind, seen.parts), 2U);
  EXPECT_EQ(seen.parts.at(2).role, Role::kWriter);
}

TEST(RecipeLayout, AWriterHoldsAlone) {
  const Recognition seen = of({a("__WRIT__0000000000"), b("__READ__0000000001")});
  EXPECT_EQ(holders_in(seen.kind, seen.parts), 1U);
}

TEST(RecipeLayout, DowngradingWriterHoldsWithBothNodes) {
  const Recognition seen = of({a("__READ__0000000000"), a("__WRIT__0000000000"), b("__READ__0000000001")});
  EXPECT_EQ(seen.parts.at(0).role, Role::kWriter);
  EXPECT_EQ(holders_in(seen.kind, seen.parts), 2U);
}

TEST(RecipeLayout, KazoosWritersAreItsLocks) {
  const Recognition seen = of({hex_a("__rlock__0000000000"), hex_b("__lock__0000000001")});
  EXPECT_EQ(seen.kind, Kind::kReadWriteLock);
  EXPECT_EQ(seen.family, Family::kKazoo);
  EXPECT_EQ(seen.parts.at(1).role, Role::kWriter);
  EXPECT_EQ(holders_in(seen.kind, seen.parts), 1U);
}

TEST(RecipeLayout, SemaphoreHasTwoDirectoriesOrKazoosLeases) {
  EXPECT_EQ(of({"locks", "leases"}).kind, Kind::kSemaphore);
  EXPECT_EQ(of({"leases"}).kind, Kind::kSemaphore);
  EXPECT_EQ(of({"locks"}).kind, Kind::kNothing);
  EXPECT_EQ(of({a("lease-0000000001")}).kind, Kind::kSemaphore);
  EXPECT_EQ(of({hex_a(""), hex_b("")}).kind, Kind::kSemaphore);
  EXPECT_EQ(of({hex_a(""), hex_b("")}).family, Family::kKazoo);
}

TEST(RecipeLayout, ElectionsAreOrderedCandidates) {
  EXPECT_EQ(of({a("latch-0000000001")}).kind, Kind::kElection);
  EXPECT_EQ(of({"n_0000000001", "n_0000000000"}).kind, Kind::kElection);
  EXPECT_EQ(of({"guid-n_0000000001"}).family, Family::kZooKeeper);
}

TEST(RecipeLayout, QueuesAreInTheOrderOfTaking) {
  EXPECT_THAT(names_of(of({"queue-0000000010", "queue-0000000002"})),
              ElementsAre("queue-0000000002", "queue-0000000010"));
  const Recognition priority = of({"queue-1000000050000000000", "queue-0FFFFFFFB0000000001"});
  EXPECT_EQ(priority.order, QueueOrder::kPriority);
  EXPECT_EQ(priority.parts.at(0).key, "-5");
  EXPECT_EQ(priority.parts.at(1).key, "5");
  EXPECT_EQ(of({"qn-0000000001"}).kind, Kind::kQueue);
  EXPECT_EQ(of({a("q-0000000001")}).family, Family::kDrover);
}

TEST(RecipeLayout, DelayAndIdQueuesAreToldApart) {
  const Recognition delay = of({"queue-|19A8A1A2B00|0000000001", "queue-|18D2F0A1B00|0000000002"});
  EXPECT_EQ(delay.order, QueueOrder::kDelay);
  EXPECT_EQ(delay.parts.at(0).key, "1705891207936");
  const Recognition ids = of({"queue-|invoice_17|0000000001", "queue-|18D2F0A1B00|0000000000"});
  EXPECT_EQ(ids.order, QueueOrder::kId);
  EXPECT_EQ(ids.parts.at(1).key, "invoice_17");
}

TEST(RecipeLayout, KazoosQueuesHavePrioritiesInTheirNames) {
  const Recognition seen = of({"entry-100-0000000000", "entry-050-0000000001"});
  EXPECT_EQ(seen.family, Family::kKazoo);
  EXPECT_THAT(names_of(seen), ElementsAre("entry-050-0000000001", "entry-100-0000000000"));
  EXPECT_EQ(of({"entries", "taken"}).kind, Kind::kQueue);
}

TEST(RecipeLayout, PartiesAreGroups) {
  EXPECT_EQ(of({hex_a("__party__")}).kind, Kind::kGroup);
  EXPECT_EQ(of({hex_a("-worker-7")}).kind, Kind::kGroup);
  EXPECT_EQ(of({a("m-0000000001")}).kind, Kind::kGroup);
}

TEST(RecipeLayout, ATimeLeaseHasItsHolderInANode) { EXPECT_EQ(of({"lease_holder"}).kind, Kind::kTimeLease); }

TEST(RecipeLayout, UnknownNamesAreNotRecognised) {
  const Recognition seen = of({"block-0000000001", "config", "queue-7", "lock-1", "entries", "x-1", "n_"});
  EXPECT_EQ(seen.kind, Kind::kNothing);
  EXPECT_THAT(seen.parts, IsEmpty());
  EXPECT_EQ(seen.others.size(), 7U);
}

TEST(RecipeLayout, NamesThatDoNotBelongAreListed) {
  const Recognition seen = of({a("lock-0000000001"), "README"});
  EXPECT_EQ(seen.kind, Kind::kMutex);
  EXPECT_THAT(seen.others, ElementsAre("README"));
}

TEST(RecipeLayout, AnEmptyDirectoryIsNothing) { EXPECT_EQ(of({}).kind, Kind::kNothing); }

}  // namespace
}  // namespace drover::layouts
