// SPDX-License-Identifier: Apache-2.0
//
// The records that several protocols share: op codes, Stat, ACL.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "wire/jute.h"

namespace drover::wire {

enum class OpCode : std::int32_t {
  kNotification = 0,
  kCreate = 1,
  kDelete = 2,
  kExists = 3,
  kGetData = 4,
  kSetData = 5,
  kGetAcl = 6,
  kSetAcl = 7,
  kGetChildren = 8,
  kSync = 9,
  kPing = 11,
  kGetChildren2 = 12,
  kCheck = 13,
  kMulti = 14,
  kCreate2 = 15,
  kReconfig = 16,
  kCheckWatches = 17,
  kRemoveWatches = 18,
  kCreateContainer = 19,
  kDeleteContainer = 20,
  kCreateTtl = 21,
  kMultiRead = 22,
  kAuth = 100,
  kSetWatches = 101,
  kSasl = 102,
  kGetEphemerals = 103,
  kGetAllChildrenNumber = 104,
  kSetWatches2 = 105,
  kAddWatch = 106,
  kWhoAmI = 107,
  kCreateSession = -10,
  kCloseSession = -11,
  kError = -1,
};

// ZooKeeper's short name of an op, as `cons` prints it ("GETD"); "NA" for others.
std::string_view short_name_of(OpCode op);

// A node's attributes as clients see them: 68 bytes on the wire.
struct Stat {
  Zxid czxid{};
  Zxid mzxid{};
  std::int64_t ctime = 0;
  std::int64_t mtime = 0;
  std::int32_t version = 0;
  std::int32_t cversion = 0;
  std::int32_t aversion = 0;
  std::int64_t ephemeral_owner = 0;
  std::int32_t data_length = 0;
  std::int32_t num_children = 0;
  Zxid pzxid{};

  friend bool operator==(const Stat&, const Stat&) = default;
};
inline constexpr std::size_t kStatBytes = 68;
void encode(Writer& w, const Stat& stat);
Stat decode_stat(Reader& r);

// The attributes as stored in files: cversion and ephemeralOwner are raw. 60 bytes.
struct StatPersisted {
  Zxid czxid{};
  Zxid mzxid{};
  std::int64_t ctime = 0;
  std::int64_t mtime = 0;
  std::int32_t version = 0;
  std::int32_t cversion = 0;
  std::int32_t aversion = 0;
  std::int64_t ephemeral_owner = 0;
  Zxid pzxid{};

  friend bool operator==(const StatPersisted&, const StatPersisted&) = default;
};
inline constexpr std::size_t kStatPersistedBytes = 60;
void encode(Writer& w, const StatPersisted& stat);
StatPersisted decode_stat_persisted(Reader& r);

enum Permission : std::int32_t {
  kRead = 1,
  kWrite = 2,
  kCreate = 4,
  kDelete = 8,
  kAdmin = 16,
  kAll = 31,
};

struct Identity {
  std::string scheme;
  std::string id;
  friend bool operator==(const Identity&, const Identity&) = default;
};

struct Acl {
  std::int32_t perms = 0;
  Identity who;
  friend bool operator==(const Acl&, const Acl&) = default;
};

// ACL lists are mostly passed as the bytes of their jute vector. Equal lists have equal bytes, and the open
// list, which nearly every node has, is recognised without decoding.
void encode_acl_list(Writer& w, const std::vector<Acl>& acl);
// Null schemes and ids read as empty; the server checks for nulls before it resolves a list.
std::vector<Acl> decode_acl_list(Reader& r);
// Java has different errors for a null scheme and a null id. Both are rare, so a second pass is cheap enough.
enum class AclNulls { kNone, kScheme, kId };
AclNulls first_null_in_acl_list(Reader r);
// Skips a vector<ACL> and returns its bytes.
std::string_view skip_acl_list(Reader& r);

// world:anyone:cdrwa as a jute vector.
const std::string& open_acl_bytes();

}  // namespace drover::wire
