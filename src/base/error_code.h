// SPDX-License-Identifier: Apache-2.0
//
// Why a request fails. The values are those on the wire (ZooKeeper's KeeperException.Code).
#pragma once

#include <cstdint>
#include <string_view>

namespace drover {

enum class ErrorCode : std::int32_t {
  kOk = 0,
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
  kSessionMoved = -118,
  kNotReadOnly = -119,
  kEphemeralOnLocalSession = -120,
  kNoWatcher = -121,
  kRequestTimeout = -122,
  kReconfigDisabled = -123,
  kSessionClosedRequireSaslAuth = -124,
  kQuotaExceeded = -125,
  kThrottledOp = -127,
};

// The code's name as ZooKeeper's clients print it ("NoNode"); "Unknown" for other values.
std::string_view name_of(ErrorCode code);

}  // namespace drover
