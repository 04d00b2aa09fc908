// SPDX-License-Identifier: Apache-2.0
#include "base/error_code.h"

namespace drover {

std::string_view name_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kOk: return "Ok";
    case ErrorCode::kSystemError: return "SystemError";
    case ErrorCode::kRuntimeInconsistency: return "RuntimeInconsistency";
    case ErrorCode::kDataInconsistency: return "DataInconsistency";
    case ErrorCode::kConnectionLoss: return "ConnectionLoss";
    case ErrorCode::kMarshallingError: return "MarshallingError";
    case ErrorCode::kUnimplemented: return "Unimplemented";
    case ErrorCode::kOperationTimeout: return "OperationTimeout";
    case ErrorCode::kBadArguments: return "BadArguments";
    case ErrorCode::kUnknownSession: return "UnknownSession";
    case ErrorCode::kNewConfigNoQuorum: return "NewConfigNoQuorum";
    case ErrorCode::kReconfigInProgress: return "ReconfigInProgress";
    case ErrorCode::kApiError: return "APIError";
    case ErrorCode::kNoNode: return "NoNode";
    case ErrorCode::kNoAuth: return "NoAuth";
    case ErrorCode::kBadVersion: return "BadVersion";
    case ErrorCode::kNoChildrenForEphemerals: return "NoChildrenForEphemerals";
    case ErrorCode::kNodeExists: return "NodeExists";
    case ErrorCode::kNotEmpty: return "Directory not empty";
    case ErrorCode::kSessionExpired: return "Session expired";
    case ErrorCode::kInvalidCallback: return "Invalid callback";
    case ErrorCode::kInvalidAcl: return "InvalidACL";
    case ErrorCode::kAuthFailed: return "AuthFailed";
    case ErrorCode::kSessionMoved: return "Session moved";
    case ErrorCode::kNotReadOnly: return "Not a read-only call";
    case ErrorCode::kEphemeralOnLocalSession: return "Ephemeral node on local session";
    case ErrorCode::kNoWatcher: return "No such watcher";
    case ErrorCode::kRequestTimeout: return "Request timeout";
    case ErrorCode::kReconfigDisabled: return "Reconfig is disabled";
    case ErrorCode::kSessionClosedRequireSaslAuth:
      return "Session closed because client failed to authenticate";
    case ErrorCode::kQuotaExceeded: return "Quota has exceeded";
    case ErrorCode::kThrottledOp: return "Op throttled due to high load";
  }
  return "Unknown";
}

}  // namespace drover
