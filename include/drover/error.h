// SPDX-License-Identifier: Apache-2.0
//
// Errors as values: what went wrong, the class of the error, and whether the operation may have been applied
// nevertheless.
//
//   Result<NodeData> node = sync_wait(client.get("/app/config"));
//   if (!node && node.error() == Errc::kNoNode) ...
//   NodeData sure = unwrap(std::move(node));   // for those who prefer exceptions
#pragma once

#include <cstdint>
#include <exception>
#include <expected>
#include <string>
#include <string_view>
#include <utility>

namespace drover {

// Negative values come from the server, as on the wire; positive ones from the client and the recipes.
enum class Errc : std::int32_t {
  kSystemError = -1,
  kRuntimeInconsistency = -2,
  kDataInconsistency = -3,
  kConnectionLoss = -4,
  kMarshallingError = -5,
  kUnimplemented = -6,
  kOperationTimeout = -7,
  kBadArguments = -8,
  kUnknownSession = -12,
  kNewConfigNoQuorum = -13,
  kReconfigInProgress = -14,
  kApiError = -100,
  kNoNode = -101,
  kNoAuth = -102,
  kBadVersion = -103,
  kNoChildrenForEphemerals = -108,
  kNodeExists = -110,
  kNotEmpty = -111,
  kSessionExpired = -112,
  kInvalidCallback = -113,
  kInvalidAcl = -114,
  kAuthFailed = -115,
  kClosed = -116,  // this client was closed
  kSessionMoved = -118,
  kNotReadOnly = -119,
  kEphemeralOnLocalSession = -120,
  kNoWatcher = -121,
  kRequestTimeout = -122,
  kReconfigDisabled = -123,
  kSessionClosedRequireSaslAuth = -124,
  kQuotaExceeded = -125,
  kThrottledOp = -127,

  kDeadline = 1,     // Wait::deadline has passed
  kStopped = 2,      // Wait::stop was requested
  kBadConfig = 3,    // connect string, TLS files, or another option
  kWouldBlock = 4,   // sync_wait() on the executor, which would wait for itself
  kEndOfStream = 5,  // Stream::next() after the last value
  kBadReply = 6,     // the server's reply is malformed

  kLockLost = 20,           // a lock or another holding: its node or its session is gone
  kNotOwner = 21,           // the caller does not hold it, or no longer
  kWouldDeadlock = 22,      // the caller would wait for itself
  kLayoutMismatch = 23,     // names of another recipe or library in the directory
  kSequenceExhausted = 24,  // sequence numbers are about to wrap, and the layout does not support that
  kIdConflict = 25,         // another client uses this id
  kBrokenBarrier = 26,      // a waiting party has left
  kFenced = 27,             // a later holder has written
  kBadData = 28,            // a node's data is not in the recipe's format
  kTooMany = 29,            // the recipe's own limit is reached: items, parties, slots
  kStale = 30,              // the known value may be outdated
};

// How to react to an error.
enum class ErrorClass : std::uint8_t {
  kState,          // the tree does not allow it: decide again, do not retry
  kRecoverable,    // the session continues: retry, or find out whether it was applied
  kUnrecoverable,  // the session is gone, with everything it owned
  kCancelled,      // the caller stopped waiting
  kUsage,          // the call was wrong
};

// Could the operation have been applied?
enum class Applied : std::uint8_t {
  kNo,
  kMaybe,  // it was sent, and no reply will come
};

std::string_view name_of(Errc code);  // "NoNode"
ErrorClass class_of(Errc code);

struct Error {
  Errc code{};
  Applied applied = Applied::kNo;
  std::string path{};    // as the caller wrote it, where there is one
  std::string detail{};  // text for the user
  int op_index = -1;     // which element of a multi

  ErrorClass error_class() const { return class_of(code); }
  bool maybe_applied() const { return applied == Applied::kMaybe; }
  // It was not applied, and a retry may succeed.
  bool is_retryable() const { return error_class() == ErrorClass::kRecoverable && !maybe_applied(); }
  std::string to_text() const;  // "NoNode: /app/config"

  friend bool operator==(const Error& error, Errc expected) { return error.code == expected; }
};

template <class T>
using Result = std::expected<T, Error>;

// Creates an error: co_return fail(Errc::kLockLost, path);
inline std::unexpected<Error> fail(Errc code, std::string path = {}, std::string detail = {}) {
  return std::unexpected(Error{code, Applied::kNo, std::move(path), std::move(detail)});
}

class Exception : public std::exception {
 public:
  explicit Exception(Error error);
  const Error& error() const { return error_; }
  const char* what() const noexcept override { return what_.c_str(); }

 private:
  Error error_;
  std::string what_;
};
// One exception type per class.
struct StateError : Exception {
  using Exception::Exception;
};
struct RecoverableError : Exception {
  using Exception::Exception;
};
struct UnrecoverableError : Exception {
  using Exception::Exception;
};
struct Cancelled : Exception {
  using Exception::Exception;
};
struct UsageError : Exception {
  using Exception::Exception;
};
[[noreturn]] void throw_error(Error error);

// Returns the value, or throws the error.
template <class T>
T unwrap(Result<T> result) {
  if (!result) throw_error(std::move(result).error());
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

}  // namespace drover
