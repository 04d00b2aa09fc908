// SPDX-License-Identifier: Apache-2.0
//
// The output for people and for scripts.
#include "cli/recipes/view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace drover::cli::observe {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::int64_t kNow = 1'794'777'983'596;

Stand stand(std::string node, std::string data, std::int64_t age_ms = 5000) {
  Stat stat;
  stat.czxid = Zxid{0x1234};
  stat.ctime_ms = kNow - age_ms;
  stat.ephemeral_owner = SessionId{0xabc};
  return {.node = std::move(node), .stat = stat, .data = std::move(data)};
}

std::string text(const View& view, Purpose purpose) {
  return fmt::format("{}", fmt::join(text_of(view, purpose, kNow), "\n"));
}

TEST(RecipeView, LockShowsItsHolderAndTheNextWaiter) {
  const View view{.path = "/l",
                  .kind = Kind::kMutex,
                  .holders = {stand("/l/lock-1", "anna")},
                  .waiters = {stand("/l/lock-2", "bert", 61'000)}};
  const std::string shown = text(view, Purpose::kLocks);
  EXPECT_THAT(shown, HasSubstr("/l: mutex (Curator, drover): held, 1 waits\n"));
  EXPECT_THAT(shown, HasSubstr("holds  0xabc"));
  EXPECT_THAT(shown, HasSubstr("1 min 1 s"));
  EXPECT_THAT(shown, HasSubstr("0x1234"));
  EXPECT_THAT(text(view, Purpose::kLeaders),
              HasSubstr("election by a mutex (Curator, drover): has a leader, 1 waits"));
  EXPECT_THAT(text(view, Purpose::kLeaders), HasSubstr("leads"));
}

TEST(RecipeView, HiddenEntriesAreCounted) {
  const View line{.path = "/l",
                  .kind = Kind::kMutex,
                  .holders = {stand("/l/1", "")},
                  .waiters = {stand("/l/2", "")},
                  .unseen = 40};
  EXPECT_THAT(text(line, Purpose::kLocks), HasSubstr("held, 41 wait"));
}

TEST(RecipeView, DataCannotControlTheTerminal) {
  const View view{
      .path = "/l\x1b[2J", .kind = Kind::kMutex, .holders = {stand("/l/\x1b]0;x", "\x1b[31m")}, .notes = {}};
  EXPECT_THAT(text(view, Purpose::kLocks), Not(HasSubstr("\x1b")));
}

TEST(RecipeView, ServiceInstanceIsShownByItsAddress) {
  const View view{
      .path = "/s",
      .kind = Kind::kGroup,
      .members = {stand("/s/a", R"({"name":"s","address":"10.0.0.1","port":80,"serviceType":"DYNAMIC"})"),
                  stand("/s/b", R"({"address":"10.0.0.1"})"), stand("/s/c", "[1")}};
  const std::string shown = text(view, Purpose::kMembers);
  EXPECT_THAT(shown, HasSubstr("10.0.0.1:80\n"));
  EXPECT_THAT(shown, HasSubstr("\"{\"address\""));
  EXPECT_THAT(shown, HasSubstr("\"[1\""));
}

TEST(RecipeView, JsonShowsBinaryDataAsHex) {
  const View view{.path = "/l", .kind = Kind::kMutex, .holders = {stand("/l/1", std::string("\x00\xff", 2))}};
  const auto json = json_of(view);
  EXPECT_EQ(json.at("holders").at(0).at("data").at("hex").as_string(), "00ff");
  EXPECT_EQ(json.at("holders").at(0).at("session").as_string(), "0xabc");
  EXPECT_TRUE(json.at("holders").at(0).at("address").is_null());
}

TEST(RecipeView, EachKindHasItsCommand) {
  EXPECT_EQ(command_for(Kind::kMutex), "locks");
  EXPECT_EQ(command_for(Kind::kElection), "leaders");
  EXPECT_EQ(command_for(Kind::kQueue), "queues");
  EXPECT_EQ(command_for(Kind::kGroup), "members");
  EXPECT_TRUE(is_for(Purpose::kLeaders, Kind::kMutex));
  EXPECT_FALSE(is_for(Purpose::kLocks, Kind::kElection));
}

}  // namespace
}  // namespace drover::cli::observe
