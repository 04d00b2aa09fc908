// SPDX-License-Identifier: Apache-2.0
//
// Nodes, and the parameters and results of operations.
//
// Bytes are std::string everywhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "drover/ids.h"

namespace drover {

// Counts the changes of a node's data or ACL.
enum class Version : std::int32_t { kAny = -1 };

struct Stat {
  Zxid czxid{};  // of the create; unique and growing over the whole ensemble
  Zxid mzxid{};  // of the last change of the data
  std::int64_t ctime_ms = 0;
  std::int64_t mtime_ms = 0;
  Version version{};
  std::int32_t cversion = 0;  // creates and deletes of children
  Version aversion{};
  SessionId ephemeral_owner{};  // 0: not ephemeral
  std::int32_t data_length = 0;
  std::int32_t num_children = 0;
  Zxid pzxid{};  // of the last create or delete of a child

  bool is_ephemeral() const { return ephemeral_owner != SessionId{}; }
  friend bool operator==(const Stat&, const Stat&) = default;
};

enum class Permission : std::int32_t {
  kRead = 1,
  kWrite = 2,
  kCreate = 4,
  kDelete = 8,
  kAdmin = 16,
  kAll = 31
};
constexpr Permission operator|(Permission a, Permission b) {
  return static_cast<Permission>(raw(a) | raw(b));
}

struct Acl {
  Permission permissions = Permission::kAll;
  std::string scheme = "world";
  std::string id = "anyone";
  friend bool operator==(const Acl&, const Acl&) = default;
};
std::vector<Acl> open_acl();         // all permissions for everyone
std::vector<Acl> creator_all_acl();  // all permissions for the identities of add_auth()
std::vector<Acl> read_acl();         // read permission for everyone

enum class CreateMode : std::int32_t {
  kPersistent = 0,
  kEphemeral = 1,  // deleted with its session
  kPersistentSequential = 2,
  kEphemeralSequential = 3,
  kContainer = 4,      // deleted some time after its last child
  kPersistentTtl = 5,  // deleted after CreateOptions::ttl without a child and without a change
  kPersistentSequentialTtl = 6,
};

struct CreateOptions {
  CreateMode mode = CreateMode::kPersistent;
  std::vector<Acl> acl = {};  // empty: open_acl()
  std::chrono::milliseconds ttl{0};
  // Create missing parents, as containers if the server supports them, otherwise persistent.
  bool parents = false;
  // Null data, which servers distinguish from empty data; `data` is ignored then.
  bool without_data = false;
};

struct NodeData {
  std::string data;
  Stat stat;
  bool is_without_data = false;  // as CreateOptions::without_data
};
struct Created {
  std::string path;  // with the sequence number, if there is one
  Stat stat;
};
struct Children {
  std::vector<std::string> names;  // unordered
  Stat stat;                       // of the parent
};
struct AclData {
  std::vector<Acl> acl;
  Stat stat;
};
// Lines as in the dynamic configuration file: either what changes, or the whole membership.
struct ConfigChange {
  std::string joining = {};        // "server.4=host:2888:3888;2181,server.5=..."
  std::string leaving = {};        // "2,3"
  std::string members = {};        // instead of the two: all members
  std::int64_t from_version = -1;  // only if this is the current one (config().stat.mzxid); -1: any
};
struct Identity {
  std::string scheme;
  std::string id;
};

enum class ConnectionState : std::uint8_t {
  kConnecting,  // not connected yet
  kConnected,
  kReadOnly,    // connected to a read-only server
  kSuspended,   // the connection is lost; the session may live on
  kExpired,     // the session and its ephemeral nodes are gone; a new one follows with Options::reopen
  kAuthFailed,  // final
  kClosed,      // final
};
struct StateEvent {
  ConnectionState state{};
  SessionId session{};
  std::string reason = {};  // with kAuthFailed: why
  friend bool operator==(const StateEvent&, const StateEvent&) = default;
};

}  // namespace drover
