// SPDX-License-Identifier: Apache-2.0
#include "cli/connection/failure.h"

#include <string_view>

namespace drover::cli {
namespace {

// Java's names that differ from ours.
std::string_view java_name(Errc code) {
  switch (code) {
    case Errc::kDeadline:
    case Errc::kClosed: return "ConnectionLoss";
    case Errc::kApiError: return "APIError";
    case Errc::kInvalidAcl: return "InvalidACL";
    case Errc::kNotEmpty: return "Directory not empty";
    case Errc::kSessionExpired: return "Session expired";
    case Errc::kInvalidCallback: return "Invalid callback";
    case Errc::kSessionMoved: return "Session moved";
    case Errc::kNotReadOnly: return "Not a read-only call";
    case Errc::kEphemeralOnLocalSession: return "Ephemeral node on local session";
    case Errc::kNoWatcher: return "No such watcher";
    case Errc::kReconfigDisabled: return "Reconfig is disabled";
    case Errc::kSessionClosedRequireSaslAuth: return "Session closed because client failed to authenticate";
    case Errc::kQuotaExceeded: return "Quota has exceeded";
    case Errc::kThrottledOp: return "Op throttled due to high load";
    default: return name_of(code);
  }
}

}  // namespace

std::string keeper_message(const Error& error) {
  std::string message = "KeeperErrorCode = " + std::string(java_name(error.code));
  if (!error.path.empty()) message += " for " + error.path;
  return message;
}

std::string shell_message(const Error& error) {
  // A Java exception without a path prints "null".
  const std::string path = error.path.empty() ? "null" : error.path;
  switch (error.code) {
    case Errc::kNoNode: return "Node does not exist: " + path;
    case Errc::kNoChildrenForEphemerals: return "Ephemerals cannot have children: " + path;
    case Errc::kNodeExists: return "Node already exists: " + path;
    case Errc::kNotEmpty: return "Node not empty: " + path;
    case Errc::kNotReadOnly: return "Not a read-only call: " + path;
    case Errc::kInvalidAcl: return "Acl is not valid : " + path;
    case Errc::kNoAuth: return "Insufficient permission : " + path;
    case Errc::kBadArguments: return "Arguments are not valid : " + path;
    case Errc::kBadVersion: return "version No is not valid : " + path;
    case Errc::kReconfigInProgress:
      return "Another reconfiguration is in progress -- concurrent reconfigs not supported (yet)";
    case Errc::kNewConfigNoQuorum:
      // The third m is Java's; Debian's package corrects it.
      return "No quorum of new config is connected and up-to-date with the leader of last commmitted config "
             "- "
             "try invoking reconfiguration after new servers are connected and synced";
    case Errc::kQuotaExceeded: return "Quota has exceeded : " + path;
    default: return keeper_message(error);
  }
}

std::string hint_for(const Error& error) {
  switch (error.code) {
    case Errc::kNoNode: return "`ls` shows existing nodes; a parent must exist before its children";
    case Errc::kNoAuth: return "`getAcl` shows who may; authenticate with `addauth digest USER:PASSWORD`";
    case Errc::kNotEmpty: return "`deleteall` deletes a subtree";
    case Errc::kAuthFailed: return error.detail;
    case Errc::kSessionClosedRequireSaslAuth:
      return "the servers require a login: --sasl-user NAME, or --kerberos";
    case Errc::kBadVersion: return "the node was changed meanwhile: `stat` shows its version";
    case Errc::kNodeExists: return "`set` changes the data of an existing node";
    case Errc::kReconfigDisabled: return "the servers need reconfigEnabled=true in their configuration";
    case Errc::kNotReadOnly: return "this server has no quorum and is read-only for now";
    case Errc::kSessionExpired:
    case Errc::kClosed: return "`connect` opens a new session";
    case Errc::kDeadline:
    case Errc::kConnectionLoss:
      return error.maybe_applied() ? "it may have been applied nevertheless: check before you repeat it"
                                   : "is a server running there? Choose servers with -server HOST:PORT, the "
                                     "timeout with -timeout MS";
    default: return {};
  }
}

std::unexpected<Failure> fail_with(std::string message, int exit_code) {
  return std::unexpected(Failure{std::move(message), exit_code});
}

std::unexpected<Failure> fail_with(const Error& error) {
  return std::unexpected(Failure{shell_message(error), 1, error, hint_for(error)});
}

}  // namespace drover::cli
