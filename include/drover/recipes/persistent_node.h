// SPDX-License-Identifier: Apache-2.0
//
// A node that stays: made again when somebody deletes it, and in the next session when this one has expired.
//
//   PersistentNode here(client, "/live/host-7", "10.0.0.7:80");
//   std::string path = unwrap(sync_wait(here.start(Wait::within(5s))));
//   here.set_data("10.0.0.7:81");      // at once or when there is a connection; what was set last wins
//   unwrap(sync_wait(here.close()));   // or the destructor: it is removed in the background
//
// An ephemeral is only ever taken for ours if this session owns it. One of a session we had before is waited
// out: the server deletes it, and ours follows at once. One of somebody else is a conflict. Others may change
// the data; it is written when the node is made and when set_data() says something new.
//
// After an error that time does not cure (kNoAuth) it tries more and more seldom, and failure() tells.
//
// Curator: PersistentNode, PersistentTtlNode. kazoo: nothing.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "drover/client.h"

namespace drover::recipes {

struct PersistentNodeOptions {
  CreateMode mode = CreateMode::kEphemeral;  // or kPersistent, kContainer, and the sequential ones
  std::vector<Acl> acl = {};
  // The name is "_c_<uuid>-<name>", nobody else's. Sequential nodes always have such a name. Once given, it
  // stays the same through all sessions.
  bool protect = false;
  // Not zero: a container that is held by its child "touch", which has this time to live and is touched twice
  // in it. It outlives sessions, and goes some time after this process. `mode` has no meaning then.
  std::chrono::milliseconds ttl{0};
  enum class OnConflict : std::uint8_t {
    kWait,  // until the other one is gone
    // If it is still there after twice the session timeout, start() and failure() say kIdConflict. Until then
    // it may belong to a process that crashed, perhaps this one. The node is still taken when it becomes
    // free.
    kFail,
  };
  OnConflict on_conflict = OnConflict::kWait;
};

class PersistentNode {
 public:
  PersistentNode(Client client, std::string path, std::string data, PersistentNodeOptions options = {});
  PersistentNode(PersistentNode&&) noexcept = default;
  PersistentNode& operator=(PersistentNode&& other) noexcept;
  ~PersistentNode();

  // Begins, and gives the node's path when it is there for the first time.
  Task<Result<std::string>> start(Wait wait = {});
  // Until what was set last before the call is in the tree.
  Task<Result<void>> flush(Wait wait = {});
  // Removes the node, for good; also one that was there before and was taken over, if it is not an ephemeral.
  // With an error it may still be there, such as kNotEmpty: somebody has put nodes below it.
  Task<Result<void>> close(Wait wait = {});

  // --- from any thread ---
  void set_data(std::string data);
  std::string data() const;
  // The node was there, and ours, when last looked at. While disconnected nobody knows.
  bool is_there() const;
  std::optional<std::string> path() const;
  std::optional<Error> failure() const;

 private:
  class State;
  std::shared_ptr<State> state_;
};

}  // namespace drover::recipes
