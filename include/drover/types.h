// SPDX-License-Identifier: Apache-2.0
//
// What nodes are made of, and what operations give and take.
//
// Bytes are std::string everywhere: a node's data is bytes, whatever they mean to their owner.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "drover/ids.h"

namespace drover {

// Of a node's data or ACL: counts its changes.
enum class Version : std::int32_t { kAny = -1 };

struct Stat {
  Zxid czxid{};  // of the create; grows over the whole ensemble and never repeats
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
std::vector<Acl> open_acl();         // everything for everybody
std::vector<Acl> creator_all_acl();  // everything for whom add_auth() has proved
std::vector<Acl> read_acl();         // reading for everybody

enum class CreateMode : std::int32_t {
  kPersistent = 0,
  kEphemeral = 1,  // goes with the session that made it
  kPersistentSequential = 2,
  kEphemeralSequential = 3,
  kContainer = 4,      // goes some time after its last child
  kPersistentTtl = 5,  // goes when it has had no child and no change for CreateOptions::ttl
  kPersistentSequentialTtl = 6,
};

struct CreateOptions {
  CreateMode mode = CreateMode::kPersistent;
  std::vector<Acl> acl = {};  // empty: open_acl()
  std::chrono::milliseconds ttl{0};
  // Missing parents are made too, as containers where the server knows them and persistent otherwise.
  bool parents = false;
  // Servers tell a node without data from one whose data is empty; then `data` means nothing.
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
  std::vector<std::string> names;  // in no order
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
  std::string members = {};        // instead of the two: everybody
  std::int64_t from_version = -1;  // only if this is the present one (config().stat.mzxid); -1: whichever is
};
struct Identity {
  std::string scheme;
  std::string id;
};

enum class ConnectionState : std::uint8_t {
  kConnecting,  // not connected so far
  kConnected,
  kReadOnly,    // connected to a server without a quorum
  kSuspended,   // the connection is lost; the session may live on
  kExpired,     // the session is gone, and all its ephemerals; a new one follows, if so chosen
  kAuthFailed,  // final
  kClosed,      // final
};
struct StateEvent {
  ConnectionState state{};
  SessionId session{};
  friend bool operator==(const StateEvent&, const StateEvent&) = default;
};

}  // namespace drover
