// SPDX-License-Identifier: Apache-2.0
//
// Messages from clients: the handshake, and the body of every operation.
//
// Decoders return nullopt if the bytes are not such a record; the server then answers MARSHALLINGERROR. A
// null path is also nullopt; the Java server mostly fails there with a null pointer exception. If Java has
// another answer to null, the field is Nullable. Bytes after a record are ignored, as in Java. Views point
// into the frame.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "wire/jute.h"
#include "wire/records.h"

namespace drover::wire {

struct RequestHeader {
  std::int32_t xid = 0;
  OpCode op{};
};
inline constexpr std::size_t kRequestHeaderBytes = 8;

// xids with a special meaning.
inline constexpr std::int32_t kNotificationXid = -1;
inline constexpr std::int32_t kPingXid = -2;
inline constexpr std::int32_t kAuthXid = -4;

// The first frame of a connection; it has no RequestHeader.
struct ConnectRequest {
  std::int32_t protocol_version = 0;
  Zxid last_zxid_seen{};
  std::int32_t timeout_ms = 0;
  SessionId session{};
  std::string_view password;
  bool read_only = false;
  bool has_read_only = false;  // clients before 3.4 do not send the byte and get none back
};
std::optional<ConnectRequest> decode_connect_request(std::string_view frame);
void encode(Writer& w, const ConnectRequest& request);

struct ConnectResponse {
  std::int32_t timeout_ms = 0;  // 0: the session is invalid or expired
  SessionId session{};
  std::string_view password;
  bool read_only = false;
  bool has_read_only = false;
};
void encode(Writer& w, const ConnectResponse& response);
std::optional<ConnectResponse> decode_connect_response(std::string_view frame);
inline constexpr std::size_t kPasswordBytes = 16;

enum CreateFlags : std::int32_t {
  kPersistent = 0,
  kEphemeral = 1,
  kPersistentSequential = 2,
  kEphemeralSequential = 3,
  kContainer = 4,
  kPersistentTtl = 5,
  kPersistentSequentialTtl = 6,
};
inline bool is_create_flag(std::int32_t f) { return f >= kPersistent && f <= kPersistentSequentialTtl; }
inline bool is_ephemeral(std::int32_t f) { return f == kEphemeral || f == kEphemeralSequential; }
inline bool is_sequential(std::int32_t f) {
  return f == kPersistentSequential || f == kEphemeralSequential || f == kPersistentSequentialTtl;
}
inline bool is_ttl(std::int32_t f) { return f == kPersistentTtl || f == kPersistentSequentialTtl; }

// create, create2, createContainer and, with a ttl, createTTL.
struct CreateRequest {
  Nullable path;
  Nullable data;
  std::string_view acl;  // bytes of a vector<ACL>
  std::int32_t flags = 0;
  std::int64_t ttl_ms = -1;
};
struct DeleteRequest {
  std::string_view path;
  std::int32_t version = 0;
};
struct SetDataRequest {
  std::string_view path;
  Nullable data;
  std::int32_t version = 0;
};
struct SetAclRequest {
  std::string_view path;
  std::string_view acl;  // bytes of a vector<ACL>
  std::int32_t version = 0;
};
struct CheckRequest {
  std::string_view path;
  std::int32_t version = 0;
};
// exists, getData, getChildren, getChildren2
struct PathWatchRequest {
  std::string_view path;
  bool watch = false;
};
// checkWatches and removeWatches carry a WatcherType, addWatch a mode.
struct PathTypeRequest {
  Nullable path;
  std::int32_t type = 0;
};
struct SetWatchesRequest {
  Zxid relative_zxid{};
  std::vector<std::string_view> data;
  std::vector<std::string_view> exist;
  std::vector<std::string_view> child;
  std::vector<std::string_view> persistent;
  std::vector<std::string_view> persistent_recursive;
};
struct AuthRequest {
  std::int32_t type = 0;
  Nullable scheme;
  Nullable auth;
};

// Either servers that join and ids that leave, or all members.
struct ReconfigRequest {
  Nullable joining;
  Nullable leaving;
  Nullable new_members;
  std::int64_t config_version = -1;  // the present one; -1: any
};

std::optional<CreateRequest> decode_create(Reader& r, OpCode op);
std::optional<DeleteRequest> decode_delete(Reader& r);
std::optional<SetDataRequest> decode_set_data(Reader& r);
std::optional<SetAclRequest> decode_set_acl(Reader& r);
std::optional<CheckRequest> decode_check(Reader& r);
std::optional<PathWatchRequest> decode_path_watch(Reader& r);
std::optional<PathTypeRequest> decode_path_type(Reader& r);
// getACL, getAllChildrenNumber, deleteContainer
std::optional<std::string_view> decode_path(Reader& r);
std::optional<SetWatchesRequest> decode_set_watches(Reader& r, OpCode op);
std::optional<AuthRequest> decode_auth(Reader& r);

std::optional<ReconfigRequest> decode_reconfig(Reader& r);

// One element of a multi or multiRead.
struct MultiOp {
  OpCode op{};
  std::variant<CreateRequest, DeleteRequest, SetDataRequest, CheckRequest, PathWatchRequest> request;
};
// All elements; nullopt if one is malformed or of unknown type, or if reads and writes are mixed. One request
// may have at most `ops_max` elements.
std::optional<std::vector<MultiOp>> decode_multi(Reader& r, std::size_t ops_max);
// Positions of the create2 elements of a multi; their transactions do not tell. Empty if it is not a valid
// multi.
std::vector<std::uint32_t> create2_in_multi(std::string_view body, std::size_t ops_max);
// True if a create, create2 or multi asks for an ephemeral node. False for malformed and for other requests.
bool creates_ephemeral(OpCode op, std::string_view body, std::size_t ops_max);

// Precedes each element of a multi request or response, and ends it.
struct MultiHeader {
  OpCode type{};
  bool done = false;
  std::int32_t error = 0;
};
void encode(Writer& w, const MultiHeader& header);
MultiHeader decode_multi_header(Reader& r);
inline constexpr MultiHeader kMultiEnd{OpCode::kError, true, -1};

}  // namespace drover::wire
