// SPDX-License-Identifier: Apache-2.0
//
// Names for values: the first client that binds a name has it.
//
//   NameService names(client, "/names");
//   unwrap(sync_wait(names.bind("db", "10.0.0.3:5432")));          // kNodeExists: it is bound already
//   std::string where = unwrap(sync_wait(names.resolve("db"))).data;
//   unwrap(sync_wait(names.rename("db", "db-old")));
//
// Bindings are plain nodes <root>/<name> with the value as data: persistent, ephemeral (deleted with this
// session) or with a TTL. After a lost reply, bind() looks for its node: an ephemeral one is ours if this
// session owns it, another one if it is new and has our value. So two clients that bind one name to the same
// value at the same time may both succeed. rebind() and rename() return maybe_applied() if the outcome is
// unknown. Ephemeral bindings end with their session; the caller binds again (PersistentNode does it by
// itself).
//
// Curator: plain operations. kazoo: the same.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "drover/client.h"

namespace drover::recipes {

struct BindOptions {
  bool ephemeral = false;
  std::chrono::milliseconds ttl{0};  // not zero: deleted if it is not bound again within this time
  std::vector<Acl> acl = {};
};

class NameService {
 public:
  NameService(Client client, std::string root) : client_(std::move(client)), root_(std::move(root)) {}

  Task<Result<Stat>> bind(std::string name, std::string value, BindOptions options = {},
                          Wait wait = {}) const;
  // Binds a unique name "<prefix><number>" and returns it.
  Task<Result<std::string>> bind_unique(std::string prefix, std::string value, BindOptions options = {},
                                        Wait wait = {}) const;
  // Changes the value of a bound name; with a version, only if it is the current one.
  Task<Result<Stat>> rebind(std::string name, std::string value, Version expected = Version::kAny,
                            Wait wait = {}) const;
  // Success if it is not bound. With `czxid` (of resolve()), it removes only that binding. A binding that
  // replaces it between the last check and the removal (one round trip) is removed, too
  // (Client::remove_surely()).
  Task<Result<void>> unbind(std::string name, std::optional<Zxid> czxid = {}, Wait wait = {}) const;
  // kNoNode: it is not bound.
  Task<Result<NodeData>> resolve(std::string name, Wait wait = {}) const;
  Task<Result<NodeData>> resolve(std::string name, const Watch& watch, Wait wait = {}) const;
  Task<Result<std::vector<std::string>>> names(Wait wait = {}) const;
  // Binds the new name to the same value and removes the old one, in one transaction. An ephemeral binding
  // then belongs to this session.
  Task<Result<void>> rename(std::string from, std::string to, Wait wait = {}) const;

 private:
  std::string path_of(const std::string& name) const;

  Client client_;
  std::string root_;
};

}  // namespace drover::recipes
