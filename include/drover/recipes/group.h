// SPDX-License-Identifier: Apache-2.0
//
// Group membership: members announce themselves, and all clients see the list.
//
//   Group group(client, "/workers");
//   GroupMember me = unwrap(sync_wait(group.join("host-7", "10.0.0.7:80", wait)));   // kIdConflict: taken
//   unwrap(sync_wait(group.start(wait)));
//   for (const Member& each : group.members()) use(each.id, each.data);
//   unwrap(sync_wait(group.until([](const auto& all) { return all.size() >= 3; }, wait)));
//
// A member is in the list as long as its session lives, and returns by itself in its next session. An id
// belongs to one session: a second process with the same id gets an error and does not overwrite the first.
// members() is a TreeCache's view: while disconnected, the last known one (is_fresh() is false). It contains
// ourselves only if our node exists; GroupMember::is_registered() says so.
//
// Curator: GroupMember (its layout is the default). kazoo: Party, ShallowParty (layouts to read and to join).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "drover/client.h"
#include "drover/recipes/persistent_node.h"

namespace drover::recipes {

struct Member {
  std::string id;
  std::string data;
  std::string node;  // the name of its node
  Zxid joined{};     // grows with every member
  friend bool operator==(const Member&, const Member&) = default;
};

enum class GroupLayout : std::uint8_t {
  kCurator,       // <path>/<id>, the data is the member's
  kParty,         // <path>/<32 hex>__party__, the data is the id
  kShallowParty,  // <path>/<32 hex>-<id>; kazoo's have no data
};

// Our own membership. Its destructor leaves the group in the background.
class GroupMember {
 public:
  // Safe to call from any thread, also without a connection; the last value wins.
  void set_data(std::string data) { node_.set_data(std::move(data)); }
  bool is_registered() const { return node_.is_there(); }
  std::string node() const { return *node_.path(); }
  Task<Result<void>> flush(Wait wait = {}) { return node_.flush(std::move(wait)); }
  Task<Result<void>> leave(Wait wait = {}) { return node_.close(std::move(wait)); }

 private:
  friend class Group;
  explicit GroupMember(PersistentNode node) : node_(std::move(node)) {}
  PersistentNode node_;
};

class Group {
 public:
  using OnConflict = PersistentNodeOptions::OnConflict;

  Group(Client client, std::string path, GroupLayout layout = GroupLayout::kCurator);

  // Announces a member. If another client has the id: kIdConflict, or waits until it is free.
  Task<Result<GroupMember>> join(std::string id, std::string data, Wait wait = {},
                                 OnConflict on_conflict = OnConflict::kFail) const;
  // A member with a unique name; kCurator only.
  Task<Result<GroupMember>> join_unnamed(std::string data, Wait wait = {}) const;

  // Starts to follow the list, and returns when it is known.
  Task<Result<void>> start(Wait wait = {}) const;
  // Waits until the list satisfies the condition; returns that list.
  using Condition = std::function<bool(const std::vector<Member>&)>;
  Task<Result<std::vector<Member>>> until(Condition condition, Wait wait = {}) const;

  // --- safe to call from any thread ---
  std::vector<Member> members() const;  // sorted by id
  bool is_fresh() const;
  // Calls back on the executor after every change, until the returned object is destroyed.
  Client::Subscription on_change(std::function<void(const std::vector<Member>&)> callback) const;

 private:
  class State;
  static Task<Result<GroupMember>> join(std::shared_ptr<State> state, std::string name, std::string data,
                                        PersistentNodeOptions options, Wait wait);
  static Task<Result<std::vector<Member>>> until(std::shared_ptr<State> state, Condition condition,
                                                 Wait wait);

  std::shared_ptr<State> state_;
};

}  // namespace drover::recipes
