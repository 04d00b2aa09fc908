// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/model.h"

#include <gtest/gtest.h>

#include "recipes/client_fault_testing.h"

namespace drover::recipes::testing {
namespace {

TEST(Model, NodesHaveValuesAndVersions) {
  RecipeWorld world({.clients = 2});
  const Model<std::int32_t> numbers(world.client(0), "/numbers", big_endian_codec<std::int32_t>());
  const auto one = numbers.at("one");
  EXPECT_EQ(one.path(), "/numbers/one");
  EXPECT_FALSE(world.get(one.get())->has_value());
  ASSERT_TRUE(world.get(one.set(1)));
  const auto seen = **world.get(one.get());
  EXPECT_EQ(seen.value, 1);
  ASSERT_TRUE(world.get(one.set(2, seen.version)));
  EXPECT_EQ(world.get(one.set(3, seen.version)).error(), Errc::kBadVersion);
  EXPECT_EQ(world.get(one.create(4)).error(), Errc::kNodeExists);
  EXPECT_EQ(world.get(numbers.children())->names, std::vector<std::string>{"one"});
  OtherClient(world, 1).set("/numbers/one", "x");
  EXPECT_EQ(world.get(one.get()).error(), Errc::kBadData);
  ASSERT_TRUE(world.get(one.remove()));
  EXPECT_FALSE(world.exists("/numbers/one"));
}

TEST(Model, SetWithALostReplyIsAppliedOnce) {
  RecipeWorld world({.clients = 1});
  const Model<std::string> text(world.client(0), "/text", text_codec());
  world.lose_reply(0, "create");
  ASSERT_TRUE(world.get(text.set("1")));
  for (const bool done : {true, false}) {
    const auto version = (*world.get(text.get()))->version;
    if (done) world.lose_reply(0, "set");
    if (!done) world.lose_request(0, "set");
    ASSERT_TRUE(world.get(text.set("2" + std::to_string(done), version)));
  }
  EXPECT_EQ(world.stat("/text")->version, Version{2});
}

CreateOptions mode(CreateMode m) { return {.mode = m}; }

TEST(Schema, ChecksWhatMayBeWhere) {
  const Schema schema({{.path = "/jobs/*/log", .kind = SchemaKind::kEphemeral},
                       {.path = "/jobs/*",
                        .kind = SchemaKind::kPersistent,
                        .sequential = true,
                        .can_be_removed = false,
                        .validate = [](std::string_view data) { return data.starts_with('{'); }}});
  const auto sequential = mode(CreateMode::kPersistentSequential);
  EXPECT_TRUE(schema.check(Op::create("/jobs/a", "{}", sequential)));
  EXPECT_FALSE(schema.check(Op::create("/jobs/a", "x", sequential)));
  EXPECT_FALSE(schema.check(Op::create("/jobs/a", "{}")));
  EXPECT_FALSE(schema.check(Op::create("/jobs/a", "{}", mode(CreateMode::kEphemeralSequential))));
  EXPECT_FALSE(schema.check(Op::set("/jobs/a", "x")));
  EXPECT_TRUE(schema.check(Op::set("/jobs/a", "{}")));
  EXPECT_FALSE(schema.check(Op::remove("/jobs/a")));
  EXPECT_TRUE(schema.check(Op::check("/jobs/a")));
  EXPECT_FALSE(schema.check(Op::create("/jobs/a/log")));
  EXPECT_TRUE(schema.check(Op::create("/jobs/a/log", "", mode(CreateMode::kEphemeral))));
  EXPECT_TRUE(schema.check(Op::create("/jobs")));
  EXPECT_TRUE(schema.check(Op::create("/elsewhere")));
}

TEST(Schema, PatternsMatchWholeNames) {
  const Schema schema({{.path = "/a/**"}, {.path = "/b/*/c"}}, Schema::Others::kRefused);
  for (const char* path : {"/a/x", "/a/x/y", "/b/x/c"}) EXPECT_TRUE(schema.check(Op::set(path, ""))) << path;
  for (const char* path : {"/", "/a", "/ab/x", "/b/c", "/b/x/c/d", "/b/x/cc"}) {
    EXPECT_FALSE(schema.check(Op::set(path, ""))) << path;
  }
}

TEST(Schema, NamesTheRefusedOperationOfSeveral) {
  const Schema schema({{.path = "/a", .can_be_removed = false}});
  const auto checked = schema.check(std::vector<Op>{Op::set("/a", ""), Op::remove("/a")});
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error(), Errc::kBadArguments);
  EXPECT_EQ(checked.error().op_index, 1);
  EXPECT_EQ(checked.error().path, "/a");
}

}  // namespace
}  // namespace drover::recipes::testing
