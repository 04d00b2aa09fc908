// SPDX-License-Identifier: Apache-2.0
//
// Service discovery: instances register, and clients choose one.
//
//   Registry registry(client, "/services");
//   unwrap(sync_wait(registry.add({.name = "db", .id = "db-1", .address = "10.0.0.3", .port = 5432}, wait)));
//
//   Provider db(client, "/services", "db");
//   unwrap(sync_wait(db.start(wait)));
//   if (auto instance = db.choose()) connect(instance->address, *instance->port);
//
// An instance stays registered across lost connections and sessions, until it is removed or the Registry is
// destroyed. A reconnect to the same session writes nothing. The id of another process is never taken over:
// kIdConflict. A removed instance does not return after a reconnect. A Provider chooses from the last known
// list; staleness() says how old that list may be.
//
// Nodes and JSON are Curator's (x-discovery): <base>/<service>/<id>.
//
// Curator: ServiceDiscovery, ServiceProvider. kazoo: nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "drover/client.h"
#include "drover/recipes/balancer.h"

namespace drover::discovery {

enum class ServiceType : std::uint8_t {
  kDynamic,            // deleted with the session
  kDynamicSequential,  // the same, in a node "_c_<uuid>-<id><number>"
  kStatic,             // stays until it is removed, or its Registry is destroyed
  kPermanent,          // stays until it is removed
};

struct UriPart {
  std::string value;
  bool variable = false;
  friend bool operator==(const UriPart&, const UriPart&) = default;
};

struct Instance {
  std::string name;
  std::string id;
  std::string address = {};
  std::optional<int> port = {};
  std::optional<int> ssl_port = {};
  std::string payload_json = {};   // any JSON value; empty: none
  std::int64_t registered_ms = 0;  // 0: the time of registration
  ServiceType type = ServiceType::kDynamic;
  std::vector<UriPart> uri_spec = {};
  bool enabled = true;  // false: registered, but not chosen
  friend bool operator==(const Instance&, const Instance&) = default;
};

// Curator's JSON. Java needs a class name in a payload that is an object; `java_class` is added if there is
// none.
std::string to_json(const Instance& instance, std::string_view java_class = "java.util.LinkedHashMap");
// Unknown fields are ignored, optional ones may be missing. kBadData: not an instance.
Result<Instance> instance_of(std::string_view json);

class Registry {
 public:
  Registry(Client client, std::string base);
  Registry(Registry&&) noexcept = default;
  Registry& operator=(Registry&&) noexcept = default;

  // Returns when it is registered. The same name and id again replaces the earlier registration; so does one
  // that replaces a kStatic or kPermanent instance of another client, because those have no owner. If another
  // session has registered it, waits at most twice the session timeout for its end, so that a crashed process
  // gets its id back. kIdConflict: the other one is alive.
  Task<Result<void>> add(Instance instance, Wait wait = {});
  // Removes it, also one that an earlier Registry has left (kStatic, kPermanent). A node that replaces it
  // between the last check and the removal (one round trip) is removed, too (Client::remove_surely()).
  Task<Result<void>> remove(std::string name, std::string id, Wait wait = {});
  // True if it is in the tree, as far as is known.
  bool is_registered(const std::string& name, const std::string& id) const;

  // --- instances of all clients ---
  Task<Result<std::vector<std::string>>> services(Wait wait = {}) const;
  Task<Result<std::vector<Instance>>> instances(const std::string& name, Wait wait = {}) const;

 private:
  class State;
  std::shared_ptr<State> state_;
};

struct ProviderOptions {
  Pick pick = Pick::kTwoChoices;
  BalancerOptions balancer = {};
};

class Provider {
 public:
  Provider(Client client, std::string base, std::string service, ProviderOptions options = {});
  Provider(Provider&&) noexcept = default;
  Provider& operator=(Provider&&) noexcept = default;

  // Starts, and returns when the list is known.
  Task<Result<void>> start(Wait wait = {});

  // --- safe to call from any thread ---
  // None: no instance is enabled and up.
  std::optional<Instance> choose(std::string_view key = {});
  std::vector<Instance> instances() const;  // the enabled ones, sorted by id
  void note_error(const Instance& instance);
  // Begin and end of a call to an instance, for kLeastBusy and kTwoChoices.
  void begin(const Instance& instance);
  void end(const Instance& instance);
  // Zero while the list is up to date; otherwise the time since it was.
  Clock::duration staleness() const;

 private:
  class State;
  std::shared_ptr<State> state_;
};

}  // namespace drover::discovery
