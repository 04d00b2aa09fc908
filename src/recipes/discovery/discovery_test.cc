// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/discovery.h"

#include <gtest/gtest.h>

#include "recipes/client_fault_testing.h"

namespace drover::discovery {
namespace {

using recipes::testing::ClientFault;
using recipes::testing::OtherClient;
using recipes::testing::with_every_client_fault;
using sim::RecipeWorld;
using std::chrono::milliseconds;

Instance instance(const std::string& id, int port = 80) {
  return {.name = "svc", .id = id, .address = "10.0.0.1", .port = port, .registered_ms = 7};
}
std::vector<std::string> ids(const Provider& provider) {
  std::vector<std::string> all;
  for (const Instance& each : provider.instances()) all.push_back(each.id);
  return all;
}
using Names = std::vector<std::string>;

// --- JSON; Curator wrote the first text ---

constexpr std::string_view kCurators =
    R"({"name":"svcA","id":"i1","address":"10.0.0.1","port":80,"sslPort":null,"payload":"text",)"
    R"("registrationTimeUTC":1794724867797,"serviceType":"DYNAMIC",)"
    R"("uriSpec":{"parts":[{"value":"scheme","variable":true},{"value":"://","variable":false}]}})";

TEST(InstanceJson, MatchesCuratorsText) {
  const auto read = instance_of(kCurators);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->port, 80);
  EXPECT_EQ(read->ssl_port, std::nullopt);
  EXPECT_EQ(read->payload_json, "\"text\"");
  EXPECT_TRUE(read->enabled);
  EXPECT_EQ(read->uri_spec, (std::vector<UriPart>{{"scheme", true}, {"://", false}}));
  EXPECT_EQ(to_json(*read), kCurators);
}

TEST(InstanceJson, ObjectPayloadHasAJavaClass) {
  Instance i = instance("a");
  i.payload_json = R"({"zone":"eu"})";
  EXPECT_NE(to_json(i).find(R"("payload":{"@class":"java.util.LinkedHashMap","zone":"eu"})"),
            std::string::npos);
  i.payload_json = R"({"@class":"com.x.Y","zone":"eu"})";
  EXPECT_NE(to_json(i).find(R"("payload":{"@class":"com.x.Y","zone":"eu"})"), std::string::npos);
}

TEST(InstanceJson, RoundTrips) {
  Instance i = instance("a");
  i.ssl_port = 443;
  i.enabled = false;
  i.payload_json = "17";
  for (const auto type : {ServiceType::kDynamic, ServiceType::kDynamicSequential, ServiceType::kStatic,
                          ServiceType::kPermanent}) {
    i.type = type;
    EXPECT_EQ(*instance_of(to_json(i)), i);
  }
}

TEST(InstanceJson, UnknownFieldsAreIgnoredAndInvalidTextIsRefused) {
  EXPECT_TRUE(instance_of(R"({"name":"a","id":"b","later":[1,{"x":null}],"port":"no","enabled":1})"));
  EXPECT_TRUE(instance_of(R"({"name":"a","id":"b","enabled":true,"payload":null})")->payload_json.empty());
  for (const char* bad : {"", "null", "[]", "{", R"({"name":"a"})", R"({"id":"a","name":7})", "10.0.0.1"}) {
    EXPECT_EQ(instance_of(bad).error(), Errc::kBadData) << bad;
  }
}

// --- the registry ---

TEST(Registry, AddsAndRemovesInstances) {
  RecipeWorld world({.clients = 2});
  Registry registry(world.client(0), "/d");
  ASSERT_TRUE(world.get(registry.add(instance("a"))));
  EXPECT_EQ(world.data("/d/svc/a"), to_json(instance("a")));
  EXPECT_TRUE(registry.is_registered("svc", "a"));
  ASSERT_TRUE(world.get(registry.add(instance("a", 81))));
  EXPECT_EQ(world.get(registry.instances("svc"))->front().port, 81);
  EXPECT_EQ(*world.get(registry.services()), Names{"svc"});
  ASSERT_TRUE(world.get(registry.remove("svc", "a")));
  EXPECT_FALSE(world.exists("/d/svc/a"));
  EXPECT_TRUE(world.get(registry.remove("svc", "a")));
  EXPECT_EQ(world.get(registry.add({.name = "a/b", .id = "c"})).error(), Errc::kBadArguments);
}

// Curator deletes the node of any instance with the id and creates its own, on every reconnect.
TEST(Registry, IdOfAnotherProcessIsAConflictAndIsNotRemoved) {
  RecipeWorld world({.clients = 2});
  Registry theirs(world.client(1), "/d");
  Registry ours(world.client(0), "/d");
  ASSERT_TRUE(world.get(theirs.add(instance("a", 1))));
  EXPECT_EQ(world.get(ours.add(instance("a", 2))).error(), Errc::kIdConflict);
  EXPECT_EQ(world.get(ours.remove("svc", "a")).error(), Errc::kNotOwner);
  world.run_for(milliseconds(3000));
  EXPECT_EQ(world.data("/d/svc/a"), to_json(instance("a", 1)));
}

TEST(Registry, RestartedProcessGetsItsIdBack) {
  RecipeWorld world({.clients = 2});
  Registry crashed(world.client(0), "/d");
  ASSERT_TRUE(world.get(crashed.add(instance("a", 1))));
  const SessionId before = world.client(0).session();
  world.cut(0);  // The session is not closed; the server expires it.
  Registry again(world.client(1), "/d");
  ASSERT_TRUE(world.get(again.add(instance("a", 2))));
  EXPECT_FALSE(world.has_session(before));
  EXPECT_EQ(world.data("/d/svc/a"), to_json(instance("a", 2)));
}

TEST(Registry, PermanentInstanceDoesNotReplaceALiveOne) {
  RecipeWorld world({.clients = 2});
  Registry theirs(world.client(1), "/d");
  Registry ours(world.client(0), "/d");
  ASSERT_TRUE(world.get(theirs.add(instance("a", 1))));
  Instance permanent = instance("a", 2);
  permanent.type = ServiceType::kPermanent;
  EXPECT_EQ(world.get(ours.add(permanent)).error(), Errc::kIdConflict);
  EXPECT_EQ(world.data("/d/svc/a"), to_json(instance("a", 1)));
  ASSERT_TRUE(world.get(theirs.remove("svc", "a")));
  world.lose_reply(0, "create");
  ASSERT_TRUE(world.get(ours.add(permanent)));
  permanent.port = 3;
  world.lose_reply(1, "set");
  ASSERT_TRUE(world.get(theirs.add(permanent)));
  EXPECT_EQ(world.data("/d/svc/a"), to_json(permanent));
}

TEST(Registry, ReconnectChangesNothing) {
  RecipeWorld world({.clients = 2});
  Registry registry(world.client(0), "/d");
  for (const char* id : {"a", "b", "c"}) ASSERT_TRUE(world.get(registry.add(instance(id))));
  Provider provider(world.client(1), "/d", "svc");
  ASSERT_TRUE(world.get(provider.start()));
  const auto events = world.watch_events(1);
  for (int i = 0; i < 3; ++i) {
    world.disconnect(0);
    world.run_for(milliseconds(3000));
  }
  EXPECT_EQ(world.client(0).state(), ConnectionState::kConnected);
  EXPECT_EQ(world.watch_events(1), events);
}

TEST(Registry, LastUpdateSurvivesEveryFault) {
  with_every_client_fault(2, [](RecipeWorld& world, const ClientFault& fault) {
    Registry registry(world.client(0), "/d");
    ASSERT_TRUE(world.get(registry.add(instance("a", 1))));
    ASSERT_TRUE(world.get(registry.add(instance("gone", 1))));
    fault.strike(world);
    const auto updated = world.start(registry.add(instance("a", 2)));
    const auto removed = world.start(registry.remove("svc", "gone"));
    world.run_for(milliseconds(500));
    fault.heal(world);
    world.run_for(milliseconds(15'000));
    ASSERT_TRUE(updated->has_value() && removed->has_value());
    EXPECT_TRUE((*updated)->has_value());
    EXPECT_EQ(world.data("/d/svc/a"), to_json(instance("a", 2)));
    EXPECT_EQ(world.children("/d/svc"), Names{"a"});
  });
}

TEST(Registry, OnlyPermanentInstancesOutliveTheRegistry) {
  RecipeWorld world({.clients = 1});
  {
    Registry registry(world.client(0), "/d");
    Instance i = instance("dynamic");
    ASSERT_TRUE(world.get(registry.add(i)));
    i.id = "static";
    i.type = ServiceType::kStatic;
    ASSERT_TRUE(world.get(registry.add(i)));
    i.id = "permanent";
    i.type = ServiceType::kPermanent;
    ASSERT_TRUE(world.get(registry.add(i)));
    i.id = "many-";
    i.type = ServiceType::kDynamicSequential;
    ASSERT_TRUE(world.get(registry.add(i)));
    EXPECT_EQ(world.children("/d/svc").size(), 4u);
  }
  world.run_for(milliseconds(1000));
  EXPECT_EQ(world.children("/d/svc"), Names{"permanent"});
  Registry later(world.client(0), "/d");
  ASSERT_TRUE(world.get(later.remove("svc", "permanent")));
  EXPECT_EQ(world.descendants("/d/svc"), 0u);
}

TEST(Registry, CancelledAddLeavesNoNode) {
  for (int nth = 1; nth <= 5; ++nth) {
    RecipeWorld world({.clients = 1});
    Registry registry(world.client(0), "/d");
    std::stop_source stop;
    world.at_request(0, "", nth, [&] { stop.request_stop(); });
    const auto added = world.get(registry.add(instance("a"), Wait::forever(stop.get_token())));
    world.run_for(milliseconds(1000));
    EXPECT_EQ(world.exists("/d/svc/a"), added.has_value());
  }
}

// --- the provider ---

TEST(Provider, ChoosesFromEnabledInstances) {
  RecipeWorld world({.clients = 2});
  Registry registry(world.client(0), "/d");
  Provider provider(world.client(1), "/d", "svc", {.pick = Pick::kRoundRobin});
  ASSERT_TRUE(world.get(provider.start()));
  EXPECT_EQ(provider.choose(), std::nullopt);
  Instance off = instance("off");
  off.enabled = false;
  ASSERT_TRUE(world.get(registry.add(off)));
  ASSERT_TRUE(world.get(registry.add(instance("a"))));
  ASSERT_TRUE(world.get(registry.add(instance("b"))));
  OtherClient(world, 0).put("/d/svc/empty", "");
  OtherClient(world, 0).put("/d/svc/address", "10.0.0.1");
  world.run_for(milliseconds(100));
  EXPECT_EQ(ids(provider), (Names{"a", "b"}));
  EXPECT_NE(provider.choose()->id, provider.choose()->id);
  provider.note_error(instance("a"));
  provider.note_error(instance("a"));
  for (int i = 0; i < 4; ++i) EXPECT_EQ(provider.choose()->id, "b");
  world.run_for(milliseconds(31'000));
  EXPECT_NE(provider.choose()->id, provider.choose()->id);
}

TEST(Provider, ReadsTheListAgainAfterEveryFault) {
  with_every_client_fault(2, [](RecipeWorld& world, const ClientFault& fault) {
    OtherClient other(world, 1);
    other.put("/d/svc/a", to_json(instance("a", 1)));
    other.put("/d/svc/b", to_json(instance("b", 1)));
    Provider provider(world.client(0), "/d", "svc");
    ASSERT_TRUE(world.get(provider.start()));
    fault.strike(world);
    EXPECT_TRUE(provider.choose());  // It uses the last known list.
    other.set("/d/svc/a", to_json(instance("a", 2)));
    other.remove("/d/svc/b");
    other.put("/d/svc/c", to_json(instance("c", 3)));
    world.run_for(milliseconds(500));
    fault.heal(world);
    world.run_for(milliseconds(15'000));
    EXPECT_EQ(ids(provider), (Names{"a", "c"}));
    EXPECT_EQ(provider.instances().front().port, 2);
    EXPECT_EQ(provider.staleness(), Clock::duration::zero());
  });
}

TEST(Provider, ReportsForHowLongItsListIsStale) {
  RecipeWorld world({.clients = 2});
  Provider provider(world.client(0), "/d", "svc");
  ASSERT_TRUE(world.get(provider.start()));
  EXPECT_EQ(provider.staleness(), Clock::duration::zero());
  world.cut(0);
  ASSERT_TRUE(world.run_until([&] { return world.client(0).state() == ConnectionState::kSuspended; }));
  world.run_for(milliseconds(2000));
  EXPECT_GE(provider.staleness(), milliseconds(2000));
}

}  // namespace
}  // namespace drover::discovery
