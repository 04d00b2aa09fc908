// SPDX-License-Identifier: Apache-2.0
#include "drover/error.h"

#include "base/error_code.h"

namespace drover {

std::string_view name_of(Errc code) {
  switch (code) {
    case Errc::kClosed: return "Client closed";
    case Errc::kDeadline: return "Deadline passed";
    case Errc::kStopped: return "Stopped";
    case Errc::kBadConfig: return "Bad configuration";
    case Errc::kWouldBlock: return "Would block";
    case Errc::kEndOfStream: return "End of stream";
    case Errc::kBadReply: return "Unreadable reply";
    case Errc::kLockLost: return "Lock lost";
    case Errc::kNotOwner: return "Not the owner";
    case Errc::kWouldDeadlock: return "Would deadlock";
    case Errc::kLayoutMismatch: return "Layout mismatch";
    case Errc::kSequenceExhausted: return "Sequence exhausted";
    case Errc::kIdConflict: return "Id conflict";
    case Errc::kBrokenBarrier: return "Broken barrier";
    case Errc::kFenced: return "Fenced";
    case Errc::kBadData: return "Bad data";
    case Errc::kTooMany: return "Too many";
    case Errc::kStale: return "Stale";
    default: return name_of(static_cast<ErrorCode>(code));
  }
}

ErrorClass class_of(Errc code) {
  switch (code) {
    case Errc::kConnectionLoss:
    case Errc::kOperationTimeout:
    case Errc::kRequestTimeout:
    case Errc::kSessionMoved:
    case Errc::kNotReadOnly:
    case Errc::kThrottledOp: return ErrorClass::kRecoverable;
    case Errc::kSessionExpired:
    case Errc::kUnknownSession:
    case Errc::kAuthFailed:
    case Errc::kSessionClosedRequireSaslAuth:
    case Errc::kClosed:
    case Errc::kLockLost: return ErrorClass::kUnrecoverable;
    case Errc::kDeadline:
    case Errc::kStopped: return ErrorClass::kCancelled;
    case Errc::kBadConfig:
    case Errc::kWouldBlock:
    case Errc::kWouldDeadlock: return ErrorClass::kUsage;
    default: return ErrorClass::kState;
  }
}

std::string Error::to_text() const {
  std::string text(name_of(code));
  if (maybe_applied()) text += " (may have been applied)";
  if (!path.empty()) text += ": " + path;
  if (!detail.empty()) text += ": " + detail;
  return text;
}

Exception::Exception(Error error) : error_(std::move(error)), what_(error_.to_text()) {}

void throw_error(Error error) {
  switch (error.error_class()) {
    case ErrorClass::kState: throw StateError(std::move(error));
    case ErrorClass::kRecoverable: throw RecoverableError(std::move(error));
    case ErrorClass::kUnrecoverable: throw UnrecoverableError(std::move(error));
    case ErrorClass::kCancelled: throw Cancelled(std::move(error));
    case ErrorClass::kUsage: break;
  }
  throw UsageError(std::move(error));
}

}  // namespace drover
