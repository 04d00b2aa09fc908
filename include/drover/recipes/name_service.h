// SPDX-License-Identifier: Apache-2.0
//
// Names for values: who binds a name first has it.
//
//   NameService names(client, "/names");
//   unwrap(sync_wait(names.bind("db", "10.0.0.3:5432")));          // kNodeExists: it is bound already
//   std::string where = unwrap(sync_wait(names.resolve("db"))).data;
//   unwrap(sync_wait(names.rename("db", "db-old")));
//
// Bindings are plain nodes <root>/<name> with the value as data: persistent, ephemeral (gone with this
// session) or with a time to live. After a lost answer a bind is looked for: an ephemeral is ours if this
// session owns it, another one if it is new and has our value; two who bind one name to the same value at the
// same time may then both be told that they have it. rebind() and rename() say maybe_applied() where it
// cannot be told. A session's end ends its ephemeral bindings; binding again is the caller's business
// (PersistentNode does it by itself).
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
  std::chrono::milliseconds ttl{0};  // not zero: goes when it was not bound anew for so long
  std::vector<Acl> acl = {};
};

class NameService {
 public:
  NameService(Client client, std::string root) : client_(std::move(client)), root_(std::move(root)) {}

  Task<Result<Stat>> bind(std::string name, std::string value, BindOptions options = {},
                          Wait wait = {}) const;
  // "<prefix><number>", and a name that nobody else has; gives the whole name.
  Task<Result<std::string>> bind_unique(std::string prefix, std::string value, BindOptions options = {},
                                        Wait wait = {}) const;
  // Another value for a name that is bound; with a version, only if that is the present one.
  Task<Result<Stat>> rebind(std::string name, std::string value, Version expected = Version::kAny,
                            Wait wait = {}) const;
  // That it is not bound is success. Give `czxid` (of resolve()) to unbind only what was seen there: as far
  // as Client::remove_surely() promises it. A binding that replaces it in the round trip between the last
  // look and the removal goes too.
  Task<Result<void>> unbind(std::string name, std::optional<Zxid> czxid = {}, Wait wait = {}) const;
  // kNoNode: it is not bound.
  Task<Result<NodeData>> resolve(std::string name, Wait wait = {}) const;
  Task<Result<NodeData>> resolve(std::string name, const Watch& watch, Wait wait = {}) const;
  Task<Result<std::vector<std::string>>> names(Wait wait = {}) const;
  // At once for all who look: the new name with the same value, and the old one gone. An ephemeral binding
  // becomes this session's.
  Task<Result<void>> rename(std::string from, std::string to, Wait wait = {}) const;

 private:
  std::string path_of(const std::string& name) const;

  Client client_;
  std::string root_;
};

}  // namespace drover::recipes
