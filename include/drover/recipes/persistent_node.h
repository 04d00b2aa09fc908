// SPDX-License-Identifier: Apache-2.0
//
// A node that stays: it is created again if it is deleted, and in the next session if this one expires.
//
//   PersistentNode here(client, "/live/host-7", "10.0.0.7:80");
//   std::string path = unwrap(sync_wait(here.start(Wait::within(5s))));
//   here.set_data("10.0.0.7:81");      // written when there is a connection; the last value wins
//   unwrap(sync_wait(here.close()));   // or the destructor: it is removed in the background
//
// An ephemeral node counts as ours only if this session owns it. If our earlier session owns it, we wait
// until the server deletes it, and create ours at once. A node of another client is a conflict. Others may
// change the data; it is written when the node is created and by set_data().
//
// After a permanent error (kNoAuth) it retries at growing intervals, and failure() returns the error.
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
  // The name is "_c_<uuid>-<name>" and unique. Sequential nodes always have such a name. It stays the same in
  // all sessions.
  bool protect = false;
  // Not zero: a container that is kept by its child "touch", which has this TTL and is written twice within
  // it. It outlives sessions, and disappears some time after this process. `mode` is ignored then.
  std::chrono::milliseconds ttl{0};
  enum class OnConflict : std::uint8_t {
    kWait,  // wait until the other node is gone
    // If it still exists after twice the session timeout, start() and failure() return kIdConflict. Until
    // then it may belong to a crashed process, perhaps this one. The node is still created when the name
    // becomes free.
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

  // Starts, and returns the node's path when it exists for the first time.
  Task<Result<std::string>> start(Wait wait = {});
  // Waits until the last set_data() before the call is in the tree.
  Task<Result<void>> flush(Wait wait = {});
  // Removes the node for good, also one that existed before and was adopted, if it is not ephemeral. After an
  // error it may still exist, such as kNotEmpty: another client has created children.
  Task<Result<void>> close(Wait wait = {});

  // --- safe to call from any thread ---
  void set_data(std::string data);
  std::string data() const;
  // True if the node existed and was ours when last read. Unknown while disconnected.
  bool is_there() const;
  std::optional<std::string> path() const;
  std::optional<Error> failure() const;

 private:
  class State;
  std::shared_ptr<State> state_;
};

}  // namespace drover::recipes
