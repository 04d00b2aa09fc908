// SPDX-License-Identifier: Apache-2.0
//
// Services and who offers them: instances register, and those who need one choose.
//
//   Registry registry(client, "/services");
//   unwrap(sync_wait(registry.add({.name = "db", .id = "db-1", .address = "10.0.0.3", .port = 5432}, wait)));
//
//   Provider db(client, "/services", "db");
//   unwrap(sync_wait(db.start(wait)));
//   if (auto instance = db.choose()) connect(instance->address, *instance->port);
//
// An instance is kept registered until it is removed or the Registry goes, through lost connections and
// sessions. A reconnect alone writes nothing. The id of another process is never taken over: kIdConflict.
// What was removed stays removed, whatever connection comes back. A Provider chooses from the last list it
// knows; staleness() says for how long it could not be told of changes.
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
  kDynamic,            // gone with the session
  kDynamicSequential,  // the same, in a node "_c_<uuid>-<id><number>"
  kStatic,             // stays until it is removed, or its Registry goes
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
  std::int64_t registered_ms = 0;  // 0: when it is registered
  ServiceType type = ServiceType::kDynamic;
  std::vector<UriPart> uri_spec = {};
  bool enabled = true;  // false: registered, and not to be chosen
  friend bool operator==(const Instance&, const Instance&) = default;
};

// As Curator writes it. Java needs the name of a class with an object as payload; `java_class` is put into
// one that names none.
std::string to_json(const Instance& instance, std::string_view java_class = "java.util.LinkedHashMap");
// Fields that are not known are ignored; those that may be missing are. kBadData: it is no instance.
Result<Instance> instance_of(std::string_view json);

class Registry {
 public:
  Registry(Client client, std::string base);
  Registry(Registry&&) noexcept = default;
  Registry& operator=(Registry&&) noexcept = default;

  // Returns when it is registered. The same name and id again: what is said now replaces what was. So it does
  // if somebody else has left a kStatic or kPermanent one: those have no owner. If another session has
  // registered it, waits for that to end, for twice the session timeout at most: a process that crashed gets
  // its id back. kIdConflict: the other one is alive.
  Task<Result<void>> add(Instance instance, Wait wait = {});
  // Removes it, also one that a Registry of another time has left (kStatic, kPermanent). One that replaces
  // such a node in the round trip between the last look and the removal goes too (Client::remove_surely()).
  Task<Result<void>> remove(std::string name, std::string id, Wait wait = {});
  // Is it in the tree, as far as is known?
  bool is_registered(const std::string& name, const std::string& id) const;

  // --- of everybody's ---
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

  // Begins, and returns when the list is known.
  Task<Result<void>> start(Wait wait = {});

  // --- from any thread ---
  // None: there is no instance that is enabled and not down.
  std::optional<Instance> choose(std::string_view key = {});
  std::vector<Instance> instances() const;  // the enabled ones, sorted by id
  void note_error(const Instance& instance);
  // For kLeastBusy and kTwoChoices: a call to it begins, and ends.
  void begin(const Instance& instance);
  void end(const Instance& instance);
  // Zero while every change is told; otherwise the time since then.
  Clock::duration staleness() const;

 private:
  class State;
  std::shared_ptr<State> state_;
};

}  // namespace drover::discovery
