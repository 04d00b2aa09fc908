// SPDX-License-Identifier: Apache-2.0
//
// A list of faults that hit one client. Recipes that keep something up to date are tested with all of them.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "sim/recipe_world.h"

namespace drover::recipes::testing {

using sim::RecipeWorld;
using std::chrono::milliseconds;

struct ClientFault {
  std::string name;
  // Hits client 0. Some faults let time pass, and some last until heal().
  std::function<void(RecipeWorld&)> strike;
  bool ends_session = false;

  static void heal(RecipeWorld& world) { world.heal(0); }
};

inline std::vector<ClientFault> client_faults() {
  return {
      {"nothing", [](RecipeWorld&) {}},
      {"connection lost", [](RecipeWorld& world) { world.disconnect(0); }},
      {"connection lost for some time",
       [](RecipeWorld& world) {
         world.disconnect(0);
         world.run_until([&] { return world.client(0).state() == ConnectionState::kSuspended; });
         world.cut(0);
       }},
      {"reply lost", [](RecipeWorld& world) { world.lose_reply(0, ""); }},
      {"second reply lost", [](RecipeWorld& world) { world.lose_reply(0, "", 2); }},
      {"third reply lost", [](RecipeWorld& world) { world.lose_reply(0, "", 3); }},
      {"request lost", [](RecipeWorld& world) { world.lose_request(0, ""); }},
      {"cut shorter than the session", [](RecipeWorld& world) { world.cut_for(0, milliseconds(1500)); }},
      {"cut longer than the session", [](RecipeWorld& world) { world.cut_for(0, milliseconds(9000)); }, true},
      {"session killed", [](RecipeWorld& world) { world.kill_session(0); }, true},
      {"server restarted", [](RecipeWorld& world) { world.restart_server(); }},
  };
}

// Runs the scenario with each fault, with one server and with three.
inline void with_every_client_fault(std::size_t clients,
                                    const std::function<void(RecipeWorld&, const ClientFault&)>& scenario) {
  for (const int servers : {1, 3}) {
    for (const ClientFault& fault : client_faults()) {
      SCOPED_TRACE(fault.name + ", servers: " + std::to_string(servers));
      RecipeWorld world({.seed = 7, .servers = servers, .clients = static_cast<int>(clients)});
      scenario(world, fault);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

// Changes the tree as another client would, and retries after connection losses.
class OtherClient {
 public:
  OtherClient(RecipeWorld& world, std::size_t client) : world_(world), client_(client) {}

  void put(const std::string& path, const std::string& data = "", CreateMode mode = CreateMode::kPersistent) {
    surely([&] { return world_.get(client().create(path, data, {.mode = mode, .parents = true})); },
           Errc::kNodeExists);
  }
  void set(const std::string& path, const std::string& data) {
    surely([&] { return world_.get(client().set(path, data)); }, Errc::kNoNode);
  }
  void remove(const std::string& path) {
    surely([&] { return world_.get(client().remove(path)); }, Errc::kNoNode);
  }
  Client& client() { return world_.client(client_); }

 private:
  // Retries until the change is applied. The error `done` on a retry means that the previous try was applied.
  template <class Try>
  void surely(Try attempt, Errc done) {
    for (bool again = false;; again = true) {
      const auto result = attempt();
      if (result || (again && result.error() == done)) return;
      ASSERT_EQ(result.error().error_class(), ErrorClass::kRecoverable) << result.error().to_text();
    }
  }

  RecipeWorld& world_;
  std::size_t client_;
};

}  // namespace drover::recipes::testing
