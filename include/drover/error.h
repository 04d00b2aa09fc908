// SPDX-License-Identifier: Apache-2.0
//
// Why something could not be done, as a value: what went wrong, of which class that is, and whether the
// operation may have been carried out all the same.
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

// Negative values are the server's, as they are on the wire; positive ones are the client's and the recipes'.
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
  kWouldBlock = 4,   // sync_wait() on the thread that would have to do the work
  kEndOfStream = 5,  // Stream::next() after the last
  kBadReply = 6,     // the server's answer cannot be read

  kLockLost = 20,           // or another thing that was held: its node or its session is gone
  kNotOwner = 21,           // it is not the caller's to release, or no longer
  kWouldDeadlock = 22,      // the caller would wait for itself
  kLayoutMismatch = 23,     // other names than this recipe's in its directory
  kSequenceExhausted = 24,  // the sequence of a directory is about to wrap, and the layout cannot bear it
  kIdConflict = 25,         // somebody else goes by this id
  kBrokenBarrier = 26,      // one of those who waited at it has gone
  kFenced = 27,             // a later holder has been here
  kBadData = 28,            // a node's data is not what the recipe would have written
  kTooMany = 29,            // the recipe's own limit is reached: items, parties, slots
  kStale = 30,              // it is known, but perhaps no longer true
};

// What the answer to an error is.
enum class ErrorClass : std::uint8_t {
  kState,          // the tree did not allow it: decide anew, do not repeat
  kRecoverable,    // the session goes on: repeat what can be repeated, find out about the rest
  kUnrecoverable,  // the session is gone and all it owned with it
  kCancelled,      // the caller did not want to wait any longer
  kUsage,          // the call was wrong
};

// Was the operation carried out?
enum class Applied : std::uint8_t {
  kNo,
  kMaybe,  // it was sent, and no answer will come
};

std::string_view name_of(Errc code);  // "NoNode"
ErrorClass class_of(Errc code);

struct Error {
  Errc code{};
  Applied applied = Applied::kNo;
  std::string path{};    // as the caller wrote it, where there is one
  std::string detail{};  // for people
  int op_index = -1;     // which element of a multi

  ErrorClass error_class() const { return class_of(code); }
  bool maybe_applied() const { return applied == Applied::kMaybe; }
  // It was not done, and may succeed when it is simply tried again.
  bool is_retryable() const { return error_class() == ErrorClass::kRecoverable && !maybe_applied(); }
  std::string to_text() const;  // "NoNode: /app/config"

  friend bool operator==(const Error& error, Errc expected) { return error.code == expected; }
};

template <class T>
using Result = std::expected<T, Error>;

// For errors made in place: co_return fail(Errc::kLockLost, path);
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
// One for each class.
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

// The value, or the error thrown.
template <class T>
T unwrap(Result<T> result) {
  if (!result) throw_error(std::move(result).error());
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

}  // namespace drover
