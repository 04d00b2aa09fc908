// SPDX-License-Identifier: Apache-2.0
//
// Transactions: the result of prepare. The same bytes are logged, sent to followers, and applied.
//
//   entry = TxnHeader (32 bytes) + record by type + optional TxnDigest (12 bytes)
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error_code.h"
#include "base/ids.h"
#include "wire/jute.h"
#include "wire/records.h"

namespace drover::wire {

struct TxnHeader {
  SessionId session{};
  std::int32_t cxid = 0;
  Zxid zxid{};
  std::int64_t time_ms = 0;
  OpCode type{};
};
inline constexpr std::size_t kTxnHeaderBytes = 32;
void encode(Writer& w, const TxnHeader& header);
TxnHeader decode_txn_header(Reader& r);
// The zxid of an entry of at least kTxnHeaderBytes bytes, without decoding it.
inline Zxid zxid_of_entry(std::string_view entry) { return Zxid{load_be<std::int64_t>(entry.data() + 12)}; }
// The time at which it was made, in milliseconds since 1970.
inline std::int64_t time_of_entry(std::string_view entry) { return load_be<std::int64_t>(entry.data() + 20); }
// The probable path of such an entry, or "". Only a hint.
std::string_view likely_path_of_entry(std::string_view entry);

// create, create2, createContainer, createTTL: the header's type says which.
struct CreateTxn {
  std::string_view path;
  Nullable data;
  std::string_view acl;  // bytes of a vector<ACL>
  bool ephemeral = false;
  std::int32_t parent_cversion = -1;  // the parent's new cversion; -1 in logs before 3.4
  std::int64_t ttl_ms = 0;
};
struct DeleteTxn {
  std::string_view path;
};
struct SetDataTxn {
  std::string_view path;
  Nullable data;
  std::int32_t version = 0;
};
struct SetAclTxn {
  std::string_view path;
  std::string_view acl;  // bytes of a vector<ACL>
  std::int32_t version = 0;
};
struct CheckTxn {
  std::string_view path;
  std::int32_t version = 0;
};
struct CreateSessionTxn {
  std::int32_t timeout_ms = 0;
};
struct CloseSessionTxn {
  std::vector<std::string_view> paths;
};
struct ErrorTxn {
  ErrorCode error = ErrorCode::kOk;
};
struct SubTxn {
  OpCode type{};
  std::string_view record;
};
struct MultiTxn {
  std::vector<SubTxn> txns;
};

using TxnRecord = std::variant<CreateTxn, DeleteTxn, SetDataTxn, SetAclTxn, CheckTxn, CreateSessionTxn,
                               CloseSessionTxn, ErrorTxn, MultiTxn>;

void encode(Writer& w, OpCode type, const CreateTxn& txn);
void encode(Writer& w, const DeleteTxn& txn);
void encode(Writer& w, const SetDataTxn& txn);
void encode(Writer& w, const SetAclTxn& txn);
void encode(Writer& w, const CheckTxn& txn);
void encode(Writer& w, const CreateSessionTxn& txn);
void encode(Writer& w, const ErrorTxn& txn);
void encode_paths(Writer& w, std::span<const std::string> paths);

// The record of one type; nullopt if the bytes are not such a record. `in_multi` allows `check` and forbids
// types that a multi cannot contain.
std::optional<TxnRecord> decode_txn_record(Reader& r, OpCode type, bool in_multi = false);

inline constexpr std::int32_t kDigestVersion = 2;
inline constexpr std::size_t kTxnDigestBytes = 12;
struct TxnDigest {
  std::int32_t version = kDigestVersion;
  std::uint64_t tree_digest = 0;
};
void encode(Writer& w, const TxnDigest& digest);

struct TxnEntry {
  TxnHeader header;
  TxnRecord record;
  std::optional<TxnDigest> digest;
};
std::optional<TxnEntry> decode_entry(std::string_view entry);

}  // namespace drover::wire
